// Named arrays from views of what holds them, and back.
#include <lope/base/array_reader.h>
#include <lope/math/types.h>

#include <gtest/gtest.h>

namespace lope {
namespace {

TEST(NamedArrays, HoldCopiesOfViewsUnderAPrefix) {
  std::vector<double> numbers = {1, 2, 3};
  const std::vector<std::int32_t> integers = {4, 5};
  const std::vector<Vec2> vectors = {{6, 7}, {8, 9}, {10, 11}};
  NamedArrays arrays;
  arrays.add("body/", {view("x", numbers), view("bricks", integers), view("v", vectors)});
  numbers[0] = 99;
  ASSERT_EQ(arrays.arrays.size(), 3U);
  EXPECT_EQ(*arrays.values<double>("body/x"), (std::vector<double>{1, 2, 3}));
  EXPECT_EQ(*arrays.values<std::int32_t>("body/bricks"), integers);
  EXPECT_EQ(arrays.find("body/v")->shape, (std::vector<std::size_t>{3, 2}));
  ArrayReader reader(arrays, "body/");
  EXPECT_EQ(reader.matrices<Vec2>("v", 3), vectors);
  EXPECT_TRUE(reader.missing().empty());
}

TEST(ArrayReader, RemembersTheFirstArrayThatIsNotAsExpected) {
  NamedArrays arrays;
  arrays.add("a/x", std::vector<double>{1, 2, 3});
  arrays.add("a/step", std::vector<std::int64_t>{7});
  const auto missing = [&](const auto& read) {
    ArrayReader reader(arrays, "a/");
    read(reader);
    reader.numbers("later");
    return reader.missing();
  };
  EXPECT_EQ(missing([](ArrayReader& r) { EXPECT_EQ(r.single<std::int64_t>("step"), 7); }), "a/later");
  EXPECT_EQ(missing([](ArrayReader& r) { EXPECT_TRUE(r.integers("x").empty()); }), "a/x") << "of another type";
  EXPECT_EQ(missing([](ArrayReader& r) { r.single<double>("x"); }), "a/x") << "more than one value";
  EXPECT_EQ(missing([](ArrayReader& r) { r.matrices<Vec2>("x"); }), "a/x") << "not whole vectors";
  EXPECT_EQ(missing([](ArrayReader& r) { r.matrices<Vec3>("x", 2); }), "a/x") << "another number of them";
}

}  // namespace
}  // namespace lope
