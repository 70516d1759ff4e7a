#include <lope/base/parallel.h>
#include <lope/geometry/rigid_fit.h>
#include <lope/math/decompositions.h>
#include <lope/matter/displacement_budget.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace lope::matter {
namespace {

constexpr double part_of_motion = 0.01;   // η
constexpr double floor_of_length = 1e-8;  // of the body's size
constexpr std::size_t grain = 2048;

Vec3 node(std::span<const double> x, std::size_t i, int dimension) {
  const double* p = x.data() + i * static_cast<std::size_t>(dimension);
  return {p[0], p[1], dimension == 3 ? p[2] : 0.0};
}

// A vector field that is known at points, as far as its rigid part goes: Σm, Σm p, Σm w, Σm w pᵀ, Σm p pᵀ.
struct Moments {
  double mass = 0;
  Vec3 point = Vec3::Zero(), field = Vec3::Zero();
  Mat3 point_point = Mat3::Zero(), field_point = Mat3::Zero();

  void add(double m, const Vec3& p, const Vec3& w) {
    mass += m;
    point += m * p;
    field += m * w;
    point_point += m * p * p.transpose();
    field_point += m * w * p.transpose();
  }
  void add(const Moments& other) {
    mass += other.mass;
    point += other.point;
    field += other.field;
    point_point += other.point_point;
    field_point += other.field_point;
  }
  Vec3 mean_point() const { return point / mass; }
  Vec3 mean_field() const { return field / mass; }
  Mat3 centred_points() const { return point_point - point * point.transpose() / mass; }
  Mat3 centred_fields() const { return field_point - field * point.transpose() / mass; }
};

// w(p) = mean + ω × (p − centre).
struct RigidField {
  Vec3 centre = Vec3::Zero(), mean = Vec3::Zero(), spin = Vec3::Zero();
  Vec3 operator()(const Vec3& p) const { return mean + spin.cross(p - centre); }
};

// The rigid field nearest to the one that the moments describe.
RigidField nearest_rigid(const Moments& of) {
  const Mat3 points = of.centred_points(), fields = of.centred_fields();
  const Mat3 inertia = points.trace() * Mat3::Identity() - points;
  const Vec3 momentum(fields(2, 1) - fields(1, 2), fields(0, 2) - fields(2, 0), fields(1, 0) - fields(0, 1));
  return {of.mean_point(), of.mean_field(), math::solve_semidefinite(inertia, momentum)};
}

// What is taken out of the motions of one body.
struct RigidParts {
  RigidField drift;       // of h vₙ at xₙ
  RigidField remaining;   // of d at y; none if the body is held
  RigidField forced;      // of u at y; likewise
  Mat3 rotation;          // from xₙ to y
  Vec3 before, after;     // centres of mass
};

class Motion {
 public:
  Motion(const BodyMotion& body, std::span<const double> x, std::span<const double> d)
      : body_(body),
        x_(x),
        d_(d),
        origin_(node(body.start, 0, body.dimension)),
        held_(std::find(body.fixed.begin(), body.fixed.end(), 1) != body.fixed.end()) {}

  // Handles hold the body: it has no rigid motion of its own.
  bool held() const { return held_; }

  Vec3 start(std::size_t i) const { return node(body_.start, i, body_.dimension) - origin_; }
  Vec3 unforced(std::size_t i) const { return node(body_.unforced, i, body_.dimension) - origin_; }
  Vec3 remaining(std::size_t i) const { return node(d_, i, body_.dimension); }
  Vec3 end(std::size_t i) const { return node(x_, i, body_.dimension) - origin_ + remaining(i); }

  RigidParts rigid_parts() const {
    struct Sums {
      Moments drift, remaining, forced, motion;
    };
    std::vector<Sums> parts((body_.masses.size() + grain - 1) / grain);
    parallel_chunks(body_.masses.size(), grain, [&](std::size_t begin, std::size_t last) {
      Sums& sums = parts[begin / grain];
      for (std::size_t i = begin; i < last; ++i) {
        const double m = body_.masses[i];
        const Vec3 a = start(i), b = end(i), free = unforced(i);
        sums.drift.add(m, a, free - a);
        sums.motion.add(m, a, b);
        if (held_) continue;
        sums.remaining.add(m, b, remaining(i));
        sums.forced.add(m, b, b - free);
      }
    });
    Sums all;
    for (const Sums& sums : parts) {
      all.drift.add(sums.drift);
      all.remaining.add(sums.remaining);
      all.forced.add(sums.forced);
      all.motion.add(sums.motion);
    }
    return {nearest_rigid(all.drift),
            held_ ? RigidField() : nearest_rigid(all.remaining),
            held_ ? RigidField() : nearest_rigid(all.forced),
            geometry::nearest_rotation(body_.dimension, all.motion.centred_fields()),
            all.motion.mean_point(),
            all.motion.mean_field()};
  }

  // The largest norms over all nodes.
  struct Largest {
    double error = 0, rigid_error = 0, shape_error = 0;  // of d and its parts
    double rigid = 0, shape = 0;                         // of the parts of u
    void include(const Largest& other) {
      error = std::max(error, other.error);
      rigid_error = std::max(rigid_error, other.rigid_error);
      shape_error = std::max(shape_error, other.shape_error);
      rigid = std::max(rigid, other.rigid);
      shape = std::max(shape, other.shape);
    }
    Largest roots() const {
      return {std::sqrt(error), std::sqrt(rigid_error), std::sqrt(shape_error), std::sqrt(rigid), std::sqrt(shape)};
    }
  };
  Largest largest() const {
    const RigidParts parts = rigid_parts();
    std::vector<Largest> chunks((body_.masses.size() + grain - 1) / grain);
    parallel_chunks(body_.masses.size(), grain, [&](std::size_t begin, std::size_t last) {
      for (std::size_t i = begin; i < last; ++i) chunks[begin / grain].include(at(i, parts));
    });
    Largest all;
    for (const Largest& chunk : chunks) all.include(chunk);
    return all.roots();
  }

 private:
  // Their squares.
  Largest at(std::size_t i, const RigidParts& parts) const {
    const Vec3 a = start(i), b = end(i), d = remaining(i);
    const Vec3 rigid_d = parts.remaining(b);
    const Vec3 flow = unforced(i) - a - parts.drift(a);  // the part of h vₙ that changes the shape
    const Vec3 strain = b - parts.after - parts.rotation * (a - parts.before + flow);
    return {d.squaredNorm(), rigid_d.squaredNorm(), (d - rigid_d).squaredNorm(), parts.forced(b).squaredNorm(),
            strain.squaredNorm()};
  }

  const BodyMotion& body_;
  std::span<const double> x_, d_;
  Vec3 origin_;  // near the body, so that moments do not cancel
  bool held_;
};

}  // namespace

optimize::ErrorBudget displacement_budget(const BodyMotion& body, std::span<const double> x,
                                          std::span<const double> d, double accuracy) {
  const Motion whole(body, x, d);
  const Motion::Largest largest = whole.largest();
  const auto allowed = [&](double motion) {
    return std::min(accuracy, std::max(part_of_motion * motion, floor_of_length * body.length));
  };
  if (!(largest.error > 0)) return {0, accuracy};
  const double room = whole.held() ? allowed(largest.shape) / largest.error
                                    : std::min({accuracy / largest.error, allowed(largest.rigid) / largest.rigid_error,
                                                allowed(largest.shape) / largest.shape_error});
  return {largest.error, std::min(accuracy, room * largest.error)};
}

}  // namespace lope::matter
