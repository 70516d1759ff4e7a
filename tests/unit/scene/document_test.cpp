#include <lope/scene/document.h>

#include <cmath>
#include <limits>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

namespace lope::scene {
namespace {

TEST(Document, RemembersPositions) {
  const auto root = parse_toml("# a comment\n[time]\n  step = 0.5\n", "a.toml");
  ASSERT_TRUE(root) << root.error().message;
  EXPECT_EQ(to_string((*root)["time"]["step"].at), "a.toml:3:10");
  EXPECT_EQ(to_string((*root)["time"]["step"].key_at), "a.toml:3:3");
}

TEST(Document, SyntaxErrorsNameLineAndColumn) {
  const auto root = parse_toml("a = 1\nb = [1, 2\nc = 3\n", "a.toml");
  ASSERT_FALSE(root);
  EXPECT_TRUE(root.error().message.starts_with("a.toml:3:")) << root.error().message;
  EXPECT_EQ(root.error().message.find('\n'), std::string::npos);
}

TEST(Document, DatesAreRefused) {
  const auto root = parse_toml("step = 1979-05-27\n", "a.toml");
  ASSERT_FALSE(root);
  EXPECT_TRUE(root.error().message.starts_with("a.toml:1:8")) << root.error().message;
}

std::string repeated(std::string_view piece, int count) {
  return fmt::format("{}",
                     fmt::join(std::vector<std::string_view>(static_cast<std::size_t>(count), piece), ""));
}

TEST(Document, DeepNestingIsRefusedWithItsPlace) {
  const auto refusal = [](const std::string& text) {
    const auto root = parse_toml(text, "a.toml");
    return root ? "accepted" : root.error().message;
  };
  const auto expect = [&](const std::string& text, const std::string& beginning) {
    EXPECT_TRUE(refusal(text).starts_with(beginning)) << refusal(text);
  };
  expect(fmt::format("x = 1\n{}a = 1\n", repeated("a.", 30000)), "a.toml:2:64: a key of more than 32 parts");
  expect(fmt::format("[{}a]\n", repeated("a.", 50000)), "a.toml:1:65: a key of more than 32 parts");
  expect(fmt::format("[{}a]\n", repeated("\"a\" . ", 50000)), "a.toml:1:192: a key of more than 32 parts");
  expect(fmt::format("a = {}\n", repeated("[", 100000)), "a.toml:1:69: more than 64 brackets");
  expect(fmt::format("a = {}\n", repeated("{ a = ", 100000)), "a.toml:1:389: more than 64 brackets");
  expect(fmt::format("\n{} = 1\n", repeated("k", 2000)), "a.toml:2:2002: a key of more than 1000 bytes");
}

TEST(Document, DotsAndBracketsInTextAndNumbersCountForNothing) {
  const std::string dots = repeated(".", 100), brackets = repeated("[{", 100);
  const std::string text = fmt::format(
      "# {0}{1}\na = \"{0}\\\"{1}\"\nb = '{0}{1}'\nc = \"\"\"\n{0}\n\"{1}\"\"\"\nd = [{2}2.5]\nf = "
      "'''\n{1}'''\n{3}",
      dots, brackets, repeated("1.5, ", 100), repeated("[[e]]\n", 100));
  const auto root = parse_toml(text, "a.toml");
  ASSERT_TRUE(root) << root.error().message;
  EXPECT_EQ((*root)["d"].items.size(), 101U);
}

TEST(Document, MissingFileIsNamed) {
  const auto root = read_toml("no/such/scene.toml");
  ASSERT_FALSE(root);
  EXPECT_TRUE(root.error().message.starts_with("no/such/scene.toml: no such file")) << root.error().message;
  EXPECT_FALSE(read_toml("/"));
  const auto endless = read_toml("/dev/zero");
  ASSERT_FALSE(endless);
  EXPECT_TRUE(endless.error().message.starts_with("/dev/zero: more than 64 MB")) << endless.error().message;
}

TEST(Document, WhatIsWrittenReadsBack) {
  const std::string text =
      "gravity = [0.0, -9.80665, 0.1]\n\n[scene]\nname = \"a \\\"b\\\"\\n\\\\\"\n\n[[body]]\nedge = 1e-300\n"
      "shape = { box = { size = [1, 2, 3] } }\n\n[[body.handle]]\npin = true\n";
  const auto root = parse_toml(text, "a.toml");
  ASSERT_TRUE(root) << root.error().message;
  const auto again = parse_toml(write_toml(*root), "b.toml");
  ASSERT_TRUE(again) << again.error().message << "\n" << write_toml(*root);
  EXPECT_TRUE(*root == *again) << write_toml(*root);
}

TEST(Document, EveryDoubleReadsBack) {
  rc::check([](double number) {
    RC_PRE(std::isfinite(number));
    Value root = Value::table();
    root.set("x", Value::of(number));
    const auto again = parse_toml(write_toml(root), "b.toml");
    RC_ASSERT(again.has_value());
    RC_ASSERT((*again)["x"].number == number);
  });
}

}  // namespace
}  // namespace lope::scene
