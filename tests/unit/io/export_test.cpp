// Frames of a run as files of other programs, read back: numbers, which way is up, units, frames chosen.
#include <lope/io/mesh_io.h>
#include <lope/io/point_cache.h>
#include <lope/io/usd.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <sstream>
#include <string>

#include <unit/io/exported_run.h>

namespace lope::io {
namespace {

// Samples of a point cache: the numbers of each frame.
std::vector<std::vector<float>> samples(const std::string& bytes, std::size_t begin, std::size_t numbers,
                                        bool big_endian) {
  std::vector<std::vector<float>> result;
  for (std::size_t at = begin; at < bytes.size();) {
    std::vector<float>& sample = result.emplace_back();
    for (std::size_t k = 0; k < numbers; ++k, at += 4)
      sample.push_back(number_at<float>(bytes, at, big_endian));
  }
  return result;
}

TEST_F(Export, PointCachesHoldEveryFrameOfTheirMesh) {
  for (const std::string format : {"pc2", "mdd"}) {
    const bool mdd = format == "mdd";
    const auto folder = exported(format);
    ASSERT_TRUE(folder) << folder.error().message;
    const geometry::Mesh base = *read_mesh(*folder / "run_cube.obj");
    EXPECT_EQ(base.triangles, cube_at(0).triangles);
    const std::string bytes = *read_file(*folder / ("run_cube." + format));
    const std::size_t points = base.vertices.size();
    if (mdd) {
      EXPECT_EQ(number_at<std::int32_t>(bytes, 0, true), frames);
      EXPECT_EQ(number_at<std::int32_t>(bytes, 4, true), static_cast<std::int32_t>(points));
      for (int k = 0; k < frames; ++k)
        EXPECT_FLOAT_EQ(number_at<float>(bytes, 8 + 4 * static_cast<std::size_t>(k), true),
                        0.1F * static_cast<float>(k));
    } else {
      EXPECT_EQ(bytes.substr(0, 12), std::string("POINTCACHE2\0", 12));
      EXPECT_EQ(number_at<std::int32_t>(bytes, 12, false), 1);
      EXPECT_EQ(number_at<std::int32_t>(bytes, 16, false), static_cast<std::int32_t>(points));
      EXPECT_EQ(number_at<float>(bytes, 20, false), 0);
      EXPECT_EQ(number_at<float>(bytes, 24, false), 1);
      EXPECT_EQ(number_at<std::int32_t>(bytes, 28, false), frames);
    }
    const auto found = samples(bytes, mdd ? 8 + 4 * frames : 32, 3 * points, mdd);
    ASSERT_EQ(found.size(), std::size_t{frames});
    for (int k = 0; k < frames; ++k) EXPECT_EQ(found[static_cast<std::size_t>(k)], flat(cube_at(k).vertices));
    EXPECT_FALSE(std::filesystem::exists(*folder / ("run_water." + format)));
    EXPECT_FALSE(std::filesystem::exists(*folder / ("run_sand." + format)));
  }
}

TEST_F(Export, CsvHasALineForEveryPoint) {
  const auto folder = exported("csv");
  ASSERT_TRUE(folder) << folder.error().message;
  std::istringstream file(*read_file(*folder / "run_cube_000002.csv"));
  std::string line;
  std::getline(file, line);
  EXPECT_EQ(line, "x,y,z,velocity_x,velocity_y,velocity_z,heat");
  std::vector<float> expected = flat(cube_at(2).vertices), found;
  while (std::getline(file, line)) {
    std::istringstream numbers(line);
    std::string number;
    for (int k = 0; std::getline(numbers, number, ','); ++k) {
      if (k < 3) found.push_back(std::stof(number));
      if (k == 4) {
        EXPECT_EQ(number, "2.5");
      }
      if (k == 6) {
        EXPECT_EQ(number, "302");
      }
    }
  }
  EXPECT_EQ(found, expected);
  EXPECT_EQ(
      *read_file(*folder / "run_sand_000001.csv"), "x,y,z,velocity_x,velocity_y,velocity_z\n" + [] {
        std::string lines;
        for (int k = 0; k < 5; ++k) lines += "0.5,1,0.25,0,1,0\n";
        return lines;
      }());
}

// The numbers after `name` in the block of a prim, frame by frame.
std::map<int, std::vector<float>> time_samples(const std::string& text, const std::string& prim,
                                               const std::string& name) {
  const std::size_t begin = text.find(" \"" + prim + "\"\n"),
                    at = text.find(name + ".timeSamples = {", begin);
  EXPECT_NE(at, std::string::npos) << prim << "." << name;
  std::istringstream lines(text.substr(at, text.find("\n        }", at) - at));
  std::map<int, std::vector<float>> result;
  std::string line;
  std::getline(lines, line);
  while (std::getline(lines, line)) {
    const std::size_t colon = line.find(':');
    std::vector<float>& numbers = result[std::stoi(line)];
    const auto is_part_of_a_number = [](char c) {
      return std::isdigit(static_cast<unsigned char>(c)) || std::strchr(".+-e", c);
    };
    std::replace_if(
        line.begin(), line.end(), [&](char c) { return !is_part_of_a_number(c); }, ' ');
    std::istringstream values(line.substr(colon));
    for (float value = 0; values >> value;) numbers.push_back(value);
  }
  return result;
}

TEST_F(Export, UsdHoldsMeshesPointsAndVelocitiesOverTime) {
  const auto folder = exported("usd");
  ASSERT_TRUE(folder) << folder.error().message;
  const std::string text = *read_file(*folder / "run.usda");
  for (const char* words :
       {"#usda 1.0\n", "defaultPrim = \"run\"", "upAxis = \"Y\"", "metersPerUnit = 1\n",
        "startTimeCode = 0\n", "endTimeCode = 3\n", "def Mesh \"cube\"", "def Points \"sand\"",
        "def Mesh \"water\"", "float[] widths = [0.02]", "color3f[] primvars:displayColor = [(1, 0.21404"})
    EXPECT_NE(text.find(words), std::string::npos) << words;
  const std::size_t rate = text.find("timeCodesPerSecond = ") + 21;
  EXPECT_NEAR(std::stod(text.substr(rate)), 10, 1e-9);
  const auto positions = time_samples(text, "cube", "point3f[] points"),
             velocities = time_samples(text, "cube", "vector3f[] velocities");
  ASSERT_EQ(positions.size(), std::size_t{frames});
  for (int k = 0; k < frames; ++k) {
    EXPECT_EQ(positions.at(k), flat(cube_at(k).vertices));
    EXPECT_EQ(velocities.at(k), repeated({1, 2.5F, 3}, cube_at(k).vertices.size()));
  }
  EXPECT_EQ(time_samples(text, "cube", "float[] primvars:heat").at(3),
            repeated({303}, cube_at(0).vertices.size()));
  EXPECT_EQ(time_samples(text, "sand", "point3f[] points").at(2), repeated({0.5F, 2, 0.25F}, 5));
  const auto water = time_samples(text, "water", "int[] faceVertexIndices");
  EXPECT_EQ(water.at(0).size(), 3 * cube_surface(1).triangles.size());
  EXPECT_EQ(water.at(1).size(), 3 * cube_surface(2).triangles.size());
  // A mesh that stays the same is there once.
  const std::size_t cube = text.find("\"cube\""), indices = text.find("int[] faceVertexIndices", cube);
  EXPECT_EQ(text.compare(indices, 27, "int[] faceVertexIndices = ["), 0);
  EXPECT_EQ(std::count(text.begin(), text.end(), '{'), std::count(text.begin(), text.end(), '}'));
}

// A surface, and a body without one, that come and go: each has its own values, and is seen when it is there.
TEST(Usd, BodiesAreKnownByTheirNames) {
  const TemporaryFolder folder;
  const geometry::Mesh cube = cube_surface(1);
  const std::vector<Vec3> grains = {{1, 2, 3}, {4, 5, 6}};
  const Field heat{"heat", 1, {7, 8}}, wet{"wet", 1, {1, 0}};
  UsdStage stage(folder.path(), "run", {});
  const SeriesBody skin{"snow_surface", cube.vertices, cube.triangles, {}, {}, {}},
      none{"fog", {}, {}, {}, {}, {}};
  ASSERT_TRUE(stage.add_frame(0, 0, std::vector<SeriesBody>{none, {"snow", grains, {}, {}, {heat}, {}}}));
  ASSERT_TRUE(stage.add_frame(
      1, 0.1, std::vector<SeriesBody>{skin, none, {"snow", grains, {}, {}, {wet, heat}, {}}}));
  ASSERT_TRUE(stage.add_frame(2, 0.2, std::vector<SeriesBody>{{"snow", grains, {}, {}, {heat}, {}}}));
  ASSERT_TRUE(stage.finish());
  const std::string text = *read_file(folder / "run.usda");
  EXPECT_NE(text.find("def Points \"snow\""), std::string::npos);
  EXPECT_EQ(text.find("\"fog\""), std::string::npos);
  const std::size_t surface = text.find("def Mesh \"snow_surface\"");
  ASSERT_NE(surface, std::string::npos) << text;
  for (int frame = 0; frame < 3; ++frame) {
    EXPECT_EQ(time_samples(text, "snow", "point3f[] points").at(frame), flat(grains));
    EXPECT_EQ(time_samples(text, "snow", "float[] primvars:heat").at(frame), (std::vector<float>{7, 8}));
  }
  EXPECT_NE(text.find("float[] primvars:wet = [1, 0]"), std::string::npos) << text;
  EXPECT_NE(
      text.find(
          "token visibility.timeSamples = {\n            0: \"invisible\",\n            1: \"inherited\",\n"
          "            2: \"invisible\",\n",
          surface),
      std::string::npos)
      << text;
  EXPECT_EQ(text.find("visibility"), text.rfind("visibility"));  // of what comes and goes alone
}

// A body with skin on one part and loose points of another: files of surfaces hold both.
TEST(ExportOfParts, PointsBesideTheSurfaceAreWritten) {
  const TemporaryFolder folder;
  ASSERT_TRUE(make_directory(folder / "frames"));
  Frame topology, frame;
  const geometry::Mesh cube = cube_surface(1);
  geometry::Drawable snow;
  snow.surface.positions = flat(cube.vertices);
  snow.surface.triangles = flat(cube.triangles);
  snow.surface.element_fields = {{"part", "", 1, repeated({1}, cube.triangles.size())}};
  snow.points.radius = 0.01;
  snow.points.positions = {0, 0, 0, 0.5F, 2, 3, 1, 1, 1, 4, 5, 6};
  snow.points.fields = {{"part", "", 1, {1, 0, 1, 0}}, {"heat", "K", 1, {1, 2, 3, 4}}};
  add_drawable("snow", {}, true, topology);
  ASSERT_TRUE(write_frame(topology, topology_path(folder / "frames")));
  add_drawable("snow", snow, false, frame);
  ASSERT_TRUE(write_frame(frame, frame_path(folder / "frames", 0)));
  const auto run = RunFrames::open(folder.path());
  ASSERT_TRUE(run) << run.error().message;
  for (const char* format : {"ply", "obj"}) {
    ExportOptions options;
    options.format = format;
    options.folder = folder / format;
    options.stem = "run";
    const auto done = export_run(*run, options);
    ASSERT_TRUE(done) << done.error().message;
  }
  EXPECT_EQ(read_mesh(folder / "ply/run_snow_000000.ply")->triangles.size(), cube.triangles.size());
  const std::string points = *read_file(folder / "ply/run_snow_points_000000.ply");
  EXPECT_NE(points.find("element vertex 2\n"), std::string::npos);
  const std::size_t data = points.find("end_header\n") + 11;
  EXPECT_EQ(samples(points, data, 5, false),
            (std::vector<std::vector<float>>{{0.5F, 2, 3, 0, 2}, {4, 5, 6, 0, 4}}));
  const std::string obj = *read_file(folder / "obj/run_000000.obj");
  const std::size_t object = obj.find("o snow_points\n");
  ASSERT_NE(object, std::string::npos) << obj;
  EXPECT_NE(obj.find("v 0.5 2 3\nv 4 5 6\n", object), std::string::npos) << obj;
}

TEST_F(Export, FilesMayBeTurnedAndScaled) {
  ExportOptions how;
  how.z_up = true;
  how.scale = 100;
  for (const char* format : {"usd", "csv", "pc2", "ply", "obj", "vtu"})
    ASSERT_TRUE(exported(format, how)) << format;
  const std::string text = *read_file(folder_ / "usd_z/run.usda");
  EXPECT_NE(text.find("upAxis = \"Z\""), std::string::npos);
  EXPECT_NE(text.find("metersPerUnit = 0.01\n"), std::string::npos);
  std::vector<Vec3> expected = cube_at(3).vertices;
  for (Vec3& v : expected) v = 100 * Vec3(v[0], -v[2], v[1]);
  const std::vector<float> found = time_samples(text, "cube", "point3f[] points").at(3),
                           wanted = flat(expected);
  ASSERT_EQ(found.size(), wanted.size());
  for (std::size_t k = 0; k < found.size(); ++k) EXPECT_NEAR(found[k], wanted[k], 1e-4);
  EXPECT_EQ(time_samples(text, "cube", "vector3f[] velocities").at(0),
            repeated({100, -300, 250}, expected.size()));
  EXPECT_EQ(time_samples(text, "cube", "float[] primvars:heat").at(0), repeated({300}, expected.size()));
  const geometry::Mesh mesh = *read_mesh(folder_ / "vtu_z/run_000003_0_cube.vtu");
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_LT((mesh.vertices[i] - expected[i]).norm(), 1e-4);
  const geometry::Mesh obj = *read_mesh(folder_ / "obj_z/run_000003.obj");
  EXPECT_LT((obj.vertices.front() - expected.front()).norm(), 1e-4);
  // A rotation keeps volumes positive: triangles stay counter-clockwise.
  EXPECT_EQ(obj.triangles.front(), cube_at(3).triangles.front());
}

TEST_F(Export, FramesMayBeChosen) {
  ExportOptions how;
  how.first = 1;
  how.last = 3;
  how.every = 2;
  ASSERT_TRUE(exported("obj", how));
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder_ / "obj"))
    names.insert(entry.path().filename().string());
  EXPECT_EQ(names, (std::set<std::string>{"run_000001.obj", "run_000003.obj"}));
  ASSERT_TRUE(exported("pc2", how));
  const std::string bytes = *read_file(folder_ / "pc2/run_cube.pc2");
  EXPECT_EQ(number_at<float>(bytes, 20, false), 1);
  EXPECT_EQ(number_at<float>(bytes, 24, false), 2);
  EXPECT_EQ(number_at<std::int32_t>(bytes, 28, false), 2);
  how.first = how.last = 9;
  const auto none = exported("obj", how);
  ASSERT_FALSE(none);
  EXPECT_NE(none.error().message.find("the last one is 3"), std::string::npos) << none.error().message;
}

TEST_F(Export, VolumesAreNotThereAndSaidSo) {
  const auto none = exported("vdb");
  ASSERT_FALSE(none);
  EXPECT_NE(none.error().message.find("no volume"), std::string::npos);
}

TEST(PointCaches, RefuseAMeshThatChanges) {
  const TemporaryFolder folder;
  PointCaches caches(CacheFormat::Pc2, folder.path(), "run");
  const geometry::Mesh one = cube_surface(1), two = cube_surface(2);
  ASSERT_TRUE(
      caches.add_frame(0, 0, std::vector<SeriesBody>{{"cube", one.vertices, one.triangles, {}, {}, {}}}));
  const auto refused =
      caches.add_frame(1, 0.1, std::vector<SeriesBody>{{"cube", two.vertices, two.triangles, {}, {}, {}}});
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("'cube' is not the same in frame 1"), std::string::npos)
      << refused.error().message;
}

}  // namespace
}  // namespace lope::io
