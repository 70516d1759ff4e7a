// VTU: text, inline base64 and appended data (raw or base64), zlib-compressed or not, either byte order, 32-
// or 64-bit headers, several pieces (VTK user's guide, "XML file formats"). A cell array "region" becomes
// Mesh::region.
#include <lope/io/codec.h>
#include <lope/io/formats.h>
#include <lope/io/xml.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/core.h>

namespace lope::io {
namespace {

// One DataArray tag, and its text where it has any.
struct Array {
  XmlTag tag;
  std::string_view text;
};

// The arrays of one piece that a mesh is made of.
struct Piece {
  std::size_t place = 0;
  std::size_t points = 0, cells = 0;
  std::optional<Array> positions, connectivity, offsets, types, region;
};

class VtuReader {
 public:
  explicit VtuReader(Scanner& in) : in_(in), cells_(mesh_) {}

  Expected<geometry::Mesh> read() {
    read_structure();
    bool all_regions = !pieces_.empty();
    std::vector<double> regions;
    for (const Piece& piece : pieces_) {
      if (in_.failed()) break;
      read_piece(piece);
      all_regions = all_regions && piece.region;
      if (!all_regions) continue;
      const std::vector<double> values = decode<double>(*piece.region, piece.cells, "regions");
      regions.insert(regions.end(), values.begin(), values.end());
    }
    if (in_.failed()) return in_.error();
    warn_left_out(in_.path(), cells_.left_out(), "cells other than polygons and linear tetrahedra");
    if (all_regions) cells_.set_regions(regions);
    return std::move(mesh_);
  }

 private:
  void read_structure() {
    std::string section;
    bool known = false;
    for (XmlTag tag = next_tag(in_); !tag.name.empty() && !in_.failed(); tag = next_tag(in_)) {
      if (!tag.opens) continue;
      if (tag.name == "VTKFile") {
        known = true;
        read_file_tag(tag);
      } else if (!known) {
        in_.fail_at(tag.place, "a VTU file begins with <VTKFile type=\"UnstructuredGrid\" ...>");
      } else if (tag.name == "Piece") {
        Piece piece;
        piece.place = tag.place;
        piece.points = size_attribute(tag, "NumberOfPoints");
        piece.cells = size_attribute(tag, "NumberOfCells");
        pieces_.push_back(std::move(piece));
      } else if (tag.name == "AppendedData") {
        find_appended(tag);
        return;
      } else if (tag.name == "DataArray") {
        Array array{tag, {}};
        if (!tag.closes) array.text = take_text(in_);
        keep(section, array);
      } else {
        section = tag.name;
      }
    }
    if (!in_.failed() && pieces_.empty()) {
      in_.fail_at(in_.bytes().size(), "the file has no <Piece>; it is truncated or holds no mesh");
    }
  }

  void read_file_tag(const XmlTag& tag) {
    if (tag.attribute("type") != "UnstructuredGrid") {
      in_.fail_at(tag.place, "the VTK file must be of type UnstructuredGrid; convert it");
    }
    big_endian_ = tag.attribute("byte_order", "LittleEndian") == "BigEndian";
    const std::string_view header = tag.attribute("header_type", "UInt32");
    header_size_ = header == "UInt64" ? 8 : 4;
    if (header != "UInt64" && header != "UInt32")
      in_.fail_at(tag.place, "header_type must be UInt32 or UInt64");
    const std::string_view compressor = tag.attribute("compressor");
    compressed_ = !compressor.empty();
    if (compressed_ && compressor != "vtkZLibDataCompressor") {
      in_.fail_at(tag.place,
                  "the file is compressed by a method other than zlib; save it with zlib or uncompressed");
    }
  }

  std::size_t size_attribute(const XmlTag& tag, std::string_view key) {
    const std::string_view text = tag.attribute(key);
    std::uint64_t value = 0;
    const auto [stop, code] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool whole = code == std::errc() && stop == text.data() + text.size();
    if (!whole || value > static_cast<std::uint64_t>(std::numeric_limits<int>::max())) {
      in_.fail_at(tag.place, fmt::format("{} must be a count, not '{}'", key, text.substr(0, 24)));
      return 0;
    }
    return value;
  }

  void keep(const std::string& section, const Array& array) {
    if (pieces_.empty()) return;
    Piece& piece = pieces_.back();
    const std::string_view name = array.tag.attribute("Name");
    if (section == "Points") piece.positions = array;
    if (section == "Cells" && name == "connectivity") piece.connectivity = array;
    if (section == "Cells" && name == "offsets") piece.offsets = array;
    if (section == "Cells" && name == "types") piece.types = array;
    if (section == "CellData" && name == "region") piece.region = array;
  }

  void find_appended(const XmlTag& tag) {
    const std::string_view encoding = tag.attribute("encoding", "base64");
    appended_raw_ = encoding == "raw";
    if (!appended_raw_ && encoding != "base64") in_.fail_at(tag.place, "appended data must be raw or base64");
    const std::size_t mark = in_.bytes().find('_', in_.position());
    if (mark == std::string_view::npos) {
      in_.fail_at(tag.place, "the appended data is missing; the file is truncated");
      return;
    }
    appended_ = in_.bytes().substr(mark + 1);
  }

  void read_piece(const Piece& piece) {
    if (!piece.positions || !piece.connectivity || !piece.offsets || !piece.types) {
      in_.fail_at(piece.place, "this piece lacks points, connectivity, offsets or types");
      return;
    }
    const std::size_t base = mesh_.vertices.size();
    const auto positions = decode<double>(*piece.positions, 3 * piece.points, "coordinates");
    const auto offsets = decode<std::int64_t>(*piece.offsets, piece.cells, "offsets");
    const auto types = decode<std::int64_t>(*piece.types, piece.cells, "cell types");
    const std::int64_t total = offsets.empty() ? 0 : offsets.back();
    if (!in_.failed() && (total < 0 || static_cast<std::uint64_t>(total) > in_.bytes().size() * 1032)) {
      in_.fail_at(piece.offsets->tag.place, "the last offset cannot be right; the file is damaged");
    }
    if (in_.failed()) return;
    const auto nodes =
        decode<std::int64_t>(*piece.connectivity, static_cast<std::size_t>(total), "points of cells");
    if (in_.failed()) return;
    for (std::size_t i = 0; i < positions.size(); ++i) {
      if (std::isfinite(positions[i])) continue;
      in_.fail_at(piece.positions->tag.place,
                  fmt::format("a coordinate of point {} is {}; coordinates must be finite numbers", i / 3,
                              positions[i]));
      return;
    }
    if (base + piece.points > static_cast<std::size_t>(std::numeric_limits<int>::max())) {
      in_.fail_at(piece.place, "the file has more points than can be numbered");
      return;
    }
    for (std::size_t i = 0; i < piece.points; ++i) {
      mesh_.vertices.emplace_back(positions[3 * i], positions[3 * i + 1], positions[3 * i + 2]);
    }
    add_cells(piece, base, offsets, types, nodes);
  }

  void add_cells(const Piece& piece, std::size_t base, const std::vector<std::int64_t>& offsets,
                 const std::vector<std::int64_t>& types, const std::vector<std::int64_t>& nodes) {
    std::vector<int> corners;
    std::int64_t begin = 0;
    for (std::size_t i = 0; i < offsets.size(); ++i) {
      const std::int64_t end = offsets[i];
      if (end < begin || end > static_cast<std::int64_t>(nodes.size())) {
        in_.fail_at(piece.offsets->tag.place, fmt::format("the offset of cell {} is damaged", i));
        return;
      }
      corners.clear();
      for (; begin < end; ++begin) {
        const std::int64_t node = nodes[static_cast<std::size_t>(begin)];
        if (node < 0 || node >= static_cast<std::int64_t>(piece.points)) {
          in_.fail_at(piece.connectivity->tag.place,
                      fmt::format("cell {} uses point {}, but there are {} points", i, node, piece.points));
          return;
        }
        corners.push_back(static_cast<int>(base + static_cast<std::size_t>(node)));
      }
      if (cells_.add(static_cast<int>(types[i]), corners)) continue;
      in_.fail_at(piece.types->tag.place,
                  fmt::format("cell {} is of type {} but has {} points", i, types[i], corners.size()));
      return;
    }
  }

  // The bytes of a DataArray that is not text: its headers taken off, decoded, inflated.
  class Source {
   public:
    Source(std::string_view data, bool is_base64) : data_(data), base64_(is_base64) {}
    std::optional<std::string> take(std::size_t size) {
      if (base64_) return take_base64(data_, size);
      if (size > data_.size()) return std::nullopt;
      std::string bytes(data_.substr(0, size));
      data_.remove_prefix(size);
      return bytes;
    }
    // Whether what was taken last ended in padding: then the next value is encoded on its own.
    bool padded_after(const Source& before) const {
      const std::size_t used = before.data_.size() - data_.size();
      return base64_ && used > 0 && before.data_[used - 1] == '=';
    }
    std::size_t size() const { return data_.size(); }
    bool is_base64() const { return base64_; }

   private:
    std::string_view data_;
    bool base64_;
  };

  std::uint64_t header_word(std::string_view bytes, std::size_t i) const {
    Scanner words("", bytes);
    words.begin_binary(big_endian_ ? std::endian::big : std::endian::little);
    words.seek(i * header_size_);
    return header_size_ == 8 ? words.get<std::uint64_t>("") : words.get<std::uint32_t>("");
  }

  std::optional<std::string> plain_bytes(Source source) const {
    const Source start = source;
    const std::optional<std::string> header = source.take(header_size_);
    if (!header) return std::nullopt;
    const std::uint64_t size = header_word(*header, 0);
    if (size > start.size()) return std::nullopt;
    if (!source.is_base64() || source.padded_after(start)) return source.take(size);
    // Header and data are one base64 value.
    source = start;
    std::optional<std::string> all = source.take(header_size_ + size);
    if (all) all->erase(0, header_size_);
    return all;
  }

  std::optional<std::string> inflated_bytes(Source source) const {
    Source ahead = source;
    const std::optional<std::string> first = ahead.take(header_size_);
    if (!first) return std::nullopt;
    const std::uint64_t blocks = header_word(*first, 0);
    if (blocks > source.size()) return std::nullopt;
    const std::optional<std::string> header = source.take((3 + blocks) * header_size_);
    if (!header) return std::nullopt;
    const std::uint64_t full = header_word(*header, 1), last = header_word(*header, 2);
    std::uint64_t total = 0;
    for (std::uint64_t i = 0; i < blocks; ++i) {
      const std::uint64_t size = header_word(*header, 3 + i);
      if (size > source.size() - std::min<std::uint64_t>(total, source.size())) return std::nullopt;
      total += size;
    }
    const std::optional<std::string> packed = source.take(total);
    if (!packed) return std::nullopt;
    std::string bytes;
    std::size_t at = 0;
    for (std::uint64_t i = 0; i < blocks; ++i) {
      const std::uint64_t size = header_word(*header, 3 + i);
      const bool partial = i + 1 == blocks && last != 0;
      const auto block = inflated(std::string_view(*packed).substr(at, size), partial ? last : full);
      if (!block) return std::nullopt;
      bytes += *block;
      at += size;
    }
    return bytes;
  }

  std::optional<std::string> array_bytes(const Array& array) {
    Source source(array.text, true);
    if (array.tag.attribute("format") == "appended") {
      const std::size_t offset = size_attribute_64(array.tag, "offset");
      if (offset > appended_.size()) return std::nullopt;
      source = Source(appended_.substr(offset), !appended_raw_);
    }
    return compressed_ ? inflated_bytes(source) : plain_bytes(source);
  }

  std::size_t size_attribute_64(const XmlTag& tag, std::string_view key) {
    const std::string_view text = tag.attribute(key);
    std::uint64_t value = std::numeric_limits<std::uint64_t>::max();
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
  }

  template <class To, class From>
  std::vector<To> converted(const std::string& bytes, std::size_t count) const {
    std::vector<To> values;
    if (bytes.size() != count * sizeof(From)) return values;
    Scanner numbers("", bytes);
    numbers.begin_binary(big_endian_ ? std::endian::big : std::endian::little);
    values.reserve(count);
    for (std::size_t i = 0; i < count; ++i) values.push_back(static_cast<To>(numbers.get<From>("")));
    return values;
  }

  template <class To>
  std::vector<To> converted(const std::string& bytes, std::size_t count, std::string_view type) const {
    if (type == "Int8") return converted<To, std::int8_t>(bytes, count);
    if (type == "UInt8") return converted<To, std::uint8_t>(bytes, count);
    if (type == "Int16") return converted<To, std::int16_t>(bytes, count);
    if (type == "UInt16") return converted<To, std::uint16_t>(bytes, count);
    if (type == "Int32") return converted<To, std::int32_t>(bytes, count);
    if (type == "UInt32") return converted<To, std::uint32_t>(bytes, count);
    if (type == "Int64") return converted<To, std::int64_t>(bytes, count);
    if (type == "UInt64") return converted<To, std::uint64_t>(bytes, count);
    if constexpr (std::is_floating_point_v<To>) {
      if (type == "Float32") return converted<To, float>(bytes, count);
      if (type == "Float64") return converted<To, double>(bytes, count);
    }
    return {};
  }

  // Exactly `count` numbers of an array, or a failure.
  template <class To>
  std::vector<To> decode(const Array& array, std::size_t count, std::string_view what) {
    std::vector<To> values;
    if (in_.failed() || count == 0) return values;
    const std::string_view format = array.tag.attribute("format", "ascii");
    if (format == "ascii") {
      values = decode_text<To>(array, count);
    } else if (format == "binary" || format == "appended") {
      if (const std::optional<std::string> bytes = array_bytes(array)) {
        values = converted<To>(*bytes, count, array.tag.attribute("type"));
      }
    }
    if (!in_.failed() && values.size() != count) {
      in_.fail_at(array.tag.place,
                  fmt::format("this array does not hold {} {} of type '{}'; the file is truncated or damaged",
                              count, what, array.tag.attribute("type").substr(0, 24)));
      values.clear();
    }
    return values;
  }

  template <class To>
  std::vector<To> decode_text(const Array& array, std::size_t count) {
    std::vector<To> values;
    if (array.text.empty()) return values;
    // A scanner of its own that ends with the array; a failure is repeated at its place in the file.
    const auto begin = static_cast<std::size_t>(array.text.data() - in_.bytes().data());
    Scanner numbers(in_.path(), in_.bytes().substr(0, begin + array.text.size()));
    numbers.seek(begin);
    if (count > array.text.size()) return values;
    values.reserve(count);
    for (std::size_t i = 0; i < count && !numbers.failed(); ++i) {
      if constexpr (std::is_floating_point_v<To>) {
        values.push_back(numbers.real("a number"));
      } else {
        values.push_back(numbers.integer("an integer"));
      }
    }
    if (numbers.failed()) {
      in_.fail_at(numbers.last(), fmt::format("this array should hold {} numbers here", count));
    }
    return values;
  }

  Scanner& in_;
  geometry::Mesh mesh_;
  VtkCells cells_;
  std::vector<Piece> pieces_;
  bool big_endian_ = false, compressed_ = false, appended_raw_ = false;
  std::size_t header_size_ = 4;
  std::string_view appended_;
};

}  // namespace

Expected<geometry::Mesh> read_vtu(Scanner& in) { return VtuReader(in).read(); }

}  // namespace lope::io
