#include <lope/geometry/level_set/openvdb_registry.h>

#include <openvdb/openvdb.h>

namespace lope::geometry {

void initialize_openvdb() {
  [[maybe_unused]] static const bool done = (openvdb::initialize(), true);
}

}  // namespace lope::geometry
