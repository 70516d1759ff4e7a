// In place of comparison_figures.cpp where the renderer is left out.
#include <papers/comparison.h>

namespace lope::bench {

Expected<std::vector<std::filesystem::path>> write_figures(const Comparison&, const std::filesystem::path&) {
  return std::vector<std::filesystem::path>{};
}

}  // namespace lope::bench
