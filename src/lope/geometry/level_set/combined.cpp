#include <lope/geometry/level_set/combined.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <utility>

namespace lope::geometry {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

class UnionSet final : public LevelSet {
 public:
  explicit UnionSet(std::vector<LevelSetPtr> parts) : parts_(std::move(parts)) {}

  double value(const Vec3& x) const override { return nearest(x).second; }
  LevelSetSample sample(const Vec3& x) const override { return nearest(x).first->sample(x); }
  bool is_exact() const override {
    return std::all_of(parts_.begin(), parts_.end(), [](const LevelSetPtr& p) { return p->is_exact(); });
  }
  Bounds bounds() const override {
    Bounds all{Vec3::Constant(infinity), Vec3::Constant(-infinity)};
    for (const LevelSetPtr& part : parts_) {
      const Bounds box = part->bounds();
      all.add(box.min);
      all.add(box.max);
    }
    return all;
  }
  void free_features(const Vec3& x, double reach, std::vector<LevelSetSample>& out) const override {
    for (const LevelSetPtr& part : parts_) part->free_features(x, reach, out);
  }
  void obstacle_features(const Vec3& x, double reach, std::vector<LevelSetSample>& out) const override {
    nearest(x).first->obstacle_features(x, reach, out);
  }
  Mesh surface(const SurfaceOptions& options) const override {
    Mesh all;
    for (const LevelSetPtr& part : parts_) {
      const Mesh mesh = part->surface(options);
      const int base = static_cast<int>(all.vertices.size());
      all.vertices.insert(all.vertices.end(), mesh.vertices.begin(), mesh.vertices.end());
      for (const Triangle& t : mesh.triangles)
        all.triangles.push_back({base + t[0], base + t[1], base + t[2]});
    }
    return all;
  }

 private:
  std::pair<const LevelSet*, double> nearest(const Vec3& x) const {
    std::pair<const LevelSet*, double> least{parts_[0].get(), parts_[0]->value(x)};
    for (std::size_t i = 1; i < parts_.size(); ++i) {
      const double value = parts_[i]->value(x);
      if (value < least.second) least = {parts_[i].get(), value};
    }
    return least;
  }

  std::vector<LevelSetPtr> parts_;
};

class ComplementSet final : public LevelSet {
 public:
  explicit ComplementSet(LevelSetPtr inner) : inner_(std::move(inner)) {}

  double value(const Vec3& x) const override { return -inner_->value(x); }
  LevelSetSample sample(const Vec3& x) const override { return inner_->sample(x).negated(); }
  bool is_exact() const override { return inner_->is_exact(); }
  Bounds bounds() const override { return {Vec3::Constant(-infinity), Vec3::Constant(infinity)}; }
  void free_features(const Vec3& x, double reach, std::vector<LevelSetSample>& out) const override {
    inner_->obstacle_features(x, reach, out);
  }
  void obstacle_features(const Vec3& x, double reach, std::vector<LevelSetSample>& out) const override {
    inner_->free_features(x, reach, out);
  }
  Mesh surface(const SurfaceOptions& options) const override {
    Mesh mesh = inner_->surface(options);
    for (Triangle& t : mesh.triangles) std::swap(t[1], t[2]);
    return mesh;
  }

 private:
  LevelSetPtr inner_;
};

class MovedSet final : public LevelSet {
 public:
  MovedSet(LevelSetPtr at_rest, const RigidPose& pose) : at_rest_(std::move(at_rest)), pose_(pose) {}

  double value(const Vec3& x) const override { return at_rest_->value(pose_.unplace(x)); }
  LevelSetSample sample(const Vec3& x) const override { return turned(at_rest_->sample(pose_.unplace(x))); }
  bool is_exact() const override { return at_rest_->is_exact(); }
  Bounds bounds() const override { return turned(at_rest_->bounds(), pose_.rotation, pose_.translation); }
  void free_features(const Vec3& x, double reach, std::vector<LevelSetSample>& out) const override {
    const std::size_t first = out.size();
    at_rest_->free_features(pose_.unplace(x), reach, out);
    for (std::size_t i = first; i < out.size(); ++i) out[i] = turned(out[i]);
  }
  void obstacle_features(const Vec3& x, double reach, std::vector<LevelSetSample>& out) const override {
    const std::size_t first = out.size();
    at_rest_->obstacle_features(pose_.unplace(x), reach, out);
    for (std::size_t i = first; i < out.size(); ++i) out[i] = turned(out[i]);
  }
  Mesh surface(const SurfaceOptions& options) const override {
    SurfaceOptions local = options;
    const Mat3 back = pose_.rotation.transpose();
    local.region = turned(options.region, back, -(back * pose_.translation));
    Mesh mesh = at_rest_->surface(local);
    for (Vec3& x : mesh.vertices) x = pose_.place(x);
    return mesh;
  }

 private:
  LevelSetSample turned(const LevelSetSample& s) const {
    const Mat3& r = pose_.rotation;
    return {s.value, r * s.gradient, r * s.hessian * r.transpose()};
  }
  // A box around the turned and shifted box.
  static Bounds turned(const Bounds& box, const Mat3& rotation, const Vec3& shift) {
    if (rotation == Mat3::Identity()) return {box.min + shift, box.max + shift};
    if (!box.min.allFinite() || !box.max.allFinite()) {
      return {Vec3::Constant(-infinity), Vec3::Constant(infinity)};
    }
    const Vec3 center = rotation * box.center() + shift;
    const Vec3 half = 0.5 * rotation.cwiseAbs() * box.extent();
    return {center - half, center + half};
  }

  LevelSetPtr at_rest_;
  RigidPose pose_;
};

}  // namespace

LevelSetPtr union_of(std::vector<LevelSetPtr> parts) {
  assert(!parts.empty());
  if (parts.size() == 1) return std::move(parts[0]);
  return std::make_shared<UnionSet>(std::move(parts));
}

LevelSetPtr complement_of(LevelSetPtr inner) { return std::make_shared<ComplementSet>(std::move(inner)); }

LevelSetPtr moved(LevelSetPtr at_rest, const RigidPose& pose) {
  if (pose.rotation == Mat3::Identity() && pose.translation == Vec3::Zero()) return at_rest;
  return std::make_shared<MovedSet>(std::move(at_rest), pose);
}

}  // namespace lope::geometry
