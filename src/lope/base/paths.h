// Where the running program is.
#pragma once

#include <filesystem>

namespace lope {

// Absolute path of the running program; the working directory's "lope" where the system does not tell.
std::filesystem::path executable_path();

}  // namespace lope
