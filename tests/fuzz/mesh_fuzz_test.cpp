// Damaged files: thousands of random mutations of good ones, the same in every run. A reader must give a
// sound mesh or an error that names the file; the sanitizers of the asan preset watch over the rest.
#include <lope/io/checkpoint.h>
#include <lope/io/file.h>
#include <lope/io/frame.h>
#include <lope/io/mesh_io.h>

#include <cmath>

#include <unit/io/samples.h>

namespace lope::io {
namespace {

namespace fs = std::filesystem;

class Dice {
 public:
  explicit Dice(std::uint64_t seed) : seed_(seed) {}
  std::size_t below(std::size_t size) { return size == 0 ? 0 : random_bits(seed_, count_++) % size; }

 private:
  std::uint64_t seed_;
  std::uint64_t count_ = 0;
};

// What hurts readers: boundary numbers, in text and in binary, and the words of the formats.
const std::vector<std::string> nasty = {"-1",
                                        "0",
                                        "4294967296",
                                        "9223372036854775807",
                                        "-9223372036854775808",
                                        "1e999",
                                        "nan",
                                        "-inf",
                                        "",
                                        "\n",
                                        "$",
                                        "$End",
                                        "<",
                                        ">",
                                        "\"",
                                        "/>",
                                        "3 3 3",
                                        "list",
                                        "property list uchar int x\n",
                                        "$Nodes\n",
                                        "CELLS 1 1\n",
                                        std::string(1, '\0'),
                                        std::string(8, '\xff'),
                                        std::string(4, '\x7f'),
                                        std::string("\xff\xff\xff\x7f", 4),
                                        std::string("\0\0\0\x80", 4),
                                        std::string(8, '\0')};

std::string mutated(std::string bytes, Dice& dice) {
  const std::size_t changes = 1 + dice.below(3);
  for (std::size_t i = 0; i < changes; ++i) {
    const std::size_t at = dice.below(bytes.size());
    const std::size_t length = 1 + dice.below(8);
    switch (dice.below(6)) {
      case 0:  // one bit
        if (!bytes.empty()) bytes[at] = static_cast<char>(bytes[at] ^ (1 << dice.below(8)));
        break;
      case 1:  // cut the end
        bytes.resize(at);
        break;
      case 2:  // lose a few bytes
        bytes.erase(at, length);
        break;
      case 3:  // repeat a part
        bytes.insert(at, bytes.substr(dice.below(bytes.size()), 4 * length));
        break;
      case 4: {  // overwrite
        const std::string& word = nasty[dice.below(nasty.size())];
        bytes.replace(at, word.size(), word);
        break;
      }
      default: {  // replace a whole word
        const std::size_t begin = bytes.find_first_of(" \n\"", at);
        if (begin == std::string::npos) break;
        const std::size_t end = std::min(bytes.find_first_of(" \n\"", begin + 1), bytes.size());
        bytes.replace(begin + 1, end - begin - 1, nasty[dice.below(nasty.size())]);
      }
    }
  }
  return bytes;
}

void expect_sound(const geometry::Mesh& mesh) {
  for (const Vec3& v : mesh.vertices) ASSERT_TRUE(v.allFinite());
  const auto count = static_cast<int>(mesh.vertices.size());
  for (const auto& t : mesh.triangles) {
    for (const int vertex : t) ASSERT_TRUE(vertex >= 0 && vertex < count);
  }
  for (const auto& t : mesh.tetrahedra) {
    for (const int vertex : t) ASSERT_TRUE(vertex >= 0 && vertex < count);
  }
  ASSERT_FALSE(mesh.triangles.empty() && mesh.tetrahedra.empty());
  const std::size_t labelled = mesh.tetrahedra.empty() ? mesh.triangles.size() : mesh.tetrahedra.size();
  ASSERT_TRUE(mesh.region.empty() || mesh.region.size() == labelled);
}

constexpr int rounds = 1500;

class Mutated : public testing::TestWithParam<std::pair<const char*, Encoding>> {};

TEST_P(Mutated, MeshIsSoundOrRefused) {
  const TemporaryFolder folder;
  const std::string name = std::string("x") + GetParam().first;
  geometry::Mesh mesh = cube_mesh(1);
  mesh.region = {1, 1, 2, 2, 3, 3};
  ASSERT_TRUE(write_mesh(mesh, folder / name, GetParam().second));
  const std::string good = *read_file(folder / name);
  Dice dice(name.size() + static_cast<std::uint64_t>(GetParam().second) +
            static_cast<std::uint64_t>(name[2]));
  int refused = 0;
  for (int round = 0; round < rounds; ++round) {
    folder.file(name, mutated(good, dice));
    const auto read = read_mesh(folder / name);
    if (read) {
      expect_sound(*read);
    } else {
      ++refused;
      ASSERT_EQ(read.error().message.find((folder / name).string() + ":"), 0U) << read.error().message;
    }
  }
  EXPECT_GT(refused, rounds / 20);
}

INSTANTIATE_TEST_SUITE_P(
    Formats, Mutated,
    testing::Values(std::pair(".obj", Encoding::Text), std::pair(".ply", Encoding::Text),
                    std::pair(".ply", Encoding::Binary), std::pair(".stl", Encoding::Text),
                    std::pair(".stl", Encoding::Binary), std::pair(".msh", Encoding::Text),
                    std::pair(".msh", Encoding::Binary), std::pair(".vtu", Encoding::Text),
                    std::pair(".vtu", Encoding::Binary), std::pair(".mesh", Encoding::Text)),
    [](const auto& test) {
      return std::string(test.param.first).substr(1) +
             (test.param.second == Encoding::Binary ? "_binary" : "_text");
    });

// Formats that are only read, from samples written out here.
class MutatedSample : public testing::TestWithParam<std::pair<const char*, const char*>> {};

TEST_P(MutatedSample, MeshIsSoundOrRefused) {
  const TemporaryFolder folder;
  const std::string name = GetParam().first;
  const std::string good = GetParam().second;
  if (name == "x.ele") folder.file("x.node", "4 3 0 0\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n");
  if (name == "x.node") folder.file("x.ele", "1 4 1\n1 1 2 3 4 7\n");
  folder.file(name, good);
  ASSERT_TRUE(read_mesh(folder / name));
  Dice dice(name.size() + good.size());
  for (int round = 0; round < rounds; ++round) {
    folder.file(name, mutated(good, dice));
    const auto read = read_mesh(folder / name);
    if (read) {
      expect_sound(*read);
    } else {
      ASSERT_FALSE(read.error().message.empty());
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Samples, MutatedSample,
    testing::Values(
        std::pair("x.msh",
                  "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n4\n1 0 0 0\n2 1 0 0\n3 0 1 0\n9 0 0 1\n"
                  "$EndNodes\n$Elements\n2\n1 15 2 0 1 1\n2 4 2 7 1 1 2 3 9\n$EndElements\n"),
        std::pair(
            "y.msh",
            "$MeshFormat\n4 0 8\n$EndMeshFormat\n$Entities\n0 0 0 1\n1 0 0 0 1 1 1 1 5 0\n$EndEntities\n"
            "$Nodes\n1 4\n1 3 0 4\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n$EndNodes\n$Elements\n1 1\n"
            "1 3 4 1\n1 1 2 3 4\n$EndElements\n"),
        std::pair(
            "x.vtk",
            "# vtk DataFile Version 3.0\nt\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 4 float\n0 0 0 1 0 0\n"
            "0 1 0 0 0 1\nCELLS 1 5\n4 0 1 2 3\nCELL_TYPES 1\n10\nCELL_DATA 1\nFIELD f 1\n"
            "region 1 1 int\n5\n"),
        std::pair("y.vtk",
                  "# vtk DataFile Version 5.1\nt\nASCII\nDATASET POLYDATA\nPOINTS 4 double\n0 0 0 1 0 0 0 1 "
                  "0 0 0 1\n"
                  "METADATA\nINFORMATION 0\n\nPOLYGONS 3 7\nOFFSETS vtktypeint64\n0 3 7\n"
                  "CONNECTIVITY vtktypeint64\n0 1 2 0 1 2 3\nCELL_DATA 2\nSCALARS region int 1\n"
                  "LOOKUP_TABLE default\n4 5\n"),
        std::pair("x.node", "4 3 0 0\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n"),
        std::pair("x.ele", "1 4 1\n1 1 2 3 4 7\n")),
    [](const auto& test) {
      std::string name = test.param.first;
      name[1] = '_';
      return name;
    });

TEST(MutatedFrame, IsSoundOrRefused) {
  const TemporaryFolder folder;
  Frame frame;
  frame.data.add("body/position", {2, 3}, std::vector<float>(6, 1.0F));
  frame.data.add("flags", std::vector<std::uint8_t>(5, 1));
  frame.data.metadata["scene"] = "bar";
  ASSERT_TRUE(write_frame(frame, folder / "x.lope"));
  const std::string good = *read_file(folder / "x.lope");
  Dice dice(3);
  for (int round = 0; round < 4 * rounds; ++round) {
    folder.file("x.lope", mutated(good, dice));
    const auto read = read_frame(folder / "x.lope");
    if (read) {
      ASSERT_TRUE(check_arrays(read->data));
    } else {
      ASSERT_FALSE(read.error().message.empty());
    }
  }
}

TEST(MutatedCheckpoint, IsRefusedOrTheSame) {
  const TemporaryFolder folder;
  NamedArrays arrays;
  arrays.add("x", std::vector<double>(50, 0.1));
  ASSERT_TRUE(write_checkpoint(arrays, folder / "x.h5"));
  const std::string good = *read_file(folder / "x.h5");
  Dice dice(4);
  for (int round = 0; round < rounds; ++round) {
    folder.file("x.h5", mutated(good, dice));
    const auto read = read_checkpoint(folder / "x.h5");
    if (!read) continue;
    ASSERT_EQ(*read->values<double>("x"), *arrays.values<double>("x"));
  }
}

}  // namespace
}  // namespace lope::io
