// Where material points come from: a part is full at the start, or a jet fills it again and again.
//
// A jet's shape is filled whenever its velocity has carried the last filling out of it: every L/|v| seconds, L the extent of the
// shape's bounds along v. Fillings follow one another without a gap as long as nothing stops them; what is in the way is not
// looked at. Which fillings there have been follows from the number of the part's points alone, so that resumed runs go on alike.
#pragma once

#include <lope/geometry/level_set/level_set.h>
#include <lope/matter/mpm/mpm_objective.h>
#include <lope/matter/mpm/particles.h>

#include <limits>
#include <optional>
#include <string>

namespace lope::matter::mpm {

// A part that is fed while begin ≤ t < end, seconds.
struct Jet {
  double begin = 0;
  double end = std::numeric_limits<double>::infinity();
};

// What is full of one material: {φ < 0}.
struct Part {
  std::string name;
  geometry::LevelSetPtr shape;
  Material material;
  Vec3 velocity = Vec3::Zero();
  Vec3 angular_velocity = Vec3::Zero();   // rad/s about the middle of its bounds; not of jets
  double per_cell = 8;                    // points (sampling.h)
  std::optional<Jet> jet = std::nullopt;  // none: it is full at the start
  bool has_skin = false;                  // in space: it is shown by a surface around its points, too
};

// The time between two fillings of a jet, seconds.
double jet_period(const Part& part);

// Whether part `number` of a scene has any points (Filling), known without making them.
bool has_points(const Part& part, std::int32_t number, int dimension, double dx, std::uint64_t seed);

template <int Dim>
class Filling {
 public:
  // Part `number` of a scene; dx: side of a cell. The points depend on these and the seed alone.
  Filling(const Part& part, std::int32_t number, double dx, std::uint64_t seed);

  bool is_jet() const { return part_.jet.has_value(); }
  // The points of one filling.
  std::size_t size() const { return points_.size(); }
  // The volume of a point, m³ (2D: m²).
  double each() const { return each_; }
  const std::vector<Vec<Dim>>& points() const { return points_; }
  // Adds what a part without a jet has at the start.
  void start(Particles<Dim>& particles) const;
  // Adds the fillings that are due at `time`, as far as they have come since. `present`: the points of this part.
  void feed(double time, std::size_t present, Particles<Dim>& particles) const;
  // When the next filling is due; +infinity: never.
  double next(std::size_t present) const;

 private:
  void add(const Vec3& shift, Particles<Dim>& particles) const;

  const Part& part_;
  std::int32_t number_;
  double each_ = 0;  // volume of a point
  std::vector<Vec<Dim>> points_;
};

}  // namespace lope::matter::mpm
