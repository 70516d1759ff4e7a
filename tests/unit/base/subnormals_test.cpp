#include <lope/base/subnormals.h>

#include <limits>

#include <gtest/gtest.h>

namespace lope {
namespace {

float halved(float x) {
  volatile float y = x;
  y = y * 0.5f;
  return y;
}

TEST(WithoutSubnormals, CountThemAsZeroWhileItLives) {
  const float smallest = std::numeric_limits<float>::min();
  EXPECT_GT(halved(smallest), 0);
  {
    const WithoutSubnormals here;
    EXPECT_EQ(halved(smallest), 0);
    EXPECT_EQ(halved(4 * smallest), 2 * smallest);
  }
  EXPECT_GT(halved(smallest), 0);
}

}  // namespace
}  // namespace lope
