// Lists of different things: copies are copies of what is there.
#include <lope/base/polymorphic.h>

#include <string>
#include <utility>

#include <gtest/gtest.h>

namespace lope {
namespace {

struct Shape {
  virtual ~Shape() = default;
  virtual int corners() const = 0;
};
struct Polygon final : Shape {
  explicit Polygon(int n) : count(n) {}
  int corners() const override { return count; }
  int count;
};
struct Circle final : Shape {
  int corners() const override { return 0; }
  std::string name = "circle";
};

TEST(Polymorphic, CopiesOfAListAreCopiesOfWhatIsInIt) {
  std::vector<Polymorphic<Shape>> list = {Polygon(3), Circle()};
  std::vector<Polymorphic<Shape>> copy = list;
  as<Polygon>(copy[0]).count = 5;
  as<Circle>(copy[1]).name = "ring";
  EXPECT_EQ(list[0]->corners(), 3);
  EXPECT_EQ(copy[0]->corners(), 5);
  EXPECT_EQ(as<Circle>(list[1]).name, "circle");
  list[0] = copy[1];
  EXPECT_EQ(as<Circle>(list[0]).name, "ring");
  EXPECT_NE(list[0].get(), copy[1].get());
}

TEST(Polymorphic, MovesLeaveTheThingWhereItIs) {
  Polymorphic<Shape> first = Polygon(4);
  const Shape* where = first.get();
  Polymorphic<Shape> second = std::move(first);
  EXPECT_EQ(second.get(), where);
  Polymorphic<Shape> third = second;  // what was moved can still be copied
  EXPECT_EQ(third->corners(), 4);
}

TEST(Polymorphic, IsAskedForAsWhatItIs) {
  std::vector<Polymorphic<Shape>> list = {Polygon(3), Circle(), Polygon(6)};
  EXPECT_THROW(as<Circle>(list[0]), std::bad_cast);
  for (Polygon& polygon : each<Polygon>(list)) ++polygon.count;
  const std::vector<Polymorphic<Shape>>& constant = list;
  int corners = 0;
  for (const Polygon& polygon : each<Polygon>(constant)) corners = 10 * corners + polygon.count;
  EXPECT_EQ(corners, 47);
}

}  // namespace
}  // namespace lope
