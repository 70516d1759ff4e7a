// Point caches: where the vertices of a mesh that stays the same are in every frame, beside the mesh itself as OBJ. Blender, Houdini,
// Maya and others put one upon the other.
//
//   PC2 (the format of the PointCache 2 modifier): "POINTCACHE2\0", then int32 version 1, int32 points, float first frame, float
//       frames per sample, int32 samples, then x y z as floats for every sample and point; little-endian
//   MDD (LightWave): int32 samples, int32 points, a float per sample: its time in seconds, then x y z as in PC2; big-endian
#pragma once

#include <lope/io/series.h>

#include <vector>

namespace lope::io {

enum class CacheFormat { Pc2, Mdd };

// STEM_NAME.obj and STEM_NAME.pc2 (.mdd) for every body, which has the same vertices and triangles in every frame (failure). Files
// are written by finish(): until then positions are kept in memory.
class PointCaches final : public SeriesWriter {
 public:
  PointCaches(CacheFormat format, std::filesystem::path folder, std::string stem)
      : format_(format), folder_(std::move(folder)), stem_(std::move(stem)) {}
  Expected<void> add_frame(std::int64_t number, double time, std::span<const SeriesBody> bodies) override;
  Expected<void> finish() override;

 private:
  struct Cache {
    std::string name, base;  // the bytes of the OBJ
    Surface surface;
    std::vector<float> positions;  // of all frames
  };
  std::string bytes(const Cache& cache) const;

  CacheFormat format_;
  std::filesystem::path folder_;
  std::string stem_;
  std::vector<std::int64_t> numbers_;
  std::vector<double> times_;
  std::vector<Cache> caches_;
};

}  // namespace lope::io
