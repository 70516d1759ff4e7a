// Minimisers on vectors whose parts are in different places: a function that is the sum of two functions of different
// unknowns, each known to one thread only, which hears of the other through the space alone.
#include <lope/base/random.h>
#include <lope/optimize/methods.h>

#include <array>
#include <barrier>
#include <thread>

#include <gtest/gtest.h>
#include <unit/optimize/test_objectives.h>

namespace lope::optimize {
namespace {

constexpr int nodes = 20;
constexpr std::size_t parts = 2;

// Where the threads meet. Whoever has finished is not waited for.
struct Meeting {
  std::barrier<> all{parts};
  std::array<std::array<double, parts>, 2> told{};  // in meetings of even and of odd number
};

class MeetingSpace final : public linalg::Space {
 public:
  MeetingSpace(Meeting& meeting, std::size_t part) : meeting_(meeting), part_(part) {}
  double sum(std::size_t size, std::size_t grain, const ChunkSum& partial) const override {
    const auto told = exchange(parallel_sum(size, grain, partial));
    return told[0] + told[1];
  }
  double max(std::size_t size, std::size_t grain, const ChunkSum& partial) const override {
    const auto told = exchange(parallel_max(size, grain, partial));
    return std::max(told[0], told[1]);
  }

 private:
  std::array<double, parts> exchange(double own) const {
    auto& told = meeting_.told[meetings_++ % 2];
    told[part_] = own;
    meeting_.all.arrive_and_wait();
    return told;
  }
  Meeting& meeting_;
  std::size_t part_;
  mutable std::size_t meetings_ = 0;
};

// One of two chains; what is a single number is of both.
class PartOfTwo final : public Objective {
 public:
  PartOfTwo(Meeting& meeting, std::size_t part) : space_(meeting, part), chain_(nodes, part == 0 ? 100 : 300, 1) {}
  const linalg::Space& space() const override { return space_; }
  std::size_t size() const override { return chain_.size(); }
  int block_size() const override { return chain_.block_size(); }
  std::span<const std::uint8_t> fixed_blocks() const override { return chain_.fixed_blocks(); }
  const CharacteristicScales& scales() const override { return chain_.scales(); }
  void move_to(std::span<const double> x) override { chain_.move_to(x); }
  double value(double give_up_above) override {
    return space_.sum(1, 1, [&](std::size_t, std::size_t) { return chain_.value(give_up_above); });
  }
  double value_noise() override {
    return space_.sum(1, 1, [&](std::size_t, std::size_t) { return chain_.value_noise(); });
  }
  void gradient(std::span<double> g) override { chain_.gradient(g); }
  const linalg::BlockMatrix& hessian(HessianKind kind) override { return chain_.hessian(kind); }
  void hessian_times(HessianKind kind, std::span<const double> d, std::span<double> y) override {
    chain_.hessian_times(kind, d, y);
  }
  std::vector<std::vector<int>> cover(int sets) const override { return chain_.cover(sets); }
  linalg::HierarchyPtr hierarchy() override { return chain_.hierarchy(); }
  ScalarModel scalar_model() override { return chain_.scalar_model(); }

 private:
  MeetingSpace space_;
  SpringChain chain_;
};

std::vector<double> start_of(std::size_t part) {
  std::vector<double> x(2 * nodes, 0.0);
  for (std::size_t k = 2; k < x.size(); ++k)
    x[k] = (k % 2 == 0 ? static_cast<double>(k / 2) : 0.0) + (part == 0 ? 0.1 : 0.5) * (random_unit(5 + part, k) - 0.5);
  return x;
}

std::string method_name(const testing::TestParamInfo<Method>& info) {
  std::string name(name_of(info.param));
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

class DistributedMethod : public testing::TestWithParam<Method> {};
INSTANTIATE_TEST_SUITE_P(Methods, DistributedMethod,
                         testing::Values(Method::Newton, Method::NewtonPcg, Method::NewtonPcgMatrixFree, Method::Gast15,
                                         Method::NewtonRaw, Method::LbfgsH, Method::LbfgsPd, Method::Dot, Method::LbfgsCg,
                                         Method::LbfgsJacobi, Method::NewtonMgpcg, Method::Hot, Method::Nfmg),
                         method_name);

// A reduction that did not go through the space would let the two go different ways.
TEST_P(DistributedMethod, GoesTheSameWayInAllParts) {
  for (const StoppingTest test : {StoppingTest::Displacement, StoppingTest::CharacteristicNodewise}) {
    Meeting meeting;
    std::array<MinimizerSummary, parts> summary;
    std::array<std::vector<double>, parts> x;
    const auto run = [&](std::size_t part) {
      PartOfTwo objective(meeting, part);
      x[part] = start_of(part);
      MinimizerOptions options;
      options.stopping = {test, 1e-6};
      summary[part] = make_minimizer(GetParam(), objective.size())->minimize(objective, x[part], options);
      meeting.all.arrive_and_drop();
    };
    std::thread other(run, 1);
    run(0);
    other.join();
    ASSERT_TRUE(summary[0].converged()) << summary[0].reason;
    ASSERT_TRUE(summary[1].converged()) << summary[1].reason;
    EXPECT_EQ(summary[0].value, summary[1].value);
    EXPECT_EQ(summary[0].measure, summary[1].measure);
    ASSERT_EQ(summary[0].history.size(), summary[1].history.size());
    for (std::size_t k = 0; k < summary[0].history.size(); ++k) {
      EXPECT_EQ(summary[0].history[k].gradient_norm, summary[1].history[k].gradient_norm) << k;
      EXPECT_EQ(summary[0].history[k].step_length, summary[1].history[k].step_length) << k;
    }
    for (const auto& found : x) {
      for (std::size_t k = 0; k < found.size(); ++k)
        EXPECT_NEAR(found[k], k % 2 == 0 ? static_cast<double>(k / 2) : 0.0, 1e-3) << k;
    }
  }
}

}  // namespace
}  // namespace lope::optimize
