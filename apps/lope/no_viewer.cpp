// In place of view_command.cpp where cpp-httplib is not there.
#include "commands.h"

namespace lope::program {

void add_view(Arguments& app, int& status) {
  Arguments* command = app.add_subcommand("view", "Watch a run in a browser (not in this build)");
  command->allow_extras();
  command->callback([&status] {
    status =
        complain({"this program was built without the viewer: it needs cpp-httplib (libcpp-httplib-dev) and "
                  "-DLOPE_VIEWER=ON",
                  Trouble::Environment});
  });
}

}  // namespace lope::program
