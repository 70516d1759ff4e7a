#include <lope/linalg/space.h>

#include <algorithm>
#include <cassert>
#include <cmath>

namespace lope::linalg {
namespace {
constexpr std::size_t vector_grain = 8192;

// Four partial sums let the compiler overlap the additions; their order is fixed.
double chunk_dot(const double* a, const double* b, std::size_t count) {
  double sum[4] = {};
  std::size_t i = 0;
  for (; i + 4 <= count; i += 4) {
    for (std::size_t k = 0; k < 4; ++k) sum[k] += a[i + k] * b[i + k];
  }
  for (; i < count; ++i) sum[0] += a[i] * b[i];
  return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

class LocalSpace final : public Space {
 public:
  double sum(std::size_t size, std::size_t grain, const ChunkSum& partial) const override {
    return parallel_sum(size, grain, partial);
  }
  double max(std::size_t size, std::size_t grain, const ChunkSum& partial) const override {
    return parallel_max(size, grain, partial);
  }
};
}  // namespace

const Space& local_space() {
  static const LocalSpace space;
  return space;
}

double Space::dot(ConstVector a, ConstVector b) const {
  assert(a.size() == b.size());
  return sum(a.size(), vector_grain, [&](std::size_t begin, std::size_t end) {
    return chunk_dot(a.data() + begin, b.data() + begin, end - begin);
  });
}

double Space::norm(ConstVector a) const { return std::sqrt(dot(a, a)); }

double Space::max_block_norm(ConstVector a, int block_size) const {
  const auto b = static_cast<std::size_t>(block_size);
  const double largest = max(a.size() / b, vector_grain, [&](std::size_t begin, std::size_t end) {
    double result = 0;
    for (std::size_t i = begin; i < end; ++i) {
      const double square = chunk_dot(a.data() + i * b, a.data() + i * b, b);
      if (!(square <= result)) result = square;
      if (std::isnan(result)) break;  // a NaN must not be lost behind later values
    }
    return result;
  });
  return std::sqrt(std::max(largest, 0.0));  // 0 of nothing; a NaN stays one
}

bool Space::all_finite(ConstVector x) const {
  const double faults = max(x.size(), vector_grain, [&](std::size_t begin, std::size_t end) {
    const ConstVector part = x.subspan(begin, end - begin);
    return std::all_of(part.begin(), part.end(), [](double v) { return std::isfinite(v); }) ? 0.0 : 1.0;
  });
  return !(faults > 0);
}

void combine(double a, ConstVector x, double b, Vector y) {
  parallel_chunks(y.size(), vector_grain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) y[i] = a * x[i] + b * y[i];
  });
}

void add_scaled(ConstVector x, double a, ConstVector y, Vector z) {
  parallel_chunks(z.size(), vector_grain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) z[i] = x[i] + a * y[i];
  });
}

void copy(ConstVector from, Vector to) { std::copy(from.begin(), from.end(), to.begin()); }

void fill(Vector x, double value) { std::fill(x.begin(), x.end(), value); }

}  // namespace lope::linalg
