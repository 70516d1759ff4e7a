#include <lope/base/file_lock.h>

#include <filesystem>
#include <random>

#include <fmt/core.h>
#include <gtest/gtest.h>

namespace lope {
namespace {

TEST(FileLock, WhetherItIsHeldIsSeenWithoutTakingIt) {
  const auto path =
      std::filesystem::path(testing::TempDir()) / fmt::format("lock_{:08x}", std::random_device()());
  EXPECT_FALSE(FileLock::is_held(path));
  EXPECT_FALSE(std::filesystem::exists(path));
  {
    const auto lock = FileLock::take(path);
    ASSERT_TRUE(lock && *lock);
    EXPECT_TRUE(FileLock::is_held(path));
  }
  EXPECT_FALSE(FileLock::is_held(path));
  EXPECT_TRUE(*FileLock::take(path));
  std::filesystem::remove(path);
}

TEST(FileLock, IsHeldByOneAtATime) {
  const auto path =
      std::filesystem::path(testing::TempDir()) / fmt::format("lock_{:08x}", std::random_device()());
  {
    auto first = FileLock::take(path);
    ASSERT_TRUE(first && *first);
    const auto second = FileLock::take(path);
    ASSERT_TRUE(second) << second.error().message;
    EXPECT_FALSE(*second);
    const FileLock moved = std::move(**first);
    EXPECT_FALSE(*FileLock::take(path));
  }
  EXPECT_TRUE(*FileLock::take(path));
  std::filesystem::remove(path);
  const auto nowhere = FileLock::take(path / "lock");
  ASSERT_FALSE(nowhere);
  EXPECT_EQ(nowhere.error().trouble, Trouble::Environment);
}

}  // namespace
}  // namespace lope
