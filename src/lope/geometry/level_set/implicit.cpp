#include <lope/base/errors.h>
#include <lope/geometry/level_set/implicit.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

namespace lope::geometry {
namespace {

class ImplicitSet final : public LevelSet {
 public:
  explicit ImplicitSet(ImplicitShape shape) : shape_(std::move(shape)) {}

  double value(const Vec3& x) const override { return shape_.value(x); }
  LevelSetSample sample(const Vec3& x) const override {
    const double step = 1e-5 * shape_.box.extent().maxCoeff();
    LevelSetSample result;
    result.value = value(x);
    for (int a = 0; a < 3; ++a) {
      const Vec3 shift = step * Vec3::Unit(a);
      result.gradient[a] = (value(x + shift) - value(x - shift)) / (2 * step);
    }
    return result;
  }
  bool is_exact() const override { return false; }
  Bounds bounds() const override { return shape_.box; }
  Mesh surface(const SurfaceOptions&) const override { return {}; }

 private:
  ImplicitShape shape_;
};

class PolygonSet final : public LevelSet {
 public:
  explicit PolygonSet(Polygon polygon) : polygon_(std::move(polygon)) {}

  double value(const Vec3& x) const override { return sample(x).value; }
  LevelSetSample sample(const Vec3& x) const override {
    const Vec2 at = x.head<2>();
    double nearest = std::numeric_limits<double>::infinity();
    Vec2 way = Vec2::Zero();
    bool inside = false;
    for (const std::vector<Vec2>& loop : polygon_.loops) {
      for (std::size_t i = 0; i < loop.size(); ++i) {
        const Vec2 &a = loop[i], &b = loop[(i + 1) % loop.size()];
        const Vec2 edge = b - a;
        const double length = edge.squaredNorm();
        const double along = length > 0 ? std::clamp((at - a).dot(edge) / length, 0.0, 1.0) : 0;
        const Vec2 from = at - (a + along * edge);
        if (from.squaredNorm() < nearest) {
          nearest = from.squaredNorm();
          way = from;
        }
        const bool crosses = (a.y() > at.y()) != (b.y() > at.y());
        if (crosses && at.x() < a.x() + (at.y() - a.y()) / edge.y() * edge.x()) inside = !inside;
      }
    }
    LevelSetSample result;
    const double distance = std::sqrt(nearest), sign = inside ? -1 : 1;
    result.value = sign * distance;
    if (distance > 0) result.gradient.head<2>() = sign * way / distance;
    return result;
  }
  Bounds bounds() const override {
    Bounds box;
    for (const auto& loop : polygon_.loops) {
      for (const Vec2& point : loop) box.add(Vec3(point.x(), point.y(), 0));
    }
    box.min.z() = -std::numeric_limits<double>::infinity();
    box.max.z() = std::numeric_limits<double>::infinity();
    return box;
  }
  Mesh surface(const SurfaceOptions&) const override { return {}; }

 private:
  Polygon polygon_;
};

class ScaledSet final : public LevelSet {
 public:
  ScaledSet(LevelSetPtr set, double factor) : set_(std::move(set)), factor_(factor) {}

  double value(const Vec3& x) const override { return factor_ * set_->value(x / factor_); }
  LevelSetSample sample(const Vec3& x) const override {
    LevelSetSample result = set_->sample(x / factor_);
    result.value *= factor_;
    result.hessian /= factor_;
    return result;
  }
  bool is_exact() const override { return set_->is_exact(); }
  Bounds bounds() const override {
    const Bounds inner = set_->bounds();
    return {factor_ * inner.min, factor_ * inner.max};
  }
  Mesh surface(const SurfaceOptions& options) const override {
    SurfaceOptions inner = options;
    inner.region = {options.region.min / factor_, options.region.max / factor_};
    Mesh mesh = set_->surface(inner);
    for (Vec3& vertex : mesh.vertices) vertex *= factor_;
    return mesh;
  }

 private:
  LevelSetPtr set_;
  double factor_;
};

}  // namespace

LevelSetPtr level_set(const ImplicitShape& shape) { return std::make_shared<ImplicitSet>(shape); }

Expected<LevelSetPtr> level_set(const Polygon& polygon) {
  for (const std::vector<Vec2>& loop : polygon.loops) {
    if (loop.size() < 3)
      return input_error("a polygon needs at least three points, this one has {}", loop.size());
    for (const Vec2& point : loop) {
      if (!point.allFinite()) return input_error("a point of the polygon is not finite");
    }
  }
  return std::make_shared<PolygonSet>(polygon);
}

LevelSetPtr scaled(LevelSetPtr set, double factor) {
  assert(factor > 0);
  return std::make_shared<ScaledSet>(std::move(set), factor);
}

}  // namespace lope::geometry
