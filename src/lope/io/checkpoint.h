// Checkpoints: named arrays and text in an HDF5 file, bit for bit.
//
// The file is ordinary HDF5 (h5dump and h5py read it): one dataset per array, groups by the '/' of names, and
// a string "lope header" with the order of the arrays and the metadata as JSON. Before it stands a user block
// of 512 bytes with a magic number, the length and a CRC-32 of the rest. That is checked before the HDF5
// library sees a byte, because the library is not safe against damaged files. Writing is atomic; equal
// content gives equal bytes (no time stamps).
#pragma once

#include <lope/base/expected.h>
#include <lope/base/named_arrays.h>

#include <filesystem>

namespace lope::io {

// Names are paths of non-empty parts separated by '/'; no name may be the folder of another. Fails for other
// names and for text that is not UTF-8.
Expected<void> write_checkpoint(const NamedArrays& arrays, const std::filesystem::path& path);

// Arrays come back in the order in which they were written. A file that is truncated, damaged, of another
// program or of a later version gives an Error that says so.
Expected<NamedArrays> read_checkpoint(const std::filesystem::path& path);

}  // namespace lope::io
