#include <lope/base/parallel.h>
#include <lope/geometry/free_path.h>
#include <lope/matter/contact/path_bound.h>

#include <algorithm>
#include <cmath>

namespace lope::matter {
namespace {

constexpr std::size_t grain = 256;

// Of all pairs but those that stay away, on their way from `start`; each keeps a part of its gap at x.
template <class StaysAway>
double smallest_free_path(std::span<const CandidatePair> pairs, std::span<const Vec3> x,
                          std::span<const Vec3> start, std::span<const Vec3> way, double kept, double longest,
                          const StaysAway& stays_away) {
  const double most = parallel_max(pairs.size(), grain, [&](std::size_t begin, std::size_t end) {
    double smallest = longest;
    for (std::size_t p = begin; p < end; ++p) {
      const CandidatePair& pair = pairs[p];
      if (stays_away(pair)) continue;
      const geometry::PairNodes at = nodes_of(pair, start), to = nodes_of(pair, way);
      const double distance = std::sqrt(geometry::squared_distance(pair.kind, at)), gap = distance - pair.barrier.offset;
      double first = gap;
      if (start.data() != x.data())
        first = std::sqrt(geometry::squared_distance(pair.kind, nodes_of(pair, x))) - pair.barrier.offset;
      const double keep = kept * std::min(first, pair.barrier.reach) / gap;
      if (!(keep > 0 && keep < 1)) return 0.0;
      smallest = std::min(smallest, geometry::free_path(pair.kind, at, to, distance, pair.barrier.offset, keep, smallest));
    }
    return -smallest;
  });
  return std::min(-most, longest);
}

}  // namespace

double path_bound(PairFinder& finder, const ContactSurface& surface, std::span<const Vec3> x, std::span<const Vec3> d,
                  const PathBoundOptions& options) {
  // What all nodes share changes no distance: the middle of the directions.
  geometry::Bounds range;
  for (const Vec3& v : d) range.add(v);
  const Vec3 shared = range.center();
  const double length = 0.5 * range.extent().norm();
  if (!(length > 0)) return options.longest;
  const double piece = std::min(options.longest, surface.mean_edge / length);

  double largest_reach = 0;
  for (const SurfaceOwner& owner : surface.owners) largest_reach = std::max(largest_reach, owner.reach);
  std::vector<Vec3> start(x.size()), way(x.size());
  double done = 0;
  for (int k = 0; k < options.most_pieces && done < options.longest; ++k) {
    const double part = std::min(piece, options.longest - done);
    parallel_for(x.size(), 4096, [&](std::size_t v) {
      start[v] = x[v] + done * (d[v] - shared);
      way[v] = part * (d[v] - shared);
    });
    const std::vector<CandidatePair> pairs = finder.swept(start, way, options.keep * largest_reach);
    const double least =
        smallest_free_path(pairs, x, start, way, options.keep, 1, [](const CandidatePair&) { return false; });
    if (least < 1) return done + least * part;
    done += part;
  }
  return std::min(done, options.longest);
}

double path_bound(std::span<const CandidatePair> pairs, std::span<const double> radius,
                  std::span<const Vec3> x, std::span<const Vec3> d, double keep, double longest) {
  const auto stays_away = [&](const CandidatePair& pair) {
    return least_distance(pair, radius) - pair.barrier.offset >= keep * pair.barrier.reach;
  };
  return smallest_free_path(pairs, x, x, d, keep, longest, stays_away);
}

}  // namespace lope::matter
