#include <lope/base/memory.h>

#include <vector>

#include <gtest/gtest.h>

namespace lope {
namespace {

TEST(Memory, ThePeakGrowsByWhatIsTouched) {
  const double before = peak_memory();
  constexpr std::size_t size = 200'000'000;
  const std::vector<char> touched(size, 1);
  const volatile char* seen = touched.data();  // or a compiler may do without the memory
  EXPECT_GE(peak_memory(), before);
  EXPECT_GE(peak_memory(), static_cast<double>(size));
  EXPECT_EQ(seen[size / 2], 1);
}

#ifdef __linux__  // elsewhere it is not told
TEST(Memory, SomeIsAvailableButNotWithoutBound) {
  EXPECT_GT(available_memory(), 1e6);
  EXPECT_LE(available_memory(), total_memory());
  EXPECT_LT(total_memory(), 1e15);
}
#endif

}  // namespace
}  // namespace lope
