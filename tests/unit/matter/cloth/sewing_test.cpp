// Seams that close: nothing pulls at the start, the flat shape counts at the end, and in between what the header says.
#include <lope/geometry/panels.h>

#include <Eigen/Geometry>
#include <gtest/gtest.h>
#include <unit/matter/cloth/sheets.h>

namespace lope::matter {
namespace {

// Two squares, face to face, a side of each sewn together.
geometry::Sheet two_squares(double gap) {
  const std::vector<Vec2> outline = {{0, 0}, {0.2, 0}, {0.2, 0.2}, {0, 0.2}};
  const std::vector<geometry::PanelEdge> edges = {{"side", 1, 2}};
  const Mat3 turned = Eigen::AngleAxisd(3.14159265358979, Vec3::UnitX()).toRotationMatrix();
  return geometry::sew(
             {{"one", outline, {}, edges, {}}, {"two", outline, {}, edges, {turned, Vec3(0, 0.2, gap)}}},
             {{{"one", "two"}, {"side", "side"}, 0}}, 0.05)
      .value();
}

class SewnCloth {
 public:
  SewnCloth() : sheet_(two_squares(0.3)), x_(sheets::interleaved(sheet_.vertices)) {}
  ClothMaterial material() const {
    ClothMaterial chosen = sheets::woven();
    chosen.bending.warp = chosen.bending.weft = 0;  // the membrane alone
    return chosen;
  }
  double potential(ClothObjective& objective, double time) {
    objective.set_time(time);
    objective.move_to(x_);
    return objective.potential();
  }
  geometry::Sheet sheet_;
  std::vector<double> x_;
};

TEST(Sewing, NothingPullsAtTheStartAndNothingIsLeftAtTheEnd) {
  SewnCloth cloth;
  ClothObjective plain(cloth.sheet_, cloth.material(), {}, 0, 0),
      sewn(cloth.sheet_, cloth.material(), {}, 0, 0);
  sewn.sew(0.5);
  const double whole = cloth.potential(plain, 0);
  EXPECT_GT(whole, 0.1);
  EXPECT_LT(cloth.potential(sewn, 0), 1e-12 * whole);
  double before = 0;
  for (const double time : {0.1, 0.2, 0.3, 0.4}) {
    const double now = cloth.potential(sewn, time);
    EXPECT_GT(now, before);
    EXPECT_LT(now, whole);
    before = now;
    EXPECT_FALSE(sewn.keeps_its_hessian());
  }
  // The same bits as if nothing had been sewn, now and for ever; and back, since a step may be taken again.
  EXPECT_EQ(cloth.potential(sewn, 0.5), whole);
  EXPECT_EQ(cloth.potential(sewn, 7), whole);
  EXPECT_TRUE(sewn.keeps_its_hessian());
  EXPECT_EQ(cloth.potential(sewn, 0.4), before);
  EXPECT_FALSE(sewn.keeps_its_hessian());
}

// Of a triangle that is U at the start, the rest is (1 − s) U + s I: what has that shape has no energy.
TEST(Sewing, ShrinksInAStraightLine) {
  geometry::Sheet sheet;
  sheet.vertices = {{0, 0, 0}, {2, 0, 0}, {0, 3, 0}};
  sheet.flat = {{0, 0}, {1, 0}, {0, 1}};
  sheet.triangles = sheet.flat_triangles = {{0, 1, 2}};
  ClothObjective objective(sheet, sheets::woven(), {}, 0, 0);
  objective.sew(2);
  const std::vector<double> x = {0, 0, 0, 1.75, 0, 0, 0, 2.5, 0};
  objective.set_time(0.5);
  objective.move_to(x);
  EXPECT_LT(objective.potential(), 1e-20);
}

}  // namespace
}  // namespace lope::matter
