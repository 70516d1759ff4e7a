#include <lope/base/process.h>
#include <lope/render/movie.h>

#include <cmath>

#include "scratch_folder.h"
#include <gtest/gtest.h>

namespace lope::render {
namespace {

class MovieFile : public ScratchFolder {
 protected:
  std::filesystem::path path() const { return folder_ / "a movie.mp4"; }
};

Image frame(int width, int height, int number) {
  Image image{width, height, {}};
  for (int i = 0; i < width * height; ++i) {
    for (const int c : {number * 9, i % width, i / width}) image.rgb.push_back(static_cast<std::uint8_t>(c));
  }
  return image;
}

// Runs a program that must end well; its exit code is the verdict.
Expected<void> run(const std::string& program, const std::vector<std::string>& arguments) {
  auto started = PipedProgram::start(program, arguments);
  if (!started) return forward_error(started);
  return started->finish();
}

TEST_F(MovieFile, CanBeDecodedAndHasEveryFrame) {
  constexpr int frames = 12;
  auto movie = Movie::create(path(), 65, 47);  // odd on purpose
  ASSERT_TRUE(movie.has_value()) << movie.error().message;
  for (int i = 0; i < frames; ++i) ASSERT_TRUE(movie->add(frame(65, 47, i)));
  EXPECT_FALSE(std::filesystem::exists(path())) << "appears only when finished";
  const auto finished = movie->finish();
  ASSERT_TRUE(finished.has_value()) << finished.error().message;
  EXPECT_EQ(file_count(), 1u);

  // Decode to raw pixels, where sizes and frames can be counted.
  const std::filesystem::path raw = folder_ / "frames.rgb";
  const auto decoded = run(
      "ffmpeg", {"-v", "error", "-i", path().string(), "-f", "rawvideo", "-pix_fmt", "rgb24", raw.string()});
  ASSERT_TRUE(decoded.has_value()) << decoded.error().message;
  EXPECT_EQ(std::filesystem::file_size(raw), std::uintmax_t{frames} * 66 * 48 * 3);
}

TEST_F(MovieFile, LeavesNothingWhenAbandoned) {
  {
    auto movie = Movie::create(path(), 32, 32);
    ASSERT_TRUE(movie.has_value());
    ASSERT_TRUE(movie->add(frame(32, 32, 1)));
  }
  EXPECT_EQ(file_count(), 0u);
}

TEST_F(MovieFile, WithoutTheProgramSaysSo) {
  MovieOptions options;
  options.program = "no-such-program-as-this";
  const auto movie = Movie::create(path(), 32, 32, options);
  ASSERT_FALSE(movie.has_value());
  EXPECT_EQ(movie.error().trouble, Trouble::Environment);
  EXPECT_NE(movie.error().message.find("no-such-program-as-this"), std::string::npos);
}

TEST_F(MovieFile, APlaceThatCannotBeWrittenIsAnEnvironmentError) {
  auto movie = Movie::create(folder_ / "missing" / "x.mp4", 32, 32);
  ASSERT_TRUE(movie.has_value());
  Expected<void> result = {};
  for (int i = 0; i < 400 && result; ++i) result = movie->add(frame(32, 32, i));
  if (result) result = movie->finish();
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().trouble, Trouble::Environment);
  EXPECT_NE(result.error().message.find("No such file"), std::string::npos) << result.error().message;
}

TEST_F(MovieFile, FramesOfAnotherSizeAndNoFramesAreInputErrors) {
  auto movie = Movie::create(path(), 32, 32);
  ASSERT_TRUE(movie.has_value());
  EXPECT_EQ(movie->add(frame(30, 32, 0)).error().trouble, Trouble::Input);
  EXPECT_FALSE(movie->finish().has_value());
  EXPECT_FALSE(Movie::create(path(), 0, 32).has_value());
}

TEST(PipedProgramRun, ReportsExitCodesAndWords) {
  EXPECT_TRUE(run("true", {}).has_value());
  const auto failed = run("sh", {"-c", "echo the reason >&2; exit 7"});
  ASSERT_FALSE(failed.has_value());
  EXPECT_NE(failed.error().message.find("exit code 7"), std::string::npos);
  EXPECT_NE(failed.error().message.find("the reason"), std::string::npos);
}

TEST(PipedProgramRun, ArgumentsReachTheProgramUntouched) {
  EXPECT_TRUE(run("test", {"a b;$(exit 1) 'c'", "=", "a b;$(exit 1) 'c'"}).has_value());
}

TEST(PipedProgramRun, AProgramThatStopsReadingIsAnErrorAndNoSignal) {
  auto program = PipedProgram::start("false", {});
  ASSERT_TRUE(program.has_value());
  const std::vector<std::uint8_t> bytes(1 << 20, 0);
  const auto written = program->write(bytes);
  ASSERT_FALSE(written.has_value());
  EXPECT_EQ(written.error().trouble, Trouble::Environment);
}

}  // namespace
}  // namespace lope::render
