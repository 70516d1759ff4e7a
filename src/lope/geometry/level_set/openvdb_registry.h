// OpenVDB's registry of grid types.
#pragma once

namespace lope::geometry {

// Before anything else of OpenVDB is used; any number of times, from any thread.
void initialize_openvdb();

}  // namespace lope::geometry
