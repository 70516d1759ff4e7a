#include <lope/io/codec.h>
#include <lope/io/file.h>
#include <lope/io/json_lines.h>
#include <lope/io/png.h>

#include <cmath>
#include <limits>

#include <nlohmann/json.hpp>
#include <rapidcheck.h>
#include <unit/io/samples.h>

namespace lope::io {
namespace {

namespace fs = std::filesystem;

// Makes writing `path` fail as on a full disk: its temporary name leads to the device that is always full.
void fill_disk_of(const fs::path& path) { fs::create_symlink("/dev/full", path.string() + ".part"); }

std::string content(const fs::path& path) { return read_file(path).value_or("<unreadable>"); }

std::size_t entries(const TemporaryFolder& folder) {
  return static_cast<std::size_t>(
      std::distance(fs::directory_iterator(folder.path()), fs::directory_iterator()));
}

TEST(File, WritesAndReplaces) {
  const TemporaryFolder folder;
  const std::string bytes("a\0b\n\xff", 5);
  ASSERT_TRUE(write_file(folder / "x", bytes));
  EXPECT_EQ(content(folder / "x"), bytes);
  ASSERT_TRUE(write_file(folder / "x", "shorter"));
  EXPECT_EQ(content(folder / "x"), "shorter");
  EXPECT_EQ(entries(folder), 1U);
}

TEST(File, FullDiskKeepsTheOldFile) {
  const TemporaryFolder folder;
  folder.file("x", "old");
  for (const std::size_t size : {std::size_t{3}, std::size_t{10000000}}) {
    fill_disk_of(folder / "x");
    const auto written = write_file(folder / "x", std::string(size, 'n'));
    ASSERT_FALSE(written);
    EXPECT_EQ(written.error().trouble, Trouble::Environment);
    EXPECT_NE(written.error().message.find((folder / "x").string()), std::string::npos);
    EXPECT_NE(written.error().message.find("free some space"), std::string::npos) << written.error().message;
    EXPECT_EQ(content(folder / "x"), "old");
    EXPECT_EQ(entries(folder), 1U);
  }
}

TEST(File, AbandonedWritingLeavesNothing) {
  const TemporaryFolder folder;
  {
    AtomicFile file(folder / "x");
    file.write("half");
  }
  EXPECT_EQ(entries(folder), 0U);
}

TEST(File, MissingFolderIsAnEnvironmentError) {
  const TemporaryFolder folder;
  const auto written = write_file(folder / "no/such/x", "bytes");
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().trouble, Trouble::Environment);
}

TEST(File, ReadingNamesWhatIsWrong) {
  const TemporaryFolder folder;
  folder.file("x", "12345");
  EXPECT_NE(read_file(folder / "none").error().message.find("no such file"), std::string::npos);
  EXPECT_NE(read_file(folder.path()).error().message.find("is a folder"), std::string::npos);
  EXPECT_NE(read_file("/dev/zero").error().message.find("not an ordinary file"), std::string::npos);
  EXPECT_NE(read_file(folder / "x", 4).error().message.find("5 bytes"), std::string::npos);
  EXPECT_TRUE(read_file(folder / "x", 5));
}

TEST(Codec, Base64RoundTrip) {
  EXPECT_EQ(base64("any carnal pleas"), "YW55IGNhcm5hbCBwbGVhcw==");
  EXPECT_TRUE(rc::check([](const std::string& bytes) {
    const std::string encoded = base64(bytes) + "tail";
    std::string_view text = encoded;
    const auto decoded = take_base64(text, bytes.size());
    RC_ASSERT(decoded.has_value());
    RC_ASSERT(*decoded == bytes);
    RC_ASSERT(text == "tail");
  }));
}

TEST(Codec, InflateRefusesDamage) {
  std::string bytes;
  for (std::uint64_t i = 0; i < 1000; ++i) bytes += std::to_string(random_bits(9, i));
  std::string packed = deflated(bytes);
  EXPECT_EQ(inflated(packed, bytes.size()), bytes);
  EXPECT_FALSE(inflated(packed, bytes.size() - 1));
  EXPECT_FALSE(inflated(packed, bytes.size() + 1));
  EXPECT_FALSE(inflated(packed, std::size_t{1} << 60));
  packed[packed.size() / 2] ^= 1;
  EXPECT_FALSE(inflated(packed, bytes.size()));
}

TEST(RemovePath, RemovesFoldersAndTellsWhatItCannot) {
  const TemporaryFolder folder;
  fs::create_directories(folder / "a/b");
  folder.file("a/b/c", "content");
  EXPECT_TRUE(remove_path(folder / "a"));
  EXPECT_FALSE(fs::exists(folder / "a"));
  EXPECT_TRUE(remove_path(folder / "nothing"));
  const auto kept = remove_path("/proc/self/status");
  ASSERT_FALSE(kept);
  EXPECT_EQ(kept.error().trouble, Trouble::Environment);
  EXPECT_NE(kept.error().message.find("/proc/self/status: cannot be removed"), std::string::npos)
      << kept.error().message;
}

TEST(JsonLines, AppendAndRead) {
  const TemporaryFolder folder;
  auto lines = JsonLines::create(folder / "stats.jsonl");
  ASSERT_TRUE(lines);
  for (int step = 1; step <= 3; ++step) {
    ASSERT_TRUE(lines->append({{"step", step}, {"energy", 0.1 * step}}));
    // Every line is there as soon as append returns.
    EXPECT_EQ(read_json_lines(folder / "stats.jsonl")->size(), static_cast<std::size_t>(step));
  }
  EXPECT_EQ(read_json_lines(folder / "stats.jsonl")->at(1).at("energy").get<double>(), 0.2);
}

TEST(JsonLines, ResumeCutsLaterStepsAndBrokenTails) {
  const TemporaryFolder folder;
  const fs::path path = folder.file(
      "stats.jsonl",
      "{\"about\":1}\n{\"step\":1}\n{\"step\":2}\n{\"step\":2,\"more\":0}\n{\"step\":3}\n{\"step\":4");
  {
    auto lines = JsonLines::resume(path, 2);
    ASSERT_TRUE(lines);
    ASSERT_TRUE(lines->append({{"step", 3}, {"again", true}}));
  }
  EXPECT_EQ(content(path),
            "{\"about\":1}\n{\"step\":1}\n{\"step\":2}\n{\"step\":2,\"more\":0}\n"
            "{\"again\":true,\"step\":3}\n");
  ASSERT_TRUE(JsonLines::resume(folder / "new.jsonl", 5));
  EXPECT_EQ(content(folder / "new.jsonl"), "");
}

TEST(JsonLines, ReaderDropsAnIncompleteEndAndNamesABadLine) {
  const TemporaryFolder folder;
  EXPECT_EQ(read_json_lines(folder.file("a", "{\"step\":1}\n{\"st"))->size(), 1U);
  const auto bad = read_json_lines(folder.file("b", "{}\n{]\n{}\n"));
  ASSERT_FALSE(bad);
  EXPECT_NE(bad.error().message.find("b:2:"), std::string::npos) << bad.error().message;
}

TEST(JsonLines, NumbersThatAreNotFiniteSurvive) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const TemporaryFolder folder;
  auto lines = JsonLines::create(folder / "stats.jsonl");
  ASSERT_TRUE(lines);
  const std::vector<double> values = {1.5, infinity, -infinity, std::nan(""), -0.0};
  ASSERT_TRUE(lines->append({{"step", 1}, {"deep", {{"values", values}}}}));
  const auto read = read_json_lines(folder / "stats.jsonl");
  ASSERT_TRUE(read) << read.error().message;
  const auto& list = read->at(0).at("deep").at("values");
  ASSERT_EQ(list.size(), values.size());
  for (std::size_t k = 0; k < values.size(); ++k) {
    ASSERT_FALSE(list[k].is_null()) << values[k];
    const double back = number_from(list[k]);
    EXPECT_TRUE(back == values[k] || (std::isnan(back) && std::isnan(values[k]))) << values[k];
  }
  EXPECT_TRUE(std::isnan(number_from(nullptr)));  // as older files have it
  EXPECT_THROW(number_from("infinite"), nlohmann::json::type_error);
}

TEST(JsonLines, FullDiskIsReported) {
  const TemporaryFolder folder;
  fs::create_symlink("/dev/full", folder / "stats.jsonl");
  auto lines = JsonLines::create(folder / "stats.jsonl");
  ASSERT_TRUE(lines);
  const auto appended = lines->append({{"step", 1}});
  ASSERT_FALSE(appended);
  EXPECT_EQ(appended.error().trouble, Trouble::Environment);
}

Image noise_image(int width, int height, int channels) {
  Image image{width, height, {}, channels};
  for (int i = 0; i < width * height * channels; ++i) {
    image.rgb.push_back(static_cast<std::uint8_t>(random_bits(5, static_cast<std::uint64_t>(i))));
  }
  return image;
}

TEST(Png, RoundTrip) {
  const TemporaryFolder folder;
  for (const int channels : {3, 4}) {
    const Image image = noise_image(37, 11, channels);
    ASSERT_TRUE(write_png(image, folder / "x.png"));
    const auto back = read_png(folder / "x.png");
    ASSERT_TRUE(back) << back.error().message;
    EXPECT_EQ(back->width, 37);
    EXPECT_EQ(back->height, 11);
    EXPECT_EQ(back->channels, channels);
    EXPECT_EQ(back->rgb, image.rgb);
  }
}

TEST(Png, RefusesNonsense) {
  const TemporaryFolder folder;
  EXPECT_FALSE(write_png(Image{2, 2, std::vector<std::uint8_t>(11), 3}, folder / "x.png"));
  EXPECT_FALSE(write_png(Image{-1, -1, std::vector<std::uint8_t>(3), 3}, folder / "x.png"));
  EXPECT_FALSE(write_png(Image{}, folder / "x.png"));
  EXPECT_FALSE(fs::exists(folder / "x.png"));
  EXPECT_FALSE(read_png(folder.file("text.png", "no picture")));
  ASSERT_TRUE(write_png(noise_image(40, 40, 3), folder / "y.png"));
  const std::string bytes = content(folder / "y.png");
  EXPECT_FALSE(read_png(folder.file("cut.png", bytes.substr(0, bytes.size() / 2))));
}

}  // namespace
}  // namespace lope::io
