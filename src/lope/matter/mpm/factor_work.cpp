#include <lope/matter/mpm/factor_work.h>

#include <algorithm>
#include <array>

namespace lope::matter::mpm {
namespace {

constexpr int layers = 2;             // of a separator
constexpr std::ptrdiff_t leaf = 100;  // nodes that are not cut any more

// Eliminating w rows of a dense front that has m more.
double front_work(double w, double m) { return w * w * w / 3 + w * w * m + w * m * m; }

template <int Dim>
class Dissection {
 public:
  using Index = typename Grid<Dim>::Index;
  using Nodes = std::span<Index>;
  // Which sides of a part's box lie at separators: lower and upper, for each axis.
  using Cut = std::array<std::array<bool, 2>, static_cast<std::size_t>(Dim)>;

  static double work(Nodes nodes, const Cut& cut) {
    if (nodes.empty()) return 0;
    const auto [low, high] = box(nodes);
    const double border = Dim * bordering(nodes, cut, low, high);
    std::size_t axis = 0;
    for (std::size_t a = 1; a < Dim; ++a) {
      if (high[a] - low[a] > high[axis] - low[axis]) axis = a;
    }
    if (std::ssize(nodes) <= leaf || high[axis] - low[axis] <= layers)
      return front_work(Dim * static_cast<double>(nodes.size()), border);
    const auto along = [axis](const Index& a, const Index& b) { return a[axis] < b[axis]; };
    const auto middle = nodes.begin() + std::ssize(nodes) / 2;
    std::nth_element(nodes.begin(), middle, nodes.end(), along);
    const int at = std::clamp((*middle)[axis], low[axis] + 1, high[axis] - layers);
    const auto below =
        std::partition(nodes.begin(), nodes.end(), [&](const Index& node) { return node[axis] < at; });
    const auto above =
        std::partition(below, nodes.end(), [&](const Index& node) { return node[axis] < at + layers; });
    Cut lower = cut, upper = cut;
    lower[axis][1] = upper[axis][0] = true;
    return front_work(Dim * static_cast<double>(above - below), border) +
           work(Nodes(nodes.begin(), below), lower) + work(Nodes(above, nodes.end()), upper);
  }

 private:
  static std::pair<Index, Index> box(Nodes nodes) {
    Index low = nodes[0], high = nodes[0];
    for (const Index& node : nodes) {
      for (std::size_t a = 0; a < Dim; ++a) {
        low[a] = std::min(low[a], node[a]);
        high[a] = std::max(high[a], node[a]);
      }
    }
    return {low, high};
  }
  // As many nodes lie beyond a side as next to it.
  static double bordering(Nodes nodes, const Cut& cut, const Index& low, const Index& high) {
    double count = 0;
    for (const Index& node : nodes) {
      for (std::size_t a = 0; a < Dim; ++a)
        count += (cut[a][0] && node[a] < low[a] + layers) + (cut[a][1] && node[a] > high[a] - layers);
    }
    return count;
  }
};

}  // namespace

template <int Dim>
double factor_work(std::span<const typename Grid<Dim>::Index> nodes) {
  std::vector<typename Grid<Dim>::Index> own(nodes.begin(), nodes.end());
  return Dissection<Dim>::work(own, {});
}

template double factor_work<2>(std::span<const Grid<2>::Index>);
template double factor_work<3>(std::span<const Grid<3>::Index>);

}  // namespace lope::matter::mpm
