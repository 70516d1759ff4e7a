// Universal Scene Description, as text (STEM.usda): one stage with a prim per body, whose values are sampled in time. Blender, Houdini,
// Omniverse, usdview open it.
//
// Surfaces are Mesh, particles Points; `velocities` (for motion blur) is the field "velocity" on their points, other scalars and
// vectors on points are primvars, texture coordinates `st`. Time codes are the numbers of the frames. What stays the same is written once; the mesh of a
// liquid's surface has samples of its own. What is not there in all frames is invisible in the others. Texts are kept in memory
// until the end: for long runs of large meshes other formats are better.
#pragma once

#include <lope/io/series.h>

#include <vector>

namespace lope::io {

struct StageOptions {
  bool z_up = false;  // which axis of the positions points up
  double units_per_metre = 1;
};

class UsdStage final : public SeriesWriter {
 public:
  UsdStage(std::filesystem::path folder, std::string stem, const StageOptions& options)
      : folder_(std::move(folder)), stem_(std::move(stem)), options_(options) {}
  Expected<void> add_frame(std::int64_t number, double time, std::span<const SeriesBody> bodies) override;
  // Writes the file.
  Expected<void> finish() override;

 private:
  struct Sample {
    std::int64_t code = 0;
    std::string text;
  };
  struct Attribute {
    std::string declaration;  // "point3f[] points"
    std::string metadata;     // may be empty
    bool held = false;        // not interpolated: a value that stays is one sample
    std::vector<Sample> samples;
  };
  struct Prim {
    std::string body;  // whose it is
    std::string name;  // an identifier
    bool mesh = false;
    Vec3 color;
    double point_radius = 0;
    std::vector<Attribute> attributes;
    bool present = false;  // in the last frame

    void sample(std::int64_t number, const std::string& declaration, const char* metadata, bool held,
                std::string text);
  };
  // Of a body and what it is now; a new one was not there before.
  Prim& prim(const SeriesBody& body, bool mesh);
  std::string text() const;

  std::filesystem::path folder_;
  std::string stem_;
  StageOptions options_;
  std::vector<std::int64_t> numbers_;
  std::vector<double> times_;
  std::vector<Prim> prims_;
};

}  // namespace lope::io
