#include <lope/base/errors.h>
#include <lope/io/codec.h>
#include <lope/io/file.h>
#include <lope/io/matrix_market.h>
#include <lope/io/print.h>
#include <lope/io/scanner.h>

#include <algorithm>
#include <cctype>
#include <limits>
#include <string>

#include <fmt/core.h>

namespace lope::io {
namespace {

constexpr std::size_t largest_text = std::size_t(1) << 36;

// The first line of a file: what follows it.
struct Banner {
  bool array = false;
  bool pattern = false;
  bool symmetric = false;
};

std::string lower_case(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

Banner read_banner(Scanner& in) {
  const std::string line = lower_case(in.line());
  Scanner words(in.path(), line);
  Banner banner;
  const std::size_t place = in.last();
  if (words.token() != "%%matrixmarket" || words.token() != "matrix") {
    in.fail_at(place,
               "this is not a Matrix Market file: the first line must begin with '%%MatrixMarket matrix'");
    return banner;
  }
  const std::string_view format = words.token();
  const std::string_view field = words.token();
  const std::string_view symmetry = words.token();
  if (format != "coordinate" && format != "array") {
    in.fail_at(place, "the third word of the first line must be 'coordinate' or 'array'");
  } else if (field != "real" && field != "integer" && field != "double" && field != "pattern") {
    in.fail_at(place, "numbers must be 'real', 'integer' or 'pattern'; convert other kinds first");
  } else if (symmetry != "general" && symmetry != "symmetric") {
    in.fail_at(place, "the matrix must be 'general' or 'symmetric'; convert other kinds first");
  }
  banner.array = format == "array";
  banner.pattern = field == "pattern";
  banner.symmetric = symmetry == "symmetric";
  if (banner.array && (banner.symmetric || banner.pattern)) {
    in.fail_at(place, "an 'array' must be 'real general' or 'integer general'; convert it first");
  }
  return banner;
}

// A number of rows or columns.
int read_extent(Scanner& in, std::string_view what) {
  const std::int64_t value = in.integer(what);
  if (!in.failed() && (value < 0 || value > std::numeric_limits<int>::max())) {
    in.fail(
        fmt::format("{} is {}; it must be between 0 and {}", what, value, std::numeric_limits<int>::max()));
  }
  return in.failed() ? 0 : static_cast<int>(value);
}

void read_array(Scanner& in, MatrixEntries& matrix) {
  const std::int64_t count = std::int64_t(matrix.rows) * matrix.columns;
  const std::size_t size = in.check_count(count, "the number of entries", 2);
  matrix.row.reserve(size);
  matrix.column.reserve(size);
  matrix.value.reserve(size);
  for (int column = 0; column < matrix.columns; ++column) {
    for (int row = 0; row < matrix.rows && !in.failed(); ++row) {
      matrix.value.push_back(in.coordinate("an entry"));
      matrix.row.push_back(row);
      matrix.column.push_back(column);
    }
  }
}

void read_coordinates(Scanner& in, const Banner& banner, MatrixEntries& matrix) {
  const std::size_t size = in.count("the number of entries", banner.pattern ? 4 : 6);
  const std::size_t capacity = banner.symmetric ? 2 * size : size;
  matrix.row.reserve(capacity);
  matrix.column.reserve(capacity);
  matrix.value.reserve(capacity);
  for (std::size_t k = 0; k < size && !in.failed(); ++k) {
    const int row = in.index("the row of an entry", static_cast<std::size_t>(matrix.rows), 1);
    const int column = in.index("the column of an entry", static_cast<std::size_t>(matrix.columns), 1);
    if (!in.failed() && banner.symmetric && column > row) {
      in.fail("this entry is above the diagonal; a symmetric file lists the lower triangle only");
    }
    const double value = banner.pattern ? 1.0 : in.coordinate("the value of an entry");
    const auto add = [&](int i, int j) {
      matrix.row.push_back(i);
      matrix.column.push_back(j);
      matrix.value.push_back(value);
    };
    add(row, column);
    if (banner.symmetric && row != column) add(column, row);
  }
}

Expected<MatrixEntries> parse(const std::filesystem::path& path, std::string_view text) {
  Scanner in(path.string(), text);
  const Banner banner = read_banner(in);
  in.set_comment_mark('%');
  MatrixEntries matrix;
  matrix.rows = read_extent(in, "the number of rows");
  matrix.columns = read_extent(in, "the number of columns");
  if (!in.failed() && banner.symmetric && matrix.rows != matrix.columns) {
    in.fail(
        fmt::format("a symmetric matrix of {} rows and {} columns cannot be", matrix.rows, matrix.columns));
  }
  if (banner.array) {
    read_array(in, matrix);
  } else {
    read_coordinates(in, banner, matrix);
  }
  if (!in.failed() && !in.at_end()) {
    in.token();
    in.fail("there is more in the file than its size line announces");
  }
  if (in.failed()) return in.error();
  return matrix;
}

void print_comment(std::string& out, std::string_view comment) {
  while (!comment.empty()) {
    const std::size_t end = std::min(comment.find('\n'), comment.size());
    print(out, "% ", comment.substr(0, end), '\n');
    comment.remove_prefix(std::min(end + 1, comment.size()));
  }
}

Expected<void> write_text(const std::filesystem::path& path, const std::string& text) {
  return path.extension() == ".gz" ? write_file(path, gzipped(text)) : write_file(path, text);
}

}  // namespace

Expected<MatrixEntries> read_matrix_market(const std::filesystem::path& path) {
  Expected<std::string> bytes = read_file(path);
  if (!bytes) return forward_error(bytes);
  if (!is_gzip(*bytes)) return parse(path, *bytes);
  std::optional<std::string> text = gunzipped(*bytes, largest_text);
  if (!text)
    return input_error("{}: the compressed data is damaged or ends early; copy the file again",
                       path.string());
  bytes->clear();
  bytes->shrink_to_fit();
  return parse(path, *text);
}

Expected<std::vector<double>> read_matrix_market_vector(const std::filesystem::path& path) {
  const Expected<MatrixEntries> matrix = read_matrix_market(path);
  if (!matrix) return forward_error(matrix);
  if (matrix->columns != 1 && matrix->rows != 1) {
    return input_error("{}: a vector is wanted, but this is a matrix of {} rows and {} columns",
                       path.string(), matrix->rows, matrix->columns);
  }
  std::vector<double> values(static_cast<std::size_t>(std::max(matrix->rows, matrix->columns)), 0.0);
  if (matrix->rows == 0 || matrix->columns == 0) values.clear();
  for (std::size_t k = 0; k < matrix->value.size(); ++k) {
    values[static_cast<std::size_t>(matrix->row[k] + matrix->column[k])] += matrix->value[k];
  }
  return values;
}

Expected<void> write_matrix_market(const std::filesystem::path& path, const MatrixEntries& matrix,
                                   Symmetry symmetry, std::string_view comment) {
  const bool symmetric = symmetry == Symmetry::Symmetric;
  const auto written = [&](std::size_t k) { return !symmetric || matrix.column[k] <= matrix.row[k]; };
  std::size_t count = 0;
  for (std::size_t k = 0; k < matrix.value.size(); ++k) count += written(k);
  std::string out;
  print(out, "%%MatrixMarket matrix coordinate real ", symmetric ? "symmetric" : "general", '\n');
  print_comment(out, comment);
  print(out, matrix.rows, ' ', matrix.columns, ' ', count, '\n');
  for (std::size_t k = 0; k < matrix.value.size(); ++k) {
    if (written(k)) print(out, matrix.row[k] + 1, ' ', matrix.column[k] + 1, ' ', matrix.value[k], '\n');
  }
  return write_text(path, out);
}

Expected<void> write_matrix_market_vector(const std::filesystem::path& path, std::span<const double> values,
                                          std::string_view comment) {
  std::string out = "%%MatrixMarket matrix array real general\n";
  print_comment(out, comment);
  print(out, values.size(), " 1\n");
  for (const double value : values) print(out, value, '\n');
  return write_text(path, out);
}

}  // namespace lope::io
