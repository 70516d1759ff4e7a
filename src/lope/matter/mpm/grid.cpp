#include <lope/base/parallel.h>
#include <lope/geometry/brick_halo.h>
#include <lope/matter/mpm/grid.h>
#include <lope/matter/mpm/splines.h>

#include <algorithm>
#include <cassert>
#include <cmath>

namespace lope::matter::mpm {
namespace {

constexpr std::size_t particle_grain = 4096, node_grain = 2048;
constexpr int largest_block = (1 << 17) - 4;  // coordinate of one

static_assert(block_side == 4);
constexpr int block_shift = 2;  // cell >> block_shift: its block, whatever the sign

template <int Dim>
geometry::GridIndex<Dim> block_of(geometry::GridIndex<Dim> cell) {
  for (int& c : cell) c >>= block_shift;
  return cell;
}

}  // namespace

template <int Dim>
typename Grid<Dim>::Index Grid<Dim>::cell_of(const Vec<Dim>& x) const {
  Index cell;
  for (int a = 0; a < Dim; ++a) cell[static_cast<std::size_t>(a)] = static_cast<int>(std::floor(x[a] / dx_ - 0.5));
  return cell;
}

template <int Dim>
bool Grid<Dim>::holds(const Particles<Dim>& particles) const {
  const double most = static_cast<double>(largest_block) * block_side * dx_;
  const double farthest = parallel_max(particles.size(), particle_grain, [&](std::size_t begin, std::size_t end) {
    double far = 0;
    for (std::size_t i = begin; i < end; ++i) {
      for (int a = 0; a < Dim; ++a) {
        if (!(std::abs(particles.x[i][a]) <= far)) far = std::abs(particles.x[i][a]);
        if (std::isnan(far)) return far;
      }
    }
    return far;
  });
  return particles.size() == 0 || farthest < most;
}

template <int Dim>
void Grid<Dim>::build(Particles<Dim>& particles, std::span<const int> kind_of_part) {
  sort(particles, kind_of_part);
  number_nodes(particles);
  make_tables();
  if (!pattern_ || node_ != previous_) make_pattern();
  previous_ = node_;
}

// Blocks, and within them kinds and cells, in lexicographic order.
template <int Dim>
void Grid<Dim>::sort(Particles<Dim>& particles, std::span<const int> kind_of_part) {
  const auto held = marked_boxes<Dim>(particles.size(), [&](std::size_t i, const auto& mark) {
    mark(block_of<Dim>(cell_of(particles.x[i])), 1);
  });
  std::vector<Index> blocks;
  for (const auto& entry : held) blocks.push_back(entry.first);
  constexpr int cells = power<Dim>(block_side);
  const int kinds = kind_of_part.empty() ? 1 : 1 + *std::max_element(kind_of_part.begin(), kind_of_part.end());
  binning_.template find_places<Dim>(
      particles.size(), [&](std::size_t i) { return cell_of(particles.x[i]); }, block_of<Dim>,
      [&](const Index& block) {
        return static_cast<int>(std::lower_bound(blocks.begin(), blocks.end(), block) - blocks.begin());
      },
      [&](std::size_t i, const Index& cell, int block) {
        int local = 0;
        for (const int c : cell) local = local * block_side + (c & (block_side - 1));
        return (block * kinds + kind_of_part[static_cast<std::size_t>(particles.part[i])]) * cells + local;
      });
  const auto per_block = static_cast<std::size_t>(kinds * cells);
  if (binning_.sort(blocks.size() * per_block)) reorder<Particles<Dim>>(particles, binning_.order, spare_);
  blocks_.clear();
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    Index corner = blocks[b];
    for (int& c : corner) c *= block_side;
    blocks_.push_back({corner, binning_.first[b * per_block], binning_.first[(b + 1) * per_block]});
  }
  colours_ = geometry::parity_groups<Dim>(static_cast<int>(blocks.size()), [&](int b) {
    Index reversed = blocks[static_cast<std::size_t>(b)];  // the last axis is the fastest here
    std::reverse(reversed.begin(), reversed.end());
    return reversed;
  });
}

template <int Dim>
typename Grid<Dim>::Place Grid<Dim>::place(const Block& block, const Vec<Dim>& x) const {
  Place result;
  const Index cell = cell_of(x);
  for (int a = 0; a < Dim; ++a) {
    const auto k = static_cast<std::size_t>(a);
    result.local = result.local * block_reach + cell[k] - block.corner[k];
    result.at[a] = x[a] / dx_ - cell[k];
  }
  return result;
}

// Masses first, over all nodes that blocks reach; those that have any are numbered line by line.
template <int Dim>
void Grid<Dim>::number_nodes(const Particles<Dim>& particles) {
  std::vector<double> mass(blocks_.size() * reach);
  parallel_for(blocks_.size(), 1, [&](std::size_t b) {
    double* local = mass.data() + b * reach;
    for (std::size_t p = blocks_[b].begin; p < blocks_[b].end; ++p) {
      const Place at = place(blocks_[b], particles.x[p]);
      const Spline<Dim> spline(at.at);
      spline.each([&](int node, double w) { local[at.local + node] += particles.mass[p] * w; });
    }
  });
  // (line, place along it, block, place in the block): sorted, the shares of a node follow one another.
  struct Touch {
    Index node;
    std::int64_t place;
  };
  std::vector<Touch> touches;
  for (std::size_t b = 0; b < blocks_.size(); ++b) {
    for (int k = 0; k < reach; ++k) {
      if (!(mass[b * reach + static_cast<std::size_t>(k)] > 0)) continue;
      Index node = blocks_[b].corner;
      int rest = k;
      for (int a = Dim - 1; a >= 0; --a, rest /= block_reach) node[static_cast<std::size_t>(a)] += rest % block_reach;
      touches.push_back({node, static_cast<std::int64_t>(b) * reach + k});
    }
  }
  std::sort(touches.begin(), touches.end(), [](const Touch& a, const Touch& b) {
    return a.node != b.node ? a.node < b.node : a.place < b.place;
  });
  node_.clear();
  mass_.clear();
  line_start_.clear();
  share_start_.clear();
  share_.resize(touches.size());
  for (std::size_t i = 0; i < touches.size(); ++i) {
    if (node_.empty() || node_.back() != touches[i].node) {
      const bool same_line =
          !node_.empty() && std::equal(node_.back().begin(), node_.back().end() - 1, touches[i].node.begin());
      if (!same_line) line_start_.push_back(node_.size());
      node_.push_back(touches[i].node);
      mass_.push_back(0);
      share_start_.push_back(static_cast<std::int64_t>(i));
    }
    mass_.back() += mass[static_cast<std::size_t>(touches[i].place)];
    share_[i] = touches[i].place;
  }
  line_start_.push_back(node_.size());
  share_start_.push_back(static_cast<std::int64_t>(touches.size()));
}

template <int Dim>
void Grid<Dim>::make_tables() {
  numbers_.assign(blocks_.size() * reach, -1);
  parallel_for(nodes(), node_grain, [&](std::size_t i) {
    for (std::int64_t k = share_start_[i]; k < share_start_[i + 1]; ++k)
      numbers_[static_cast<std::size_t>(share_[static_cast<std::size_t>(k)])] = static_cast<int>(i);
  });
}

template <int Dim>
int Grid<Dim>::find(const Index& node) const {
  const auto at = std::lower_bound(node_.begin(), node_.end(), node);
  return at != node_.end() && *at == node ? static_cast<int>(at - node_.begin()) : -1;
}

template <int Dim>
Vec<Dim> Grid<Dim>::position(std::size_t node) const {
  Vec<Dim> x;
  for (int a = 0; a < Dim; ++a) x[a] = dx_ * node_[node][static_cast<std::size_t>(a)];
  return x;
}

template <int Dim>
void Grid<Dim>::gather(std::size_t block, int components, std::span<const double> nodes, double* local) const {
  const int* number = numbers(block);
  for (int k = 0; k < reach; ++k) {
    double* to = local + static_cast<std::ptrdiff_t>(k) * components;
    if (number[k] < 0) {
      std::fill(to, to + components, 0.0);
    } else {
      const double* from = nodes.data() + static_cast<std::ptrdiff_t>(number[k]) * components;
      std::copy(from, from + components, to);
    }
  }
}

template <int Dim>
void Grid<Dim>::reduce(int components, std::span<double> nodes) const {
  const auto c = static_cast<std::size_t>(components);
  assert(nodes.size() == this->nodes() * c);
  parallel_for(this->nodes(), node_grain, [&](std::size_t i) {
    double* to = nodes.data() + i * c;
    std::fill(to, to + c, 0.0);
    for (std::int64_t k = share_start_[i]; k < share_start_[i + 1]; ++k) {
      const double* from = local_.data() + static_cast<std::size_t>(share_[static_cast<std::size_t>(k)]) * c;
      for (std::size_t m = 0; m < c; ++m) to[m] += from[m];
    }
  });
}

// For every line and every line near it, the range of the latter's nodes within two steps of each node.
template <int Dim>
void Grid<Dim>::make_pattern() {
  const std::size_t count = nodes();
  std::vector<int> first(count * lines, 0), last(count * lines, 0);
  const std::size_t line_count = line_start_.size() - 1;
  const auto line_of = [&](const Index& node) {  // the line that holds it, or line_count
    const auto at = std::lower_bound(line_start_.begin(), line_start_.end() - 1, node, [&](std::size_t start, const Index& n) {
      return std::lexicographical_compare(node_[start].begin(), node_[start].end() - 1, n.begin(), n.end() - 1);
    });
    const auto line = static_cast<std::size_t>(at - line_start_.begin());
    const bool found = line < line_count && std::equal(node.begin(), node.end() - 1, node_[line_start_[line]].begin());
    return found ? line : line_count;
  };
  parallel_for(line_count, 64, [&](std::size_t own) {
    for (int k = 0; k < lines; ++k) {
      Index other = node_[line_start_[own]];
      if constexpr (Dim == 3) {
        other[0] += k / window - 2;
        other[1] += k % window - 2;
      } else {
        other[0] += k - 2;
      }
      const std::size_t line = line_of(other);
      if (line == line_count) continue;
      std::size_t low = line_start_[line], high = low;
      const std::size_t end = line_start_[line + 1];
      for (std::size_t i = line_start_[own]; i < line_start_[own + 1]; ++i) {
        const int z = node_[i][Dim - 1];
        while (low < end && node_[low][Dim - 1] < z - 2) ++low;
        while (high < end && node_[high][Dim - 1] <= z + 2) ++high;
        first[i * lines + static_cast<std::size_t>(k)] = static_cast<int>(low);
        last[i * lines + static_cast<std::size_t>(k)] = static_cast<int>(high);
      }
    }
  });
  shift_.resize(count * lines);
  std::int64_t slot = 0;
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t k = i * lines; k < (i + 1) * lines; ++k) {
      shift_[k] = slot - first[k];
      slot += std::max(last[k] - first[k], 0);
    }
  }
  std::vector<std::vector<int>> rows(count);
  parallel_for(count, 256, [&](std::size_t i) {
    rows[i].reserve(power<Dim>(window));
    for (std::size_t k = i * lines; k < (i + 1) * lines; ++k) {
      for (int c = first[k]; c < last[k]; ++c) rows[i].push_back(c);
    }
  });
  pattern_ = linalg::BlockPattern::from_rows(rows);
}

template class Grid<2>;
template class Grid<3>;

}  // namespace lope::matter::mpm
