// Whole runs against theory (bench/papers/validation.h): the quick ones of each group.
#include <gtest/gtest.h>
#include <papers/validation.h>

namespace lope::bench {
namespace {

class Validation : public testing::TestWithParam<std::size_t> {};
INSTANTIATE_TEST_SUITE_P(WholeRuns, Validation, testing::Range(std::size_t{0}, check_groups().size()),
                         [](const auto& chosen) {
                           std::string name(check_groups()[chosen.param].name);
                           std::erase(name, '-');
                           return name;
                         });

TEST_P(Validation, AgreesWithTheory) {
  const std::vector<Check> checks = check_groups()[GetParam()].run(true);
  ASSERT_FALSE(checks.empty());
  for (const Check& check : checks) {
    EXPECT_EQ(check.unconverged, 0) << check.what << ", " << check.setting;
    EXPECT_LE(check.error(), check.allowed) << check.what << ", " << check.setting << ": measured " << check.measured
                                            << ", expected " << check.expected;
  }
}

}  // namespace
}  // namespace lope::bench
