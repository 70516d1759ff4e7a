// Frames and checkpoints.
#include <lope/io/checkpoint.h>
#include <lope/io/frame.h>

#include <bit>
#include <cmath>
#include <limits>

#include <unit/io/samples.h>

namespace lope::io {
namespace {

namespace fs = std::filesystem;

NamedArrays sample_arrays() {
  NamedArrays arrays;
  const double nan = std::numeric_limits<double>::quiet_NaN();
  arrays.add("body0/position", {2, 3}, std::vector<float>{1, 2, 3, -4, 5.5F, 1e-40F});
  arrays.add("body0/velocity", {2, 2}, std::vector<double>{0.1, -0.0, nan, 4.9e-324});
  arrays.add("body0/triangles", {1, 3}, std::vector<std::int32_t>{0, 1, -2147483647});
  arrays.add("steps", std::vector<std::int64_t>{std::numeric_limits<std::int64_t>::min(), 7});
  arrays.add("active", std::vector<std::uint8_t>{0, 1, 255});
  arrays.add("nothing", {0, 3}, std::vector<double>{});
  arrays.add("number", {}, std::vector<double>{2.5});
  arrays.metadata = {{"scene", "bar twist\n\"é\""}, {"empty", ""}, {"long", std::string(100000, 'x')}};
  return arrays;
}

template <class T>
std::string raw(const std::vector<T>& values) {
  return std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}

void expect_same_bits(const NamedArrays& a, const NamedArrays& b) {
  EXPECT_EQ(a.metadata, b.metadata);
  ASSERT_EQ(a.arrays.size(), b.arrays.size());
  for (std::size_t i = 0; i < a.arrays.size(); ++i) {
    EXPECT_EQ(a.arrays[i].name, b.arrays[i].name);
    EXPECT_EQ(a.arrays[i].shape, b.arrays[i].shape);
    ASSERT_EQ(a.arrays[i].data.index(), b.arrays[i].data.index());
    const auto bits = [](const auto& values) { return raw(values); };
    EXPECT_EQ(std::visit(bits, a.arrays[i].data), std::visit(bits, b.arrays[i].data)) << a.arrays[i].name;
  }
}

TEST(Frame, RoundTrip) {
  const TemporaryFolder folder;
  const Frame frame{12, 0.1 + 0.2, sample_arrays()};
  const fs::path path = frame_path(folder.path(), 12);
  EXPECT_EQ(path.filename(), "frame_000012.lope");
  ASSERT_TRUE(write_frame(frame, path));
  const auto back = read_frame(path);
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(back->number, 12);
  EXPECT_EQ(back->time, frame.time);
  expect_same_bits(back->data, frame.data);
}

// The bytes are a promise to the web viewer (docs/formats.md).
TEST(Frame, BytesAreAsDocumented) {
  const TemporaryFolder folder;
  Frame frame;
  frame.number = 1;
  frame.time = 0.5;
  frame.data.add("a", std::vector<std::uint8_t>{7});
  frame.data.add("b", std::vector<float>{1.0F});
  ASSERT_TRUE(write_frame(frame, folder / "x.lope"));
  std::string header =
      R"({"arrays":[{"name":"a","offset":0,"shape":[1],"type":"u8"},{"name":"b","offset":8,"shape":[1],"type":"f32"}],)"
      R"("frame":1,"metadata":{},"time":0.5,"version":1})";
  header.resize((header.size() + 7) / 8 * 8, ' ');
  std::string expected("LOPEFRM\x01", 8);
  expected += static_cast<char>(header.size());
  expected += std::string(7, '\0') + header;
  expected += std::string("\x07\0\0\0\0\0\0\0", 8) + std::string("\0\0\x80\x3f\0\0\0\0", 8);
  EXPECT_EQ(*read_file(folder / "x.lope"), expected);
}

TEST(Frames, ShowVectorsByLengthAndTensorsByVonMises) {
  EXPECT_EQ(shown_values(1, std::vector<double>{-1, 2}), (std::vector<double>{-1, 2}));
  EXPECT_EQ(shown_values(3, std::vector<double>{3, 0, -4, 0, 0, 0}), (std::vector<double>{5, 0}));
  // Tension, hydrostatic pressure, shear: |σ|, 0, √3 |τ|.
  const std::vector<double> tensors{0, -7, 0, 0, 0, 0, 5, 5, 5, 0, 0, 0, 1, 1, 1, 0, 0, 2};
  const std::vector<double> shown = shown_values(6, tensors);
  ASSERT_EQ(shown.size(), 3U);
  EXPECT_DOUBLE_EQ(shown[0], 7);
  EXPECT_DOUBLE_EQ(shown[1], 0);
  EXPECT_DOUBLE_EQ(shown[2], 2 * std::sqrt(3.0));
}

TEST(Frame, ListsTheFramesOfAFolder) {
  const TemporaryFolder folder;
  for (const int number : {10, 2, 1234567})
    ASSERT_TRUE(write_frame({number, 0, {}}, frame_path(folder.path(), number)));
  ASSERT_TRUE(write_frame({}, topology_path(folder.path())));
  folder.file("frame_000003.lope.part", "");
  folder.file("frame_3.lope", "");
  EXPECT_EQ(frame_numbers(folder.path()), (std::vector<std::int64_t>{2, 10, 1234567}));
  EXPECT_TRUE(frame_numbers(folder / "none").empty());
}

TEST(Frame, RefusesWhatCannotBeWritten) {
  const TemporaryFolder folder;
  Frame twice, misshapen, latin, endless;
  twice.data.add("a", std::vector<float>{1});
  twice.data.add("a", std::vector<float>{1});
  misshapen.data.add("a", {2, 2}, std::vector<float>{1, 2, 3});
  latin.data.metadata["a"] = "\xe9";
  endless.time = INFINITY;
  for (const Frame& frame : {twice, misshapen, latin, endless}) {
    EXPECT_FALSE(write_frame(frame, folder / "x.lope"));
    EXPECT_FALSE(fs::exists(folder / "x.lope"));
  }
}

std::string frame_with_header(std::string header, std::string_view data = "12345678") {
  header.resize((header.size() + 7) / 8 * 8, ' ');
  std::string bytes("LOPEFRM\x01", 8);
  bytes += static_cast<char>(header.size() & 255);
  bytes += static_cast<char>(header.size() >> 8);
  return bytes + std::string(6, '\0') + header + std::string(data);
}

TEST(Frame, RefusesHostileHeaders) {
  const TemporaryFolder folder;
  const auto with_array = [](const std::string& array) {
    return frame_with_header(R"({"version":1,"frame":0,"time":0,"arrays":[)" + array + "]}");
  };
  ASSERT_TRUE(
      read_frame(folder.file("x", with_array(R"({"name":"a","type":"f64","shape":[1],"offset":0})"))));
  for (
      const std::string& bytes : {
          std::string(),
          std::string("LOPEFRM\x01", 8),
          std::string("LOPEFRM\x02") + "abcdefgh",
          std::string("LOPEFRM\x01\xff\xff\xff\xff\xff\xff\xff\xff", 16),
          frame_with_header("{"),
          frame_with_header("[]"),
          frame_with_header("{}"),
          frame_with_header(R"({"version":2,"frame":0,"time":0,"arrays":[]})"),
          frame_with_header(R"({"version":1,"frame":0,"time":0,"arrays":3})"),
          frame_with_header(R"({"version":1,"frame":1e300,"time":0,"arrays":[]})"),
          frame_with_header(R"({"version":1,"frame":0,"time":0,"arrays":[],"metadata":{"a":1}})"),
          with_array(R"({"name":"a","type":"f64","shape":[2],"offset":0})"),
          with_array(R"({"name":"a","type":"f64","shape":[1],"offset":8})"),
          with_array(R"({"name":"a","type":"f64","shape":[1],"offset":18446744073709551608})"),
          with_array(R"({"name":"a","type":"f64","shape":[4294967296,4294967296],"offset":0})"),
          with_array(R"({"name":"a","type":"f64","shape":[-1],"offset":0})"),
          with_array(R"({"name":"a","type":"u8","shape":[1],"offset":3})"),
          with_array(R"({"name":"a","type":"f16","shape":[1],"offset":0})"),
          with_array(R"({"name":"a","type":"u8","shape":[1.5],"offset":0})"),
          with_array(
              R"({"name":"a","type":"u8","shape":[1],"offset":0},{"name":"a","type":"u8","shape":[1],"offset":0})"),
      }) {
    const auto frame = read_frame(folder.file("x", bytes));
    ASSERT_FALSE(frame) << bytes;
    EXPECT_EQ(frame.error().message.find((folder / "x").string() + ":"), 0U) << frame.error().message;
  }
}

TEST(Checkpoint, RoundTripIsBitExact) {
  const TemporaryFolder folder;
  const NamedArrays arrays = sample_arrays();
  ASSERT_TRUE(write_checkpoint(arrays, folder / "a.h5"));
  const auto back = read_checkpoint(folder / "a.h5");
  ASSERT_TRUE(back) << back.error().message;
  expect_same_bits(*back, arrays);
  // Equal content, equal bytes.
  ASSERT_TRUE(write_checkpoint(*back, folder / "b.h5"));
  EXPECT_EQ(*read_file(folder / "a.h5"), *read_file(folder / "b.h5"));
}

TEST(Checkpoint, EmptyOneIsFine) {
  const TemporaryFolder folder;
  ASSERT_TRUE(write_checkpoint({}, folder / "a.h5"));
  const auto back = read_checkpoint(folder / "a.h5");
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_TRUE(back->arrays.empty());
}

TEST(Checkpoint, TruncatedOrDamagedAnywhereIsAnError) {
  const TemporaryFolder folder;
  NamedArrays arrays;
  arrays.add("x", std::vector<double>(100, 1.5));
  ASSERT_TRUE(write_checkpoint(arrays, folder / "a.h5"));
  const std::string bytes = *read_file(folder / "a.h5");
  for (std::size_t size = 0; size < bytes.size(); size += 97) {
    EXPECT_FALSE(read_checkpoint(folder.file("b.h5", bytes.substr(0, size)))) << size;
  }
  for (std::size_t at = 512; at < bytes.size(); at += 53) {
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x20);
    const auto read = read_checkpoint(folder.file("b.h5", damaged));
    ASSERT_FALSE(read) << at;
    EXPECT_NE(read.error().message.find("checksum"), std::string::npos);
  }
}

TEST(Checkpoint, ForeignFilesAreNamedAsSuch) {
  const TemporaryFolder folder;
  const auto text = read_checkpoint(folder.file("a.h5", "hello"));
  ASSERT_FALSE(text);
  EXPECT_NE(text.error().message.find("is not a checkpoint of Lope"), std::string::npos);
  const auto other =
      read_checkpoint(folder.file("b.h5", std::string("\x89HDF\r\n\x1a\n", 8) + std::string(800, '\0')));
  ASSERT_FALSE(other);
  EXPECT_NE(other.error().message.find("HDF5 file of another program"), std::string::npos);
}

TEST(Checkpoint, RefusesNamesThatCannotBe) {
  const TemporaryFolder folder;
  NamedArrays inside;  // "a" would be an array and a folder
  inside.add("a", std::vector<double>{1});
  inside.add("a/b", std::vector<double>{1});
  NamedArrays header, latin;
  header.add("lope header", std::vector<double>{1});
  latin.metadata["a"] = "\xe9";
  for (const NamedArrays& arrays : {inside, header, latin}) {
    EXPECT_FALSE(write_checkpoint(arrays, folder / "a.h5"));
    EXPECT_FALSE(fs::exists(folder / "a.h5"));
  }
}

TEST(Checkpoint, FullDiskKeepsTheLastOne) {
  const TemporaryFolder folder;
  NamedArrays arrays;
  arrays.add("x", std::vector<double>(100000, 1.5));
  ASSERT_TRUE(write_checkpoint(arrays, folder / "a.h5"));
  fs::create_symlink("/dev/full", folder / "a.h5.part");
  const auto written = write_checkpoint({}, folder / "a.h5");
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().trouble, Trouble::Environment);
  EXPECT_EQ(read_checkpoint(folder / "a.h5")->arrays.size(), 1U);
}

}  // namespace
}  // namespace lope::io
