// In place of render_command.cpp where the renderer is left out.
#include <lope/base/errors.h>

#include "commands.h"

namespace lope::program {

Expected<void> check_pictures() {
  return environment_error("this program was built without pictures and plots (-DLOPE_RENDER=OFF)");
}

Expected<void> make_pictures(const PictureRequest&) { return check_pictures(); }

void add_render(Arguments& app, int& status) {
  Arguments* command = app.add_subcommand("render", "Pictures of a run (not in this build)");
  command->allow_extras();
  command->callback([&status] { status = complain(check_pictures().error()); });
}

}  // namespace lope::program
