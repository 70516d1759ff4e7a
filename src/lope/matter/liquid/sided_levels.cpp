#include <lope/matter/liquid/galerkin_stencils.h>
#include <lope/matter/liquid/sided_levels.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>

namespace lope::matter {
namespace {

using geometry::GridIndex;

constexpr double side_weight = multigrid::neighbour_weight;

constexpr std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }
constexpr unsigned direction(int axis, int side) {
  return 2 * static_cast<unsigned>(axis) + (side > 0 ? 1u : 0u);
}

// An open way from an unknown to one in the next cell.
struct Way {
  int to = 0;
  unsigned direction = 0;
  double width = 0;
};

// The unknowns of a level and the ways between them, as compressed rows.
template <int Dim>
struct Graph {
  std::vector<GridIndex<Dim>> cell;
  std::vector<std::int64_t> start;
  std::vector<Way> ways;
  std::vector<std::uint8_t> air;  // bits: directions in which air is next

  int size() const { return static_cast<int>(cell.size()); }
  std::span<const Way> from(int i) const {
    return {&ways[at(start[at(i)])], at(start[at(i) + 1] - start[at(i)])};
  }
};

template <int Dim>
Graph<Dim> finest(const PressureSystem<Dim>& system) {
  Graph<Dim> graph;
  const auto cells = system.unknown_cells();
  graph.air.assign(cells.size(), 0);
  for (std::size_t i = 0; i < cells.size(); ++i) {
    graph.cell.push_back(system.bricks().cell(cells[i]));
    graph.start.push_back(static_cast<std::int64_t>(graph.ways.size()));
    for (int a = 0; a < Dim; ++a) {
      for (const int side : {-1, 1}) {
        const auto other = system.bricks().next(cells[i], a, side);
        if (other < 0) continue;
        const double w = double{system.coupling(a)[at(side < 0 ? cells[i] : other)]};
        if (w > 0) {
          graph.ways.push_back({system.numbering()[at(other)], direction(a, side), w});
        } else if (system.kind()[at(other)] == CellKind::Air) {
          graph.air[i] |= static_cast<std::uint8_t>(1u << direction(a, side));
        }
      }
    }
  }
  graph.start.push_back(static_cast<std::int64_t>(graph.ways.size()));
  graph.ways.push_back({});  // so that the last row has an address
  return graph;
}

template <int Dim>
GridIndex<Dim> parent_of(GridIndex<Dim> cell) {
  for (int& coordinate : cell) coordinate >>= 1;
  return cell;
}

// The unknown of the next level that each belongs to: connected within the parent cell. Returns their number.
template <int Dim>
int gather(const Graph<Dim>& fine, std::vector<int>& above) {
  above.assign(at(fine.size()), -1);
  int count = 0;
  std::vector<int> reached;
  for (int i = 0; i < fine.size(); ++i) {
    if (above[at(i)] >= 0) continue;
    const auto parent = parent_of<Dim>(fine.cell[at(i)]);
    above[at(i)] = count;
    reached.assign(1, i);
    while (!reached.empty()) {
      const int from = reached.back();
      reached.pop_back();
      for (const Way& way : fine.from(from)) {
        if (above[at(way.to)] >= 0 || parent_of<Dim>(fine.cell[at(way.to)]) != parent) continue;
        above[at(way.to)] = count;
        reached.push_back(way.to);
      }
    }
    ++count;
  }
  return count;
}

// The side of its parent on which a cell lies.
template <int Dim>
int side_of(const GridIndex<Dim>& cell, int axis) {
  return cell[at(axis)] & 1 ? 1 : -1;
}

template <int Dim>
Graph<Dim> coarser(const Graph<Dim>& fine, const std::vector<int>& above, int count) {
  Graph<Dim> coarse;
  coarse.cell.resize(at(count));
  coarse.air.assign(at(count), 0);
  std::vector<std::pair<int, Way>> ways;
  for (int i = 0; i < fine.size(); ++i) {
    const int u = above[at(i)];
    coarse.cell[at(u)] = parent_of<Dim>(fine.cell[at(i)]);
    for (int a = 0; a < Dim; ++a) {
      const auto bit = static_cast<std::uint8_t>(1u << direction(a, side_of<Dim>(fine.cell[at(i)], a)));
      coarse.air[at(u)] |= static_cast<std::uint8_t>(fine.air[at(i)] & bit);
    }
    for (const Way& way : fine.from(i)) {
      if (parent_of<Dim>(fine.cell[at(way.to)]) != parent_of<Dim>(fine.cell[at(i)]))
        ways.push_back({u, {above[at(way.to)], way.direction, way.width}});
    }
  }
  const auto key = [](const std::pair<int, Way>& w) {
    return std::tuple(w.first, w.second.direction, w.second.to);
  };
  std::stable_sort(ways.begin(), ways.end(), [&](const auto& a, const auto& b) { return key(a) < key(b); });
  std::size_t k = 0;
  for (int u = 0; u < count; ++u) {
    coarse.start.push_back(static_cast<std::int64_t>(coarse.ways.size()));
    for (; k < ways.size() && ways[k].first == u; ++k) {
      if (k > 0 && key(ways[k]) == key(ways[k - 1])) {
        coarse.ways.back().width += ways[k].second.width;
      } else {
        coarse.ways.push_back(ways[k].second);
      }
    }
  }
  coarse.start.push_back(static_cast<std::int64_t>(coarse.ways.size()));
  coarse.ways.push_back({});
  return coarse;
}

template <int Dim>
linalg::CsrMatrix prolongation(const Graph<Dim>& fine, const std::vector<int>& above, int count) {
  linalg::CsrMatrix p;
  p.rows = fine.size();
  p.columns = count;
  std::vector<std::pair<int, double>> row;
  for (int i = 0; i < fine.size(); ++i) {
    double total = 1 - Dim * side_weight;
    row.assign(1, {above[at(i)], total});
    for (int a = 0; a < Dim; ++a) {
      const unsigned wanted = direction(a, side_of<Dim>(fine.cell[at(i)], a));
      double width = 0;
      for (const Way& way : fine.from(i)) width += way.direction == wanted ? way.width : 0;
      for (const Way& way : fine.from(i))
        if (way.direction == wanted) row.emplace_back(above[at(way.to)], side_weight * way.width / width);
      if (width > 0 || (fine.air[at(i)] >> wanted & 1u)) total += side_weight;
    }
    std::sort(row.begin(), row.end());
    for (std::size_t k = 0; k < row.size(); ++k) {
      if (k > 0 && row[k].first == row[k - 1].first) {
        p.value.back() += row[k].second / total;
      } else {
        p.column.push_back(row[k].first);
        p.value.push_back(row[k].second / total);
      }
    }
    p.row_start.push_back(p.entries());
  }
  return p;
}

template <int Dim>
int cells_of(const Graph<Dim>& graph) {
  std::vector<GridIndex<Dim>> cells = graph.cell;
  std::sort(cells.begin(), cells.end());
  return static_cast<int>(std::unique(cells.begin(), cells.end()) - cells.begin());
}

}  // namespace

template <int Dim>
SidedLevels sided_levels(const PressureSystem<Dim>& system, int coarsest_unknowns) {
  SidedLevels levels;
  Graph<Dim> graph = finest<Dim>(system);
  std::vector<int> above;
  while (graph.size() > coarsest_unknowns) {
    const int count = gather<Dim>(graph, above);
    if (count == graph.size()) break;
    levels.prolongations.push_back(prolongation<Dim>(graph, above, count));
    graph = coarser<Dim>(graph, above, count);
    levels.doubled += count - cells_of<Dim>(graph);
  }
  return levels;
}

template SidedLevels sided_levels(const PressureSystem<2>&, int);
template SidedLevels sided_levels(const PressureSystem<3>&, int);

}  // namespace lope::matter
