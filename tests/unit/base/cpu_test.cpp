#include <lope/base/cpu.h>

#include <gtest/gtest.h>

namespace lope {
namespace {

TEST(Cpu, EverySupportedSetIsFoundByItsName) {
  ASSERT_FALSE(supported_isas().empty());
  EXPECT_EQ(supported_isas().front(), Isa::Baseline);
  for (const Isa isa : supported_isas()) {
    const auto found = isa_named(name(isa));
    ASSERT_TRUE(found) << found.error().message;
    EXPECT_EQ(*found, isa);
  }
}

TEST(Cpu, RefusesNamesThatMeanNothing) {
  for (const char* wrong : {"", "AVX2", "avx", "avx1024"}) {
    const auto found = isa_named(wrong);
    ASSERT_FALSE(found) << wrong;
    EXPECT_NE(found.error().message.find("avx512"), std::string::npos) << found.error().message;
  }
}

TEST(Cpu, RefusesWhatTheProcessorLacks) {
  for (const Isa isa : {Isa::Avx2, Isa::Avx512})
    EXPECT_EQ(isa_named(name(isa)).has_value(), cpu_supports(isa));
}

TEST(Cpu, SelectsWhatItIsTold) {
  const Isa before = selected_isa();
  EXPECT_TRUE(cpu_supports(before));
  for (const Isa isa : supported_isas()) {
    select_isa(isa);
    EXPECT_EQ(selected_isa(), isa);
  }
  select_isa(before);
}

}  // namespace
}  // namespace lope
