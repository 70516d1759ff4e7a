#include <lope/base/parallel.h>
#include <lope/base/random.h>

#include <atomic>
#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

namespace lope {
namespace {

double noisy_sum(int threads) {
  const ThreadLimit limit(threads);
  return parallel_sum(100003, 64, [](std::size_t begin, std::size_t end) {
    double sum = 0;
    for (std::size_t i = begin; i < end; ++i) sum += std::exp(40 * random_unit(7, i)) - 1e8;
    return sum;
  });
}

TEST(Parallel, SumHasTheSameBitsForAnyNumberOfThreads) {
  const double one = noisy_sum(1);
  EXPECT_EQ(one, noisy_sum(2));
  EXPECT_EQ(one, noisy_sum(0));
}

TEST(Parallel, ForVisitsEveryIndexOnce) {
  std::vector<int> visits(1000, 0);
  parallel_for(visits.size(), 7, [&](std::size_t i) { ++visits[i]; });
  for (const int count : visits) EXPECT_EQ(count, 1);
}

TEST(Parallel, TasksRunOnceAndWorkersNeverShare) {
  for (const int threads : {1, 2, 0}) {
    const ThreadLimit limit(threads);
    std::vector<int> visits(300, 0);
    std::vector<std::atomic<int>> busy(worker_count());
    std::atomic<bool> shared{false};
    parallel_tasks(visits.size(), [&](std::size_t task, std::size_t worker) {
      if (worker >= busy.size() || busy[worker]++ != 0) {
        shared = true;
        return;
      }
      double work = 0;
      for (std::size_t i = 0; i < 1000; ++i) work += random_unit(task, i);
      visits[task] += work > 0;
      --busy[worker];
    });
    EXPECT_FALSE(shared);
    for (const int count : visits) EXPECT_EQ(count, 1);
  }
}

TEST(Parallel, MaxReportsNaN) {
  const auto with_nan = [](std::size_t begin, std::size_t) {
    return begin == 40 ? std::numeric_limits<double>::quiet_NaN() : static_cast<double>(begin);
  };
  EXPECT_TRUE(std::isnan(parallel_max(100, 10, with_nan)));
  EXPECT_EQ(parallel_max(0, 10, with_nan), -std::numeric_limits<double>::infinity());
}

TEST(Random, IsUniform) {
  double mean = 0;
  for (std::uint64_t i = 0; i < 100000; ++i) mean += random_unit(3, i) / 100000;
  EXPECT_NEAR(mean, 0.5, 0.005);
}

}  // namespace
}  // namespace lope
