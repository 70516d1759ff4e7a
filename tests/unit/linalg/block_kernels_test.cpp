#include <lope/linalg/block_kernels.h>
#include <lope/linalg/incomplete_cholesky.h>
#include <lope/linalg/rounded_matrix.h>

#include <cmath>
#include <vector>

#include <gtest/gtest.h>
#include <support/vectors.h>
#include <unit/linalg/random_matrix.h>

namespace lope::linalg {
namespace {

constexpr auto stride = static_cast<std::size_t>(BlockKernels::stride);

// The blocks of a matrix left of its diagonal, halved, in single precision; and one symmetric block per row.
struct Lower {
  std::vector<std::int64_t> start = {0};
  std::vector<int> column;
  std::vector<float> values, diagonal;

  explicit Lower(const BlockMatrix& a) {
    const auto b = static_cast<std::size_t>(a.block_size());
    for (int row = 0; row < a.pattern().rows(); ++row) {
      const std::int64_t own = a.pattern().diagonal(row);
      for (std::int64_t slot = a.pattern().row_start()[static_cast<std::size_t>(row)]; slot < own; ++slot) {
        column.push_back(a.pattern().column()[static_cast<std::size_t>(slot)]);
        for (std::size_t e = 0; e < b * b; ++e) values.push_back(0.1f * static_cast<float>(a.block(slot)[e]));
      }
      start.push_back(static_cast<std::int64_t>(column.size()));
      for (std::size_t e = 0; e < b * b; ++e) diagonal.push_back(static_cast<float>(a.block(own)[e]));
    }
    values.resize(values.size() + BlockKernels::padding);
    diagonal.resize(diagonal.size() + BlockKernels::padding);
  }
  BlockRows<float> rows() const { return {start.data(), column.data(), values.data()}; }
};

class BlockLoops : public testing::TestWithParam<int> {
 protected:
  const int b = GetParam();
  const BlockMatrix a = random_matrix(5, b, 0.1);
  const std::size_t rows = static_cast<std::size_t>(a.pattern().rows());
  const Lower lower{a};

  std::vector<float> padded(const std::vector<double>& x) const {
    std::vector<float> result(stride * rows, 0);
    for (std::size_t k = 0; k < x.size(); ++k) {
      const auto width = static_cast<std::size_t>(b);
      result[k / width * stride + k % width] = static_cast<float>(x[k]);
    }
    return result;
  }
  std::vector<float> rounded_values() const {
    std::vector<float> values(a.values().begin(), a.values().end());
    values.resize(values.size() + BlockKernels::padding);
    return values;
  }
  double entry(std::int64_t slot, int i, int j) const { return a.block(slot)[i * b + j]; }
  // Entry (i, c) of what is at block row `row` of a padded vector.
  static double at(const std::vector<float>& x, int row, int c) {
    return x[stride * static_cast<std::size_t>(row) + static_cast<std::size_t>(c)];
  }
};
INSTANTIATE_TEST_SUITE_P(BlockSizes, BlockLoops, testing::Values(1, 2, 3));

TEST_P(BlockLoops, ProductsAreThoseOfPlainSums) {
  const auto x = random_vector(a.size(), 1);
  const auto x_rounded = padded(x), values = rounded_values();
  const BlockPattern& pattern = a.pattern();
  for (const Isa isa : supported_isas()) {
    const BlockKernels& kernels = block_kernels(isa, b);
    // What is beyond the range keeps its value.
    std::vector<double> y(a.size(), 77), y_rounded(a.size(), 77);
    kernels.multiply({pattern.row_start().data(), pattern.column().data(), a.values().data()}, x.data(),
                     y.data(), 1, rows - 1);
    kernels.multiply_rounded({pattern.row_start().data(), pattern.column().data(), values.data()},
                             x_rounded.data(), y_rounded.data(), 1, rows - 1);
    for (std::size_t row = 0; row < rows; ++row) {
      for (int i = 0; i < b; ++i) {
        double expected = 0;
        for (std::int64_t slot = pattern.row_start()[row]; slot < pattern.row_start()[row + 1]; ++slot) {
          const auto column = static_cast<std::size_t>(pattern.column()[static_cast<std::size_t>(slot)]);
          for (int j = 0; j < b; ++j)
            expected +=
                entry(slot, i, j) * x[column * static_cast<std::size_t>(b) + static_cast<std::size_t>(j)];
        }
        const std::size_t k = row * static_cast<std::size_t>(b) + static_cast<std::size_t>(i);
        const bool inside = row > 0 && row + 1 < rows;
        EXPECT_NEAR(y[k], inside ? expected : 77, 1e-13) << name(isa);
        EXPECT_NEAR(y_rounded[k], inside ? expected : 77, 1e-5) << name(isa);
      }
    }
  }
}

TEST_P(BlockLoops, TriangularSolvesUndoTriangularProducts) {
  const auto r = padded(random_vector(a.size(), 2));
  for (const Isa isa : supported_isas()) {
    const BlockKernels& kernels = block_kernels(isa, b);
    std::vector<float> y = r, z;
    kernels.forward(lower.rows(), y.data(), 0, rows);
    z = y;
    kernels.backward(lower.rows(), lower.diagonal.data(), z.data(), 0, rows);
    std::vector<double> back(a.size()), transposed(a.size());  // (I + L) y and (I + L)ᵀ z
    const auto value = [&](std::int64_t k, int i, int j) -> double {
      return lower.values[static_cast<std::size_t>(k * b * b + i * b + j)];
    };
    const auto place = [&](int row, int i) { return static_cast<std::size_t>(row * b + i); };
    for (int row = 0; row < static_cast<int>(rows); ++row) {
      for (int i = 0; i < b; ++i) {
        back[place(row, i)] += at(y, row, i);
        transposed[place(row, i)] += at(z, row, i);
        for (std::int64_t k = lower.start[static_cast<std::size_t>(row)];
             k < lower.start[static_cast<std::size_t>(row) + 1]; ++k) {
          const int column = lower.column[static_cast<std::size_t>(k)];
          for (int j = 0; j < b; ++j) {
            back[place(row, i)] += value(k, i, j) * at(y, column, j);
            transposed[place(column, j)] += value(k, i, j) * at(z, row, i);
          }
        }
      }
    }
    for (int row = 0; row < static_cast<int>(rows); ++row) {
      for (int i = 0; i < b; ++i) {
        double scaled = 0;
        for (int j = 0; j < b; ++j)
          scaled += lower.diagonal[static_cast<std::size_t>((row * b + i) * b + j)] * at(y, row, j);
        EXPECT_NEAR(back[place(row, i)], at(r, row, i), 1e-5) << name(isa);
        EXPECT_NEAR(transposed[place(row, i)], scaled, 1e-5 * (1 + std::abs(scaled))) << name(isa);
      }
    }
  }
}

// All sets with fused instructions, and the order of the sums that the header promises, written down once more.
TEST_P(BlockLoops, FusedInstructionSetsGiveTheSameBits) {
  if (!is_fused(supported_isas().back())) GTEST_SKIP() << "no instruction set here has fused products";
  const auto x = random_vector(a.size(), 3);
  const auto x_rounded = padded(x), values = rounded_values();
  const BlockPattern& pattern = a.pattern();
  std::vector<double> expected(a.size()), expected_rounded(a.size());
  const auto width = static_cast<std::size_t>(b);
  for (std::size_t row = 0; row < rows; ++row) {
    double sum[9] = {};
    float parts[2][9] = {};
    std::size_t turn = 0;
    for (std::int64_t slot = pattern.row_start()[row]; slot < pattern.row_start()[row + 1];
         ++slot, turn ^= 1) {
      const auto column = static_cast<std::size_t>(pattern.column()[static_cast<std::size_t>(slot)]);
      for (std::size_t e = 0; e < width * width; ++e) {
        sum[e] = std::fma(a.block(slot)[e], x[column * width + e % width], sum[e]);
        parts[turn][e] = std::fma(values[static_cast<std::size_t>(slot) * width * width + e],
                                  x_rounded[column * stride + e % width], parts[turn][e]);
      }
    }
    for (std::size_t i = 0; i < width; ++i) {
      double total = sum[i * width];
      float rounded = parts[0][i * width] + parts[1][i * width];
      for (std::size_t j = 1; j < width; ++j) {
        total += sum[i * width + j];
        rounded += parts[0][i * width + j] + parts[1][i * width + j];
      }
      expected[row * width + i] = total;
      expected_rounded[row * width + i] = rounded;
    }
  }
  std::vector<float> first;
  for (const Isa isa : supported_isas()) {
    if (!is_fused(isa)) continue;
    const BlockKernels& kernels = block_kernels(isa, b);
    std::vector<double> y(a.size());
    kernels.multiply({pattern.row_start().data(), pattern.column().data(), a.values().data()}, x.data(),
                     y.data(), 0, rows);
    EXPECT_EQ(y, expected) << name(isa);
    kernels.multiply_rounded({pattern.row_start().data(), pattern.column().data(), values.data()},
                             x_rounded.data(), y.data(), 0, rows);
    EXPECT_EQ(y, expected_rounded) << name(isa);
    std::vector<float> z = x_rounded, kept;
    kernels.forward(lower.rows(), z.data(), 0, rows);
    kernels.backward(lower.rows(), lower.diagonal.data(), z.data(), 0, rows);
    for (std::size_t row = 0; row < rows; ++row) {
      for (std::size_t c = 0; c < width; ++c) kept.push_back(z[stride * row + c]);
    }
    if (first.empty()) first = kept;
    EXPECT_EQ(kept, first) << name(isa);
  }
}

TEST(BlockKernels, ServeWhatIsMadeOfThem) {
  const BlockMatrix matrix = random_matrix(6, 3, 1);
  const auto x = random_vector(matrix.size(), 1);
  std::vector<double> product(matrix.size()), solved(matrix.size());
  matrix.multiply(x, product);
  for (const Isa isa : supported_isas()) {
    std::vector<double> y(matrix.size());
    RoundedMatrix rounded(isa);
    rounded.update(matrix);
    rounded.multiply(x, y);
    combine(-1, product, 1, y);
    EXPECT_LT(norm(y), 1e-6 * norm(product)) << name(isa);
    IncompleteCholesky incomplete(isa);
    ASSERT_TRUE(incomplete.update(matrix));
    incomplete.apply(product, solved);
    combine(-1, x, 1, solved);
    EXPECT_LT(norm(solved), 0.2 * norm(x)) << name(isa);  // dominant: near the inverse
  }
}

}  // namespace
}  // namespace lope::linalg
