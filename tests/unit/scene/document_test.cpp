#include <lope/scene/document.h>

#include <cmath>
#include <limits>

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

TEST(Document, MissingFileIsNamed) {
  const auto root = read_toml("no/such/scene.toml");
  ASSERT_FALSE(root);
  EXPECT_TRUE(root.error().message.starts_with("no/such/scene.toml: no such file")) << root.error().message;
  EXPECT_FALSE(read_toml("/"));
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
