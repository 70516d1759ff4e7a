#include <lope/base/parallel.h>
#include <lope/matter/contact/barrier.h>
#include <lope/matter/contact/path_bound.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <limits>

namespace lope::matter {
namespace {

constexpr std::size_t grain = 256;
constexpr double infinity = std::numeric_limits<double>::infinity();

// Of every gap: what a step leaves, and what a point must have left to count as reached. Less, so that the end of the longest step
// counts whatever its rounding.
constexpr double kept_by_steps = 0.2;
constexpr double kept_by_points = 0.1;
// Steps longer than Newton's are looked at only if that costs no more than a short one.
constexpr double short_of_two = 2, just_above_one = 1.01;

// Gaps that keep shrinking below this part of their reach make barriers stiffer, up to a limit.
constexpr double shrinking_part = 1e-3;
constexpr double most_stiffening = 0x1p20;

// Of the mean edge: how much farther than their reach candidates may be apart, so that their list lasts for some iterations.
constexpr double part_of_edge = 0.25;

double largest_distance(std::span<const Vec3> a, std::span<const Vec3> b) {
  const double squared = parallel_max(a.size(), 4096, [&](std::size_t begin, std::size_t end) {
    double most = 0;
    for (std::size_t v = begin; v < end; ++v) most = std::max(most, (a[v] - b[v]).squaredNorm());
    return most;
  });
  return std::sqrt(std::max(squared, 0.0));
}

}  // namespace

void balance_pressures(ContactSurface& surface, std::span<const double> scale,
                       std::span<const double> bearing, double part) {
  const double half = std::abs(barrier(0.5, 1).first);
  std::vector<double> forces(surface.owners.size(), 0.0), areas(surface.owners.size(), 0.0);
  for (std::size_t k = 0; k < surface.points.size(); ++k) {
    const auto node = static_cast<std::size_t>(surface.points[k]), owner = static_cast<std::size_t>(surface.owner[node]);
    if (surface.owners[owner].led) continue;
    forces[owner] += scale[node];
    areas[owner] += surface.point_area[k];
  }
  for (std::size_t b = 0; b < surface.owners.size(); ++b) {
    if (!(areas[b] > 0)) continue;
    surface.owners[b].pressure = (bearing[b] > 0 ? bearing[b] : part * forces[b] / areas[b]) / half;
  }
}

BarrierMemory next(const BarrierMemory& memory, double least_part) {
  const bool shrinks = least_part < shrinking_part && least_part < memory.least_part;
  return {shrinks ? std::min(2 * memory.stiffening, most_stiffening) : memory.stiffening, least_part};
}

BarrierContact::BarrierContact(ContactSurface surface)
    : surface_(std::move(surface)), finder_(surface_), led_(surface_.nodes(), 1), least_reach_(infinity) {
  for (const SurfaceOwner& owner : surface_.owners) {
    pressure_.push_back(owner.pressure);
    margin_ = std::max(margin_, owner.reach);
    least_reach_ = std::min(least_reach_, owner.reach);
  }
  margin_ = std::max(margin_, part_of_edge * surface_.mean_edge);
  point_ = surface_.rest;
}

std::vector<Vec3> BarrierContact::with_obstacles(std::span<const double> x, std::span<const Vec3> obstacles) const {
  const auto d = static_cast<std::size_t>(surface_.dimension), nodes = static_cast<std::size_t>(surface_.body_nodes);
  assert(x.size() == nodes * d && nodes + obstacles.size() == surface_.nodes());
  std::vector<Vec3> all(surface_.nodes(), Vec3::Zero());
  for (std::size_t k = 0; k < x.size(); ++k) all[k / d][static_cast<Eigen::Index>(k % d)] = x[k];
  std::copy(obstacles.begin(), obstacles.end(), all.begin() + static_cast<std::ptrdiff_t>(nodes));
  return all;
}

void BarrierContact::begin_step(std::span<const double> x, std::span<const Vec3> obstacles,
                                std::span<const std::uint8_t> fixed, double stiffening) {
  std::copy(fixed.begin(), fixed.end(), led_.begin());
  for (std::size_t b = 0; b < pressure_.size(); ++b) surface_.owners[b].pressure = stiffening * pressure_[b];
  point_ = with_obstacles(x, obstacles);
  anchor_ = point_;
  finder_.build(point_, led_);
  path_start_.clear();
  center_.clear();
  known_ = reachable_ = true;
  detected_ = false;
  look();
  anchor_gap_ = least_gap_;
}

double BarrierContact::free_part(std::span<const double> x, std::span<const Vec3> obstacles) {
  std::vector<Vec3> way = with_obstacles(
      x, obstacles.empty() ? std::span<const Vec3>(anchor_).subspan(static_cast<std::size_t>(surface_.body_nodes)) : obstacles);
  for (std::size_t v = 0; v < way.size(); ++v) way[v] -= anchor_[v];
  return bound(anchor_, way, kept_by_steps, 1, 64);
}

void BarrierContact::advance(std::span<double> x, std::span<const Vec3> obstacles, double part) {
  const auto d = static_cast<std::size_t>(surface_.dimension), nodes = static_cast<std::size_t>(surface_.body_nodes);
  const std::vector<Vec3> goal = with_obstacles(x, obstacles.empty() ? std::span<const Vec3>(anchor_).subspan(nodes) : obstacles);
  for (std::size_t v = 0; v < goal.size(); ++v) point_[v] = part < 1 ? Vec3(anchor_[v] + part * (goal[v] - anchor_[v])) : goal[v];
  for (std::size_t k = 0; k < x.size(); ++k) x[k] = point_[k / d][static_cast<Eigen::Index>(k % d)];
  anchor_ = point_;
  known_ = reachable_ = true;
  detected_ = has_locals_ = false;
  look();
  anchor_gap_ = least_gap_;
}

void BarrierContact::move_to(std::span<const double> x) {
  const auto d = static_cast<std::size_t>(surface_.dimension);
  assert(x.size() == static_cast<std::size_t>(surface_.body_nodes) * d);
  for (std::size_t k = 0; k < x.size(); ++k) point_[k / d][static_cast<Eigen::Index>(k % d)] = x[k];
  known_ = detected_ = has_locals_ = false;
}

bool BarrierContact::begin_iteration() {
  if (!certified()) return false;
  look();
  anchor_ = point_;
  anchor_gap_ = least_gap_;
  return false;
}

// Whether the current point is on the way that largest_step() looked at last, but for rounding: by less than what is left of any gap
// there.
bool BarrierContact::on_known_path() const {
  if (path_start_.empty() || !(path_bound_ > 0)) return false;
  std::size_t longest = 0;
  for (std::size_t v = 1; v < path_direction_.size(); ++v) {
    if (path_direction_[v].squaredNorm() > path_direction_[longest].squaredNorm()) longest = v;
  }
  const Vec3& along = path_direction_[longest];
  if (!(along.squaredNorm() > 0)) return false;
  const double step = along.dot(point_[longest] - path_start_[longest]) / along.squaredNorm();
  if (!(step >= 0 && step <= path_bound_ * (1 + 1e-9))) return false;
  const double off = parallel_max(point_.size(), 4096, [&](std::size_t begin, std::size_t end) {
    double most = 0;
    for (std::size_t v = begin; v < end; ++v)
      most = std::max(most, (point_[v] - path_start_[v] - step * path_direction_[v]).squaredNorm());
    return most;
  });
  // Both primitives may be off.
  return 2 * std::sqrt(off) < (kept_by_steps - kept_by_points) * anchor_gap_;
}

bool BarrierContact::certified() {
  if (known_) return reachable_;
  known_ = true;
  if (2 * largest_distance(point_, anchor_) <= (1 - kept_by_points) * anchor_gap_) return reachable_ = true;
  if (!path_start_.empty() && std::equal(path_start_.begin(), path_start_.end(), anchor_.begin()) && on_known_path())
    return reachable_ = true;
  std::vector<Vec3> way(point_.size());
  for (std::size_t v = 0; v < way.size(); ++v) way[v] = point_[v] - anchor_[v];
  return reachable_ = bound(anchor_, way, kept_by_points, 1, 256) >= 1;
}

// Whether the candidates are all that may come near on x + [0, part] d (d may be empty). Leaves in radius_ how far every node is there, at most,
// from where they were found.
bool BarrierContact::covers(std::span<const Vec3> x, std::span<const Vec3> d, double part) {
  if (center_.empty()) return false;
  radius_.resize(x.size());
  const double largest = parallel_max(x.size(), 4096, [&](std::size_t begin, std::size_t end) {
    double most = 0;
    for (std::size_t v = begin; v < end; ++v) {
      const Vec3 from = x[v] - center_[v];
      double squared = from.squaredNorm();
      if (!d.empty()) squared = std::max(squared, (from + part * d[v]).squaredNorm());
      most = std::max(most, radius_[v] = std::sqrt(squared));
    }
    return most;
  });
  return largest <= 0.5 * margin_;
}

void BarrierContact::find_candidates() {
  candidates_ = finder_.near(point_, margin_);
  center_ = point_;
  detected_ = has_locals_ = false;
}

double BarrierContact::bound(std::span<const Vec3> x, std::span<const Vec3> d, double keep, double longest, int pieces) {
  if (covers(x, d, longest)) return path_bound(candidates_, radius_, x, d, keep, longest);
  return path_bound(finder_, surface_, x, d, {keep, longest, pieces});
}

double BarrierContact::largest_step(std::span<const double> d) {
  const auto dimension = static_cast<std::size_t>(surface_.dimension);
  std::vector<Vec3> way(surface_.nodes(), Vec3::Zero());
  geometry::Bounds range;
  for (std::size_t k = 0; k < d.size(); ++k) way[k / dimension][static_cast<Eigen::Index>(k % dimension)] = d[k];
  double squared = 0;
  for (const Vec3& v : way) {
    range.add(v);
    squared = std::max(squared, v.squaredNorm());
  }
  // Candidates that are found here may do, and then serve what comes next.
  const auto is_within_margin = [&](double part) { return 4 * part * part * squared <= margin_ * margin_; };
  double longest = short_of_two * range.extent().norm() <= surface_.mean_edge ? short_of_two : just_above_one;
  if (!is_within_margin(longest) && is_within_margin(just_above_one)) longest = just_above_one;
  if (is_within_margin(longest) && !covers(point_, way, longest)) find_candidates();
  path_bound_ = bound(point_, way, kept_by_steps, longest, 64);
  path_start_ = point_;
  path_direction_ = std::move(way);
  return path_bound_;
}

void BarrierContact::look() {
  if (!detected_) detect();
  detected_ = true;
}

void BarrierContact::detect() {
  if (!covers(point_, {}, 0)) {
    find_candidates();
    radius_.assign(point_.size(), 0);
  }
  struct Part {
    std::vector<BarrierPair> pairs;
    std::vector<int> candidate;
    std::vector<double> values;
    double least = infinity;
  };
  std::vector<Part> parts((candidates_.size() + grain - 1) / grain);
  parallel_chunks(candidates_.size(), grain, [&](std::size_t begin, std::size_t end) {
    Part& part = parts[begin / grain];
    for (std::size_t k = begin; k < end; ++k) {
      const CandidatePair& candidate = candidates_[k];
      if (least_distance(candidate, radius_) - candidate.barrier.offset >=
          std::max(candidate.barrier.reach, least_reach_))
        continue;
      const geometry::PairNodes x = nodes_of(candidate, point_);
      const geometry::ClosestPair at = geometry::closest_pair(candidate.kind, x);
      const double distance = std::sqrt(at.squared_distance), gap = distance - candidate.barrier.offset;
      part.least = std::min(part.least, gap);
      if (!(gap < candidate.barrier.reach)) continue;
      const double fade = candidate.barrier.parallel_limit > 0
                              ? geometry::mollifier_value(geometry::parallel_measure(x), candidate.barrier.parallel_limit)
                              : 1;
      const BarrierOfGap energy = barrier(gap, candidate.barrier.reach);
      part.pairs.push_back({candidate.node, at.c, at.r / distance, gap, candidate.barrier.reach,
                            -candidate.barrier.weight * fade * energy.first});
      part.candidate.push_back(static_cast<int>(k));
      part.values.push_back(candidate.barrier.weight * fade * energy.value);
    }
  });
  pairs_.clear();
  pair_candidate_.clear();
  values_.clear();
  least_gap_ = least_reach_;
  for (const Part& part : parts) {
    pairs_.insert(pairs_.end(), part.pairs.begin(), part.pairs.end());
    pair_candidate_.insert(pair_candidate_.end(), part.candidate.begin(), part.candidate.end());
    values_.insert(values_.end(), part.values.begin(), part.values.end());
    least_gap_ = std::min(least_gap_, part.least);
  }
}

const std::vector<BarrierPair>& BarrierContact::pairs() {
  look();
  return pairs_;
}

double BarrierContact::smallest_part() {
  double least = 1;
  for (const BarrierPair& pair : pairs()) least = std::min(least, pair.gap / pair.reach);
  return least;
}

double BarrierContact::smallest_gap() {
  double least = infinity;
  for (const BarrierPair& pair : pairs()) least = std::min(least, pair.gap);
  return least;
}

double BarrierContact::value() {
  if (!certified()) return infinity;
  look();
  double sum = 0;
  for (const double value : values_) sum += value;
  return sum;
}

// Rounding of the positions times the forces.
double BarrierContact::value_noise() {
  constexpr double unit = 0x1.0p-52;
  look();
  double noise = 0;
  for (std::size_t k = 0; k < pairs_.size(); ++k) {
    const double far = point_[static_cast<std::size_t>(pairs_[k].node[0])].cwiseAbs().maxCoeff();
    noise += 8 * unit * (pairs_[k].force * far + values_[k]);
  }
  return noise;
}

void BarrierContact::add_gradient(std::span<double> g) {
  look();
  const auto d = static_cast<std::size_t>(surface_.dimension);
  for (std::size_t p = 0; p < pairs_.size(); ++p) {
    const CandidatePair& candidate = candidates_[static_cast<std::size_t>(pair_candidate_[p])];
    const geometry::PairNodes x = nodes_of(candidate, point_);
    Vec<12> local;
    if (candidate.barrier.parallel_limit > 0 && geometry::parallel_measure(x) < candidate.barrier.parallel_limit) {
      local = barrier_gradient(geometry::closest_pair(candidate.kind, x), x, candidate.barrier);
    } else {
      for (int i = 0; i < 4; ++i)
        local.segment<3>(3 * i) = -pairs_[p].force * pairs_[p].weight[static_cast<std::size_t>(i)] * pairs_[p].normal;
    }
    for (std::size_t i = 0; i < 4; ++i) {
      if (candidate.node[i] >= surface_.body_nodes) continue;
      const std::size_t at = static_cast<std::size_t>(candidate.node[i]) * d;
      for (std::size_t c = 0; c < d; ++c) g[at + c] += local[static_cast<Eigen::Index>(3 * i + c)];
    }
  }
}

const std::vector<geometry::PairHessian>& BarrierContact::locals(optimize::HessianKind kind) {
  look();
  if (has_locals_ && locals_kind_ == kind) return locals_;
  locals_.resize(pairs_.size());
  parallel_for(pairs_.size(), 64, [&](std::size_t p) {
    const CandidatePair& candidate = candidates_[static_cast<std::size_t>(pair_candidate_[p])];
    const geometry::PairNodes x = nodes_of(candidate, point_);
    const geometry::ClosestPair at = geometry::closest_pair(candidate.kind, x);
    locals_[p] = kind == optimize::HessianKind::Projected ? projected_barrier_hessian(at, x, candidate.barrier)
                                                          : barrier_hessian(at, x, candidate.barrier);
  });
  has_locals_ = true;
  locals_kind_ = kind;
  return locals_;
}

void BarrierContact::add_hessian(optimize::HessianKind kind, linalg::BlockAssembler& hessian) {
  const std::vector<geometry::PairHessian>& local = locals(kind);
  blocks_.begin(hessian);
  for (std::size_t p = 0; p < local.size(); ++p) {
    const CandidatePair& pair = candidates_[static_cast<std::size_t>(pair_candidate_[p])];
    std::array<int, 4> nodes = pair.node;
    for (int& node : nodes) node = node < surface_.body_nodes ? node : -1;
    const std::size_t count = pair.kind == geometry::PairKind::PointEdge ? 3 : 4;
    const std::size_t second = pair.kind == geometry::PairKind::EdgeEdge ? 2 : 1;
    blocks_.add(std::span(nodes).first(count), second, [&](std::size_t i, std::size_t j) {
      return local[p].block<3, 3>(3 * static_cast<Eigen::Index>(i), 3 * static_cast<Eigen::Index>(j));
    });
  }
  blocks_.finish();
}

void BarrierContact::add_hessian_times(optimize::HessianKind kind, std::span<const double> direction, std::span<double> y) {
  const std::vector<geometry::PairHessian>& local = locals(kind);
  const auto d = static_cast<std::size_t>(surface_.dimension);
  for (std::size_t p = 0; p < local.size(); ++p) {
    const CandidatePair& pair = candidates_[static_cast<std::size_t>(pair_candidate_[p])];
    Vec<12> along = Vec<12>::Zero();
    const std::size_t nodes = pair.kind == geometry::PairKind::PointEdge ? 3 : 4;
    for (std::size_t i = 0; i < nodes; ++i) {
      if (pair.node[i] >= surface_.body_nodes) continue;
      for (std::size_t c = 0; c < d; ++c)
        along[static_cast<Eigen::Index>(3 * i + c)] = direction[static_cast<std::size_t>(pair.node[i]) * d + c];
    }
    for (std::size_t i = 0; i < nodes; ++i) {
      if (pair.node[i] >= surface_.body_nodes) continue;
      for (std::size_t c = 0; c < d; ++c) {
        double sum = 0;
        for (int k = 0; k < 12; ++k) sum += local[p](static_cast<Eigen::Index>(3 * i + c), k) * along[k];
        y[static_cast<std::size_t>(pair.node[i]) * d + c] += sum;
      }
    }
  }
}

}  // namespace lope::matter
