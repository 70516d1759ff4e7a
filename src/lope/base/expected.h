// How a function of Lope fails: it returns Expected<T>, a value or an Error that a user can act upon (errors.h makes them).
#pragma once

#include <string>

#include <tl/expected.hpp>

namespace lope {

// What kind of trouble: decides the exit code of the program (1 for input, 3 for environment).
enum class Trouble {
  Input,        // the user's scene, mesh or arguments
  Environment,  // disk full, no memory, a missing helper program
};

// One sentence (or a few) that names the culprit (file, line, key, element) and says what to do.
struct Error {
  std::string message;
  Trouble trouble = Trouble::Input;
};

template <class T>
using Expected = tl::expected<T, Error>;

// Hands an error upwards: `if (!result) return forward_error(result);`
template <class T>
tl::unexpected<Error> forward_error(const Expected<T>& failed) {
  return tl::unexpected<Error>(failed.error());
}

}  // namespace lope
