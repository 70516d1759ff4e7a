#include <lope/base/process.h>

#include <chrono>
#include <csignal>
#include <thread>

#include <gtest/gtest.h>
#include <unistd.h>

namespace lope {
namespace {

// The exit code, when it is there; −1 after ten seconds.
int wait_for(BackgroundProgram& program) {
  for (int i = 0; i < 1000; ++i) {
    if (const auto code = program.ended()) return *code;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return -1;
}

void wait_for_words(const BackgroundProgram& program, const std::string& words) {
  for (int i = 0; i < 1000 && program.last_words() != words; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_EQ(program.last_words(), words);
}

BackgroundProgram shell(const std::string& script) {
  auto program = BackgroundProgram::start("sh", {"-c", script});
  if (!program) throw std::runtime_error(program.error().message);
  return std::move(*program);
}

TEST(BackgroundProgram, ItsEndAndItsLastWordsAreKnown) {
  BackgroundProgram program = shell("echo one; echo two >&2; exit 7");
  EXPECT_EQ(wait_for(program), 7);
  EXPECT_EQ(program.last_words(), "one\ntwo");
  EXPECT_EQ(program.ended(), 7);
  program.interrupt();  // nothing is left that could be interrupted

  const auto none = BackgroundProgram::start("/no/such/program", {});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().trouble, Trouble::Environment);
}

TEST(BackgroundProgram, ItGoesOnUntilItIsInterrupted) {
  BackgroundProgram program = shell(
      "trap 'echo saved' USR1; trap 'echo stopped; trap \"exit 131\" INT; sleep 0.2; exit 130' INT; echo "
      "ready; while :; do sleep 0.02; done");
  wait_for_words(program, "ready");
  EXPECT_FALSE(program.ended());
  program.ask_to_save();
  wait_for_words(program, "ready\nsaved");
  EXPECT_FALSE(program.ended());
  program.interrupt();
  program.interrupt();
  EXPECT_EQ(wait_for(program), 130);
  EXPECT_EQ(program.last_words(), "ready\nsaved\nstopped");
}

TEST(BackgroundProgram, ASignalThatEndsItIsTold) {
  BackgroundProgram program = shell("kill -TERM $$");
  EXPECT_EQ(wait_for(program), 128 + SIGTERM);
}

TEST(BackgroundProgram, IsInAGroupOfItsOwnAndEndsWithItsOwner) {
  pid_t child = 0;
  {
    BackgroundProgram program = shell("trap 'exit 0' INT; echo $$; while :; do sleep 0.02; done");
    for (int i = 0; i < 1000 && program.last_words().empty(); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    ASSERT_FALSE(program.last_words().empty());
    child = std::stoi(program.last_words());
    EXPECT_EQ(::getpgid(child), child);
  }
  EXPECT_NE(::kill(child, 0), 0) << "the program still runs";
}

TEST(ReadProgram, GivesAllThatWasPrinted) {
  const auto numbers = read_program("sh", {"-c", "seq 20000; echo aside >&2"});
  ASSERT_TRUE(numbers) << numbers.error().message;
  EXPECT_EQ(numbers->size(), 108894U);  // more than a pipe holds
  EXPECT_TRUE(numbers->starts_with("1\n2\n"));
  EXPECT_TRUE(numbers->ends_with("19999\n20000\n"));
  EXPECT_EQ(read_program("cat", {}), "");  // nothing to read
}

TEST(ReadProgram, FailuresAreErrors) {
  for (const auto& failed : {read_program("sh", {"-c", "echo half; exit 3"}), read_program("sh", {"-c", "kill -9 $$"}),
                             read_program("/no/such/program", {})}) {
    ASSERT_FALSE(failed);
    EXPECT_EQ(failed.error().trouble, Trouble::Environment);
  }
}

}  // namespace
}  // namespace lope
