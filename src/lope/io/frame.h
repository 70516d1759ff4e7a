// Lope's own frames: named arrays behind a JSON header, made to be read by a web page in a few lines. The
// bytes are described in docs/formats.md. All numbers are little-endian.
//
// A folder of frames holds topology.lope, written once, with what does not change, and frame_000012.lope and so on with what
// does (drawable_frame.h).
#pragma once

#include <lope/base/expected.h>
#include <lope/base/named_arrays.h>

#include <filesystem>
#include <span>
#include <vector>

namespace lope::io {

struct Frame {
  std::int64_t number = 0;
  double time = 0;  // seconds
  NamedArrays data;
};

// Atomic. Fails for arrays that do not match their shapes, text that is not UTF-8 or a time that is not
// finite.
Expected<void> write_frame(const Frame& frame, const std::filesystem::path& path);

// Checks everything that it uses: magic, header, names, types, shapes, bounds. Fails for whatever does not
// agree, and never allocates more than the size of the file.
Expected<Frame> read_frame(const std::filesystem::path& path);

std::filesystem::path topology_path(const std::filesystem::path& folder);
std::filesystem::path frame_path(const std::filesystem::path& folder, std::int64_t number);

// The numbers of the frames in a folder, ascending; none if there is no such folder.
std::vector<std::int64_t> frame_numbers(const std::filesystem::path& folder);

// What pictures show of a field with this many numbers in each place, one number per place: a scalar itself, the length of
// a vector, the von Mises stress of a symmetric tensor (six numbers: xx yy zz xy yz zx).
std::vector<double> shown_values(int components, std::span<const double> values);

}  // namespace lope::io
