// Whether a sanitizer watches. Programs then run ten to fifty times longer, and tests that take a large case or many
// cases take a smaller one or fewer: the code they run through is the same.
#pragma once

namespace lope {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool sanitized = true;
#else
inline constexpr bool sanitized = false;
#endif

}  // namespace lope
