#include <lope/base/memory.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace lope {
namespace {

namespace fs = std::filesystem;

// A root folder with files of the kernel.
class Root {
 public:
  Root() : path_(fs::path(testing::TempDir()) / ("lope_groups_" + std::to_string(std::random_device()()))) {}
  ~Root() { fs::remove_all(path_); }
  Root(const Root&) = delete;
  Root& operator=(const Root&) = delete;

  void write(const fs::path& file, const std::string& text) const {
    fs::create_directories((path_ / file).parent_path());
    std::ofstream(path_ / file) << text;
  }
  GroupMemory memory() const { return group_memory(path_); }

 private:
  fs::path path_;
};

void expect_unlimited(const GroupMemory& memory) {
  EXPECT_EQ(memory.limit, std::numeric_limits<double>::infinity());
  EXPECT_EQ(memory.available, std::numeric_limits<double>::infinity());
}

TEST(GroupMemory, IsUnlimitedWithoutGroups) {
  const Root root;
  expect_unlimited(root.memory());
  root.write("proc/self/cgroup", "0::/a\nnonsense\n");
  root.write("sys/fs/cgroup/a/memory.max", "max\n");
  root.write("sys/fs/cgroup/b/memory.max", "1000\n");  // of others
  expect_unlimited(root.memory());
}

TEST(GroupMemory, OfVersion2IsTheLeastOfNestedGroups) {
  const Root root;
  root.write("proc/self/cgroup", "0::/slice/job/step\n");
  root.write("sys/fs/cgroup/slice/memory.max", "8000\n");
  root.write("sys/fs/cgroup/slice/memory.current", "7500\n");
  root.write("sys/fs/cgroup/slice/memory.stat", "anon 7000\nfile 500\ninactive_file 300\nactive_file 200\n");
  root.write("sys/fs/cgroup/slice/job/memory.max", "2000\n");
  root.write("sys/fs/cgroup/slice/job/memory.current", "100\n");
  root.write("sys/fs/cgroup/slice/job/step/memory.max", "max\n");
  EXPECT_EQ(root.memory().limit, 2000);
  EXPECT_EQ(root.memory().available, 8000 - (7500 - 300));
}

TEST(GroupMemory, OfAContainerIsAtTheMount) {
  const Root root;
  for (const char* path : {"0::/\n", "0::/docker/of/the/host\n", "0::/../elsewhere\n"}) {
    root.write("proc/self/cgroup", path);
    root.write("sys/fs/cgroup/memory.max", "4000\n");
    root.write("sys/fs/cgroup/memory.current", "1000\n");
    EXPECT_EQ(root.memory().limit, 4000) << path;
    EXPECT_EQ(root.memory().available, 3000) << path;
  }
}

TEST(GroupMemory, OfVersion1HasItsOwnNames) {
  const Root root;
  root.write("proc/self/cgroup", "12:cpuset:/other\n4:blkio,memory:/batch/job\n1:name=systemd:/x\n0::/y\n");
  root.write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");  // no limit
  root.write("sys/fs/cgroup/memory/batch/memory.limit_in_bytes", "5000\n");
  root.write("sys/fs/cgroup/memory/batch/memory.usage_in_bytes", "4000\n");
  root.write("sys/fs/cgroup/memory/batch/memory.stat", "inactive_file 1\ntotal_inactive_file 500\n");
  root.write("sys/fs/cgroup/memory/batch/job/memory.limit_in_bytes", "6000\n");
  EXPECT_EQ(root.memory().limit, 5000);
  EXPECT_EQ(root.memory().available, 1500);
  root.write("sys/fs/cgroup/unified/y/memory.max", "700\n");
  EXPECT_EQ(root.memory().limit, 700);
}

TEST(Memory, ThePeakGrowsByWhatIsTouched) {
  const double before = peak_memory();
  constexpr std::size_t size = 200'000'000;
  const std::vector<char> touched(size, 1);
  const volatile char* seen = touched.data();  // or a compiler may do without the memory
  EXPECT_GE(peak_memory(), before);
  EXPECT_GE(peak_memory(), static_cast<double>(size));
  EXPECT_EQ(seen[size / 2], 1);
}

#ifdef __linux__  // elsewhere it is not told
TEST(Memory, SomeIsAvailableButNotWithoutBound) {
  EXPECT_GT(available_memory(), 1e6);
  EXPECT_LE(available_memory(), total_memory());
  EXPECT_LT(total_memory(), 1e15);
}
#endif

}  // namespace
}  // namespace lope
