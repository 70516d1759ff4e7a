// Errors (expected.h) from format strings: `return input_error("{}:{}: bad vertex", file, line);`
#pragma once

#include <lope/base/expected.h>

#include <string>
#include <utility>

#include <fmt/core.h>

namespace lope {

template <class... Args>
tl::unexpected<Error> input_error(fmt::format_string<Args...> format, Args&&... args) {
  return tl::unexpected<Error>(Error{fmt::format(format, std::forward<Args>(args)...), Trouble::Input});
}

template <class... Args>
tl::unexpected<Error> environment_error(fmt::format_string<Args...> format, Args&&... args) {
  return tl::unexpected<Error>(Error{fmt::format(format, std::forward<Args>(args)...), Trouble::Environment});
}

}  // namespace lope
