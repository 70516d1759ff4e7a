// Base64, zlib and gzip, in memory.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace lope::io {

std::string base64(std::string_view bytes);

// Reads base64 from the front of `text`, ignoring white space, until `bytes` bytes are out; removes what it
// used. Nothing if the text ends or breaks the alphabet before that. A value padded with '=' ends there, as
// VTK writes headers and data one after the other, each padded on its own.
std::optional<std::string> take_base64(std::string_view& text, std::size_t bytes);

// zlib format; level 1 to 9.
std::string deflated(std::string_view bytes, int level = 6);

// Exactly `size` bytes, or nothing if the data is damaged or has another length. Refuses sizes that zlib
// cannot reach from so few bytes (its best ratio is 1032 to 1), before allocating.
std::optional<std::string> inflated(std::string_view bytes, std::size_t size);

// gzip format: what .gz files hold.
bool is_gzip(std::string_view bytes);
std::string gzipped(std::string_view bytes, int level = 6);
// All members of the file one after the other, or nothing if the data is damaged, ends early or has more than
// `largest` bytes.
std::optional<std::string> gunzipped(std::string_view bytes, std::size_t largest);

}  // namespace lope::io
