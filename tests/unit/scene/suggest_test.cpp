#include <lope/scene/suggest.h>

#include <gtest/gtest.h>
#include <rapidcheck.h>

namespace lope::scene {
namespace {

TEST(EditDistance, CountsEdits) {
  EXPECT_EQ(edit_distance("", ""), 0);
  EXPECT_EQ(edit_distance("young", "young"), 0);
  EXPECT_EQ(edit_distance("", "abc"), 3);
  EXPECT_EQ(edit_distance("yuong", "young"), 1);  // a swap
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3);
}

TEST(EditDistance, IsSymmetricAndBounded) {
  rc::check([](const std::string& a, const std::string& b) {
    const int distance = edit_distance(a, b);
    RC_ASSERT(distance == edit_distance(b, a));
    RC_ASSERT(distance <= static_cast<int>(std::max(a.size(), b.size())));
    RC_ASSERT(distance >= std::abs(static_cast<int>(a.size()) - static_cast<int>(b.size())));
    RC_ASSERT((distance == 0) == (a == b));
  });
}

TEST(EditDistance, OneEditIsAtMostOneAway) {
  rc::check([](std::string word, char extra) {
    const std::size_t at = word.empty() ? 0 : *rc::gen::inRange<std::size_t>(0, word.size());
    const std::string longer = std::string(word).insert(at, 1, extra);
    RC_ASSERT(edit_distance(word, longer) == 1);
  });
}

TEST(Suggestion, FindsTyposOnly) {
  const std::vector<std::string> words{"steel", "rubber", "soft-rubber", "wood"};
  EXPECT_EQ(nearest_word("ruber", words), "rubber");
  EXPECT_EQ(nearest_word("Steel", words), "steel");
  EXPECT_EQ(nearest_word("granite", words), std::nullopt);
  EXPECT_EQ(did_you_mean("wod", words), "; did you mean 'wood'?");
  EXPECT_EQ(did_you_mean("x", {"y"}), "");
}

}  // namespace
}  // namespace lope::scene
