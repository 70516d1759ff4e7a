#include <lope/base/terminal.h>

#include <unistd.h>

#include <cstdlib>
#include <cstring>

namespace lope {

bool is_terminal(std::FILE* stream) {
  const char* kind = std::getenv("TERM");
  return isatty(fileno(stream)) != 0 && kind != nullptr && std::strcmp(kind, "dumb") != 0;
}

}  // namespace lope
