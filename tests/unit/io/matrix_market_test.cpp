#include <lope/io/codec.h>
#include <lope/io/matrix_market.h>

#include <rapidcheck.h>
#include <unit/io/samples.h>

namespace lope::io {
namespace {

std::string message(const TemporaryFolder& folder, std::string_view text) {
  const auto read = read_matrix_market(folder.file("m.mtx", text));
  return read ? "<read>" : read.error().message;
}

void expect_refused(const TemporaryFolder& folder, std::string_view text,
                    std::vector<std::string_view> pieces) {
  const std::string words = message(folder, text);
  for (const std::string_view piece : pieces)
    EXPECT_NE(words.find(piece), std::string::npos) << words << "\nlacks " << piece;
}

TEST(MatrixMarket, ReadsSymmetricCoordinatesWithBothHalves) {
  const TemporaryFolder folder;
  const auto read =
      read_matrix_market(folder.file("m.mtx",
                                     "%%MatrixMarket matrix coordinate real symmetric\n% a comment\n\n"
                                     "3 3 4\n1 1 2.5\n2 1 -1e0\n2 2 +2\n3 3 1 % the last\n"));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->rows, 3);
  EXPECT_EQ(read->row, (std::vector<int>{0, 1, 0, 1, 2}));
  EXPECT_EQ(read->column, (std::vector<int>{0, 0, 1, 1, 2}));
  EXPECT_EQ(read->value, (std::vector<double>{2.5, -1, -1, 2, 1}));
}

TEST(MatrixMarket, ReadsArraysByColumnsAndPatterns) {
  const TemporaryFolder folder;
  const auto array = read_matrix_market(
      folder.file("a.mtx", "%%MatrixMarket matrix array integer general\n2 2\n1\n2\n3\n4\n"));
  ASSERT_TRUE(array) << array.error().message;
  EXPECT_EQ(array->row, (std::vector<int>{0, 1, 0, 1}));
  EXPECT_EQ(array->column, (std::vector<int>{0, 0, 1, 1}));
  EXPECT_EQ(array->value, (std::vector<double>{1, 2, 3, 4}));
  const auto flags = read_matrix_market_vector(
      folder.file("f.mtx", "%%MATRIXMARKET MATRIX COORDINATE PATTERN GENERAL\n4 1 2\n2 1\n4 1\n"));
  ASSERT_TRUE(flags) << flags.error().message;
  EXPECT_EQ(*flags, (std::vector<double>{0, 1, 0, 1}));
  EXPECT_FALSE(read_matrix_market_vector(folder / "a.mtx"));
}

TEST(MatrixMarket, NamesTheLineOfWhatIsWrong) {
  const TemporaryFolder folder;
  const std::string head = "%%MatrixMarket matrix coordinate real general\n";
  expect_refused(folder, "", {"m.mtx:1", "not a Matrix Market file"});
  expect_refused(folder, "1 2 3\n", {"m.mtx:1", "%%MatrixMarket"});
  expect_refused(folder, "%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 0 0\n",
                 {"m.mtx:1", "real"});
  expect_refused(folder, "%%MatrixMarket matrix coordinate real hermitian\n", {"m.mtx:1", "symmetric"});
  expect_refused(folder, "%%MatrixMarket matrix array real symmetric\n", {"m.mtx:1", "general"});
  expect_refused(folder, head + "2 2 2\n1 1 1\n3 1 1\n", {"m.mtx:4", "row"});
  expect_refused(folder, head + "2 2 2\n1 1 1\n1 0 1\n", {"m.mtx:4", "column"});
  expect_refused(folder, head + "2 2 1\n1 1 nan\n", {"m.mtx:3", "finite"});
  expect_refused(folder, head + "2 2 1\n1 1 x\n", {"m.mtx:3", "'x'"});
  expect_refused(folder, head + "2 2 2\n1 1 1.0000\n", {"truncated"});
  expect_refused(folder, head + "2 2 900000000000\n1 1 1\n", {"m.mtx:2"});
  expect_refused(folder, head + "-2 2 1\n1 1 1\n", {"m.mtx:2", "rows"});
  expect_refused(folder, head + "2 2 1\n1 1 1\n2 2 1\n", {"m.mtx:4", "more"});
  expect_refused(folder, "%%MatrixMarket matrix coordinate real symmetric\n2 2 1\n1 2 1\n",
                 {"m.mtx:3", "above the diagonal"});
  expect_refused(folder, "%%MatrixMarket matrix coordinate real symmetric\n2 3 1\n1 2 1\n",
                 {"m.mtx:2", "symmetric"});
  const auto missing = read_matrix_market(folder / "nothing.mtx");
  ASSERT_FALSE(missing);
  EXPECT_NE(missing.error().message.find("nothing.mtx: no such file"), std::string::npos);
}

TEST(MatrixMarket, RefusesDamagedCompression) {
  const TemporaryFolder folder;
  std::string bytes = gzipped("%%MatrixMarket matrix array real general\n1 1\n5\n");
  for (const std::size_t length : {std::size_t(2), std::size_t(10), bytes.size() - 1}) {
    const auto read = read_matrix_market(folder.file("cut.mtx.gz", bytes.substr(0, length)));
    ASSERT_FALSE(read) << length;
    EXPECT_NE(read.error().message.find("cut.mtx.gz"), std::string::npos);
  }
  bytes[bytes.size() - 6] ^= 1;  // in the checksum
  EXPECT_FALSE(read_matrix_market(folder.file("bad.mtx.gz", bytes)));
}

TEST(MatrixMarket, CompressedFilesOfSeveralMembersAreOneText) {
  const std::string text = gzipped("first ") + gzipped(std::string(3000000, 'x'));
  EXPECT_EQ(gunzipped(text, 1 << 30), "first " + std::string(3000000, 'x'));
  EXPECT_FALSE(gunzipped(text, 1000));
}

TEST(MatrixMarket, WritesWhatItReadsBack) {
  const TemporaryFolder folder;
  const bool survive = rc::check("matrices and vectors survive", [&] {
    const int rows = *rc::gen::inRange(1, 12), columns = *rc::gen::inRange(1, 12);
    MatrixEntries matrix{rows, columns, {}, {}, {}};
    const int count = *rc::gen::inRange(0, 30);
    for (int k = 0; k < count; ++k) {
      matrix.row.push_back(*rc::gen::inRange(0, rows));
      matrix.column.push_back(*rc::gen::inRange(0, columns));
      const double value = *rc::gen::arbitrary<double>();
      matrix.value.push_back(std::isfinite(value) ? value : 1.0 / 3);
    }
    const auto path = folder / (*rc::gen::arbitrary<bool>() ? "m.mtx" : "m.mtx.gz");
    RC_ASSERT(write_matrix_market(path, matrix, Symmetry::General, "two\nlines").has_value());
    const auto read = read_matrix_market(path);
    RC_ASSERT(read.has_value());
    RC_ASSERT(read->rows == rows && read->columns == columns);
    RC_ASSERT(read->row == matrix.row && read->column == matrix.column && read->value == matrix.value);
    RC_ASSERT(write_matrix_market_vector(path, matrix.value).has_value());
    const auto values = read_matrix_market_vector(path);
    RC_ASSERT(values.has_value());
    RC_ASSERT(*values == matrix.value);
  });
  EXPECT_TRUE(survive);
}

TEST(MatrixMarket, WritesHalfOfASymmetricMatrix) {
  const TemporaryFolder folder;
  const MatrixEntries matrix{2, 2, {0, 0, 1, 1}, {0, 1, 0, 1}, {2, -1, -1, 2}};
  ASSERT_TRUE(write_matrix_market(folder / "s.mtx", matrix, Symmetry::Symmetric));
  EXPECT_NE(read_file(folder / "s.mtx")->find("2 2 3\n"), std::string::npos);
  const auto read = read_matrix_market(folder / "s.mtx");
  ASSERT_TRUE(read);
  EXPECT_EQ(read->value.size(), 4u);
}

}  // namespace
}  // namespace lope::io
