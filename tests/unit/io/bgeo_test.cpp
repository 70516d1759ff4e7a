// Houdini's geometry files, read back by what its format says.
#include <lope/io/bgeo.h>

#include <unit/io/exported_run.h>

namespace lope::io {
namespace {

struct Bgeo {
  struct Attribute {
    std::string name;
    int size = 0, type = 0;
  };
  int points = 0;
  std::vector<Attribute> attributes;
  std::vector<std::vector<float>> rows;  // x y z w and the attributes of each point

  explicit Bgeo(const std::string& bytes) {
    std::size_t at = 5;
    const auto whole = [&] { return number_at<std::int32_t>(bytes, (at += 4) - 4, true); };
    const auto brief = [&] { return number_at<std::uint16_t>(bytes, (at += 2) - 2, true); };
    EXPECT_EQ(bytes.substr(0, 5), "BgeoV");
    EXPECT_EQ(whole(), 5);
    points = whole();
    for (int k = 0; k < 3; ++k) EXPECT_EQ(whole(), 0);
    attributes.resize(static_cast<std::size_t>(whole()));
    for (int k = 0; k < 3; ++k) EXPECT_EQ(whole(), 0);
    std::size_t columns = 4;
    for (Attribute& attribute : attributes) {
      const std::size_t length = brief();
      attribute.name = bytes.substr(at, length);
      at += length;
      attribute.size = brief();
      attribute.type = whole();
      for (int k = 0; k < attribute.size; ++k) EXPECT_EQ(whole(), 0);
      columns += static_cast<std::size_t>(attribute.size);
    }
    for (int i = 0; i < points; ++i) {
      std::vector<float>& row = rows.emplace_back();
      for (std::size_t k = 0; k < columns; ++k) row.push_back(number_at<float>(bytes, (at += 4) - 4, true));
    }
    EXPECT_EQ(bytes.substr(at), std::string("\0\xff", 2));
  }
};

TEST_F(Export, BgeoHoldsParticlesAndTheirFields) {
  ExportOptions how;
  how.z_up = true;
  how.scale = 10;
  how.first = 1;
  how.last = 2;
  const auto folder = exported("bgeo", how);
  ASSERT_TRUE(folder) << folder.error().message;
  for (const int frame : {1, 2}) {
    const Bgeo file(*read_file(*folder / fmt::format("run_sand_{:06}.bgeo", frame)));
    ASSERT_EQ(file.points, 5);
    ASSERT_EQ(file.attributes.size(), 2U);
    EXPECT_EQ(file.attributes[0].name, "v");
    EXPECT_EQ(file.attributes[0].size, 3);
    EXPECT_EQ(file.attributes[0].type, 5);
    EXPECT_EQ(file.attributes[1].name, "pscale");
    EXPECT_EQ(file.attributes[1].size, 1);
    EXPECT_EQ(file.attributes[1].type, 0);
    const auto y = static_cast<float>(10 * frame);
    for (const std::vector<float>& row : file.rows)
      EXPECT_EQ(row, (std::vector<float>{5, -2.5F, y, 1, 0, 0, 10, 0.1F}));
  }
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(*folder))
    files += entry.is_regular_file() ? 1 : 0;
  EXPECT_EQ(files, 2U);  // none of the cube, none of the water
}

TEST(Bgeo, TensorsAreSixFloatsAndNoPointsAFile) {
  const TemporaryFolder folder;
  const std::vector<Vec3> points{{1, 2, 3}, {4, 5, 6}};
  const SeriesBody some{"snow",
                        points,
                        {},
                        {},
                        {{"stress", 6, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}}, {"plastic", 1, {0.5, 0.25}}},
                        {}},
      none{"rain", {}, {}, {}, {}, {}};
  ASSERT_TRUE(write_bgeo_frame(folder.path(), "s", 3, std::vector<SeriesBody>{some, none}));
  const Bgeo snow(*read_file(folder / "s_snow_000003.bgeo")), rain(*read_file(folder / "s_rain_000003.bgeo"));
  ASSERT_EQ(snow.attributes.size(), 2U);
  EXPECT_EQ(snow.attributes[0].size, 6);
  EXPECT_EQ(snow.attributes[0].type, 0);
  EXPECT_EQ(snow.rows.at(1), (std::vector<float>{4, 5, 6, 1, 7, 8, 9, 10, 11, 12, 0.25}));
  EXPECT_EQ(rain.points, 0);
}

}  // namespace
}  // namespace lope::io
