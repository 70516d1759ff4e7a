// Gmsh .msh, versions 2.2, 4.0 and 4.1, text and binary (Gmsh reference manual, "MSH file format"). Node tags
// may be sparse and in any order. Linear triangles (type 2) and tetrahedra (type 4) are kept. An element's
// region is the first physical group of its entity, or the entity's tag where the file has no groups but
// several entities.
#include <lope/io/formats.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include <fmt/core.h>

namespace lope::io {
namespace {

constexpr int triangle_type = 2;
constexpr int tetrahedron_type = 4;

// Nodes per element of the types 1 to 31 of the manual, then 92 and 93; 0 for types that it does not number.
int node_count(std::int64_t type) {
  constexpr int counts[] = {0, 2,  3,  4,  4, 8,  6,  5,  3,  6,  9, 10, 27, 18, 14, 1,
                            8, 20, 15, 13, 9, 10, 12, 15, 15, 21, 4, 5,  6,  20, 35, 56};
  if (type == 92) return 64;
  if (type == 93) return 125;
  return type >= 1 && type <= 31 ? counts[type] : 0;
}

// From node tags to vertices: a table where tags are dense, a sorted list where they are not.
class NodeTags {
 public:
  void reserve(std::size_t count) { tags_.reserve(count); }
  void add(std::uint64_t tag) { tags_.push_back(tag); }

  // The vertex whose tag appears a second time, or −1: call once all nodes are known.
  std::int64_t index() {
    std::uint64_t largest = 0;
    for (const std::uint64_t tag : tags_) largest = std::max(largest, tag);
    if (largest < 8 * tags_.size() + 1024) {
      table_.assign(largest + 1, -1);
      for (std::size_t i = 0; i < tags_.size(); ++i) {
        if (table_[tags_[i]] >= 0) return static_cast<std::int64_t>(i);
        table_[tags_[i]] = static_cast<int>(i);
      }
      return -1;
    }
    sorted_.reserve(tags_.size());
    for (std::size_t i = 0; i < tags_.size(); ++i) sorted_.emplace_back(tags_[i], static_cast<int>(i));
    std::sort(sorted_.begin(), sorted_.end());
    for (std::size_t i = 1; i < sorted_.size(); ++i) {
      if (sorted_[i].first == sorted_[i - 1].first) return sorted_[i].second;
    }
    return -1;
  }

  // The vertex of a tag, or −1.
  int vertex(std::uint64_t tag) const {
    if (sorted_.empty()) return tag < table_.size() ? table_[tag] : -1;
    const auto found = std::lower_bound(sorted_.begin(), sorted_.end(), std::pair(tag, 0));
    return found != sorted_.end() && found->first == tag ? found->second : -1;
  }

  std::uint64_t tag(std::size_t vertex) const { return tags_[vertex]; }

 private:
  std::vector<std::uint64_t> tags_;
  std::vector<int> table_;
  std::vector<std::pair<std::uint64_t, int>> sorted_;
};

class GmshReader {
 public:
  explicit GmshReader(Scanner& in) : in_(in) {}

  Expected<geometry::Mesh> read() {
    read_format();
    while (!in_.failed() && !in_.at_end()) {
      const std::string_view name = in_.token();
      if (name.empty() || name.front() != '$') {
        in_.fail(fmt::format("expected a section such as $Nodes but found '{}'", name.substr(0, 24)));
      } else {
        read_section(name.substr(1));
      }
    }
    if (!in_.failed() && !has_nodes_) in_.fail("the file has no $Nodes; it is truncated or holds no mesh");
    if (!in_.failed() && !has_elements_)
      in_.fail("the file has no $Elements; it is truncated or holds no mesh");
    if (in_.failed()) return in_.error();
    warn_left_out(in_.path(), left_out_, "elements other than linear triangles and tetrahedra");
    choose_regions();
    return std::move(mesh_);
  }

 private:
  // What an element says of its region: its physical group (0: none) and its entity.
  struct Label {
    int physical = 0;
    int entity = 0;
  };

  void read_format() {
    in_.expect("$MeshFormat");
    const double version = in_.real("the version of the format");
    version_ = version >= 0 && version < 10 ? static_cast<int>(version * 10 + 0.5) : 0;
    if (!in_.failed() && version_ != 22 && version_ != 40 && version_ != 41) {
      in_.fail(
          fmt::format("version {} of the format is not known; save the mesh as version 4.1 or 2.2", version));
    }
    const std::int64_t binary = in_.integer("the file type (0 text, 1 binary)");
    if (binary != 0 && binary != 1) in_.fail("the file type must be 0 (text) or 1 (binary)");
    const std::int64_t size = in_.integer("the size of numbers");
    if (!in_.failed() && size != 8 && !(size == 4 && version_ == 41)) in_.fail("numbers must have 8 bytes");
    wide_sizes_ = size == 8;
    in_.line();
    binary_ = binary == 1;
    if (binary_ && !in_.failed()) {
      in_.begin_binary(std::endian::little);
      const auto one = in_.get<std::uint32_t>("the number one");
      if (one == 0x01000000U) {
        order_ = std::endian::big;
      } else if (one != 1) {
        in_.fail("the byte-order mark is damaged; export or copy the file again");
      }
    }
    in_.end_binary();
    in_.expect("$EndMeshFormat");
  }

  void read_section(std::string_view name) {
    const std::string end = fmt::format("$End{}", name);
    const bool known = name == "Nodes" || name == "Elements" || (name == "Entities" && version_ >= 40);
    if (!known) {
      skip_section(end);
      return;
    }
    in_.line();
    // Version 2.2 writes its counts as text even in binary files.
    if (binary_ && version_ >= 40) in_.begin_binary(order_);
    if (name == "Entities") read_entities();
    if (name == "Nodes") read_nodes();
    if (name == "Elements") read_elements();
    in_.end_binary();
    in_.expect(end);
  }

  void skip_section(const std::string& end) {
    const std::size_t found = in_.bytes().find("\n" + end, in_.position());
    if (found == std::string_view::npos) {
      in_.fail(fmt::format("this section does not end with {}; the file is truncated", end));
    } else {
      in_.seek(found + 1 + end.size());
    }
  }

  // Values in the two encodings.
  std::int64_t integer(std::string_view what) {
    return binary_ ? in_.get<std::int32_t>(what) : in_.integer(what);
  }
  std::int64_t size(std::string_view what) {
    if (!binary_) return in_.integer(what);
    return wide_sizes_ ? in_.get<std::int64_t>(what) : in_.get<std::uint32_t>(what);
  }
  double real(std::string_view what) { return binary_ ? in_.get<double>(what) : in_.real(what); }
  double coordinate() { return in_.check_coordinate(real("a coordinate"), "a coordinate"); }
  // Tags of nodes and elements: int before version 4.1, size_t since.
  std::int64_t tag(std::string_view what) { return version_ >= 41 ? size(what) : integer(what); }
  std::size_t count(std::string_view what, std::size_t text_bytes, std::size_t binary_bytes) {
    return in_.check_count(size(what), what, binary_ ? binary_bytes : text_bytes);
  }

  void read_entities() {
    std::size_t counts[4] = {};
    for (std::size_t& number : counts) number = count("the number of entities", 2, 4);
    for (int dimension = 0; dimension < 4; ++dimension) {
      const int reals = dimension == 0 && version_ >= 41 ? 3 : 6;
      for (std::size_t i = 0; i < counts[dimension] && !in_.failed(); ++i) {
        const std::int64_t entity = integer("the tag of an entity");
        for (int k = 0; k < reals; ++k) real("the bounds of an entity");
        const std::size_t groups = count("the number of physical groups", 2, 4);
        for (std::size_t k = 0; k < groups && !in_.failed(); ++k) {
          const std::int64_t group = integer("a physical group");
          if (k == 0) physical_[{dimension, entity}] = static_cast<int>(group);
        }
        if (dimension == 0) continue;
        const std::size_t bounding = count("the number of bounding entities", 2, 4);
        for (std::size_t k = 0; k < bounding && !in_.failed(); ++k) integer("a bounding entity");
      }
    }
  }

  void add_node_tag(std::int64_t value) {
    if (value < 0) in_.fail(fmt::format("node tag {} is negative", value));
    tags_.add(static_cast<std::uint64_t>(value));
  }

  void read_position(std::int64_t parameters) {
    const double x = coordinate(), y = coordinate(), z = coordinate();
    mesh_.vertices.emplace_back(x, y, z);
    for (std::int64_t k = 0; k < parameters; ++k) real("a parameter of a node");
  }

  void read_nodes() {
    if (std::exchange(has_nodes_, true)) in_.fail("a second section of nodes");
    const std::size_t section = in_.last();
    if (version_ == 22) {
      const std::size_t nodes = in_.count("the number of nodes", binary_ ? 28 : 8);
      in_.line();
      if (binary_) in_.begin_binary(order_);
      mesh_.vertices.reserve(nodes);
      tags_.reserve(nodes);
      for (std::size_t i = 0; i < nodes && !in_.failed(); ++i) {
        add_node_tag(tag("a node tag"));
        read_position(0);
      }
    } else {
      read_node_blocks();
    }
    if (in_.failed()) return;
    const std::int64_t twice = tags_.index();
    if (twice < 0) return;
    in_.fail_at(section, fmt::format("node tag {} appears twice in this section",
                                     tags_.tag(static_cast<std::size_t>(twice))));
  }

  void read_node_blocks() {
    const std::size_t blocks = count("the number of node blocks", 8, 20);
    const std::size_t total = count("the number of nodes", 8, 28);
    mesh_.vertices.reserve(total);
    tags_.reserve(total);
    if (version_ >= 41) {
      size("the smallest node tag");
      size("the largest node tag");
    }
    for (std::size_t b = 0; b < blocks && !in_.failed(); ++b) {
      const std::int64_t first = integer("the entity of a block");
      const std::int64_t second = integer("the entity of a block");
      const std::int64_t dimension = version_ >= 41 ? first : second;
      const std::int64_t parametric = integer("whether nodes are parametric");
      if (dimension < 0 || dimension > 3)
        in_.fail(fmt::format("entities have dimension 0 to 3, not {}", dimension));
      const std::size_t nodes = count("the number of nodes of a block", 8, 28);
      if (version_ >= 41) {
        for (std::size_t i = 0; i < nodes && !in_.failed(); ++i) add_node_tag(tag("a node tag"));
        for (std::size_t i = 0; i < nodes && !in_.failed(); ++i)
          read_position(parametric != 0 ? dimension : 0);
      } else {
        for (std::size_t i = 0; i < nodes && !in_.failed(); ++i) {
          add_node_tag(tag("a node tag"));
          read_position(parametric != 0 ? std::min<std::int64_t>(dimension, 2) : 0);
        }
      }
    }
    if (!in_.failed() && mesh_.vertices.size() > static_cast<std::size_t>(std::numeric_limits<int>::max())) {
      in_.fail("the file has more nodes than can be numbered");
    }
  }

  int corner() {
    const std::int64_t value = tag("a node of an element");
    if (in_.failed()) return 0;
    const int vertex = value < 0 ? -1 : tags_.vertex(static_cast<std::uint64_t>(value));
    if (vertex < 0) in_.fail(fmt::format("an element uses node {}, which is not among the nodes", value));
    return vertex;
  }

  // The nodes of one element, whose type and label are known.
  void read_corners(std::int64_t type, const Label& label) {
    if (type == triangle_type) {
      geometry::Triangle triangle{};
      for (int& vertex : triangle) vertex = corner();
      mesh_.triangles.push_back(triangle);
      triangle_labels_.push_back(label);
    } else if (type == tetrahedron_type) {
      geometry::Tetrahedron tetrahedron{};
      for (int& vertex : tetrahedron) vertex = corner();
      mesh_.tetrahedra.push_back(tetrahedron);
      tetrahedron_labels_.push_back(label);
    } else {
      ++left_out_;
      if (!binary_) {
        in_.line();
        return;
      }
      const int nodes = node_count(type);
      if (nodes == 0) in_.fail(fmt::format("element type {} is not known, so the rest cannot be read", type));
      for (int k = 0; k < nodes; ++k) tag("a node of an element");
    }
  }

  void read_elements() {
    has_elements_ = true;
    if (!has_nodes_) {
      in_.fail("$Elements stands before $Nodes");
    } else if (version_ == 22) {
      read_elements_22();
    } else {
      read_element_blocks();
    }
  }

  void read_elements_22() {
    const std::size_t elements = in_.count("the number of elements", binary_ ? 8 : 6);
    in_.line();
    if (binary_) in_.begin_binary(order_);
    for (std::size_t done = 0; done < elements && !in_.failed();) {
      std::int64_t type = 0, tag_count = 0;
      std::size_t run = 1;  // text: one element at a time; binary: runs of one type
      if (binary_) {
        type = integer("the type of elements");
        run = in_.check_count(integer("the number of elements of one type"),
                              "the number of elements of one type", 8);
        tag_count = integer("the number of tags");
        if (!in_.failed() && run == 0) in_.fail("a run of no elements");
      }
      for (std::size_t i = 0; i < run && !in_.failed(); ++i, ++done) {
        integer("the number of an element");
        if (!binary_) {
          type = integer("the type of an element");
          tag_count = integer("the number of tags");
        }
        const std::size_t tags = in_.check_count(tag_count, "the number of tags", binary_ ? 4 : 2);
        Label label;
        for (std::size_t k = 0; k < tags && !in_.failed(); ++k) {
          const auto value = static_cast<int>(integer("a tag of an element"));
          if (k == 0) label.physical = value;
          if (k == 1) label.entity = value;
        }
        read_corners(type, label);
      }
    }
  }

  void read_element_blocks() {
    const std::size_t blocks = count("the number of element blocks", 8, 20);
    count("the number of elements", 4, 8);
    if (version_ >= 41) {
      size("the smallest element tag");
      size("the largest element tag");
    }
    for (std::size_t b = 0; b < blocks && !in_.failed(); ++b) {
      const std::int64_t first = integer("the entity of a block");
      const std::int64_t second = integer("the entity of a block");
      const auto dimension = static_cast<int>(version_ >= 41 ? first : second);
      const std::int64_t entity = version_ >= 41 ? second : first;
      const std::int64_t type = integer("the type of elements");
      const std::size_t elements = count("the number of elements of a block", 4, 8);
      Label label{0, static_cast<int>(entity)};
      if (const auto found = physical_.find({dimension, entity}); found != physical_.end()) {
        label.physical = found->second;
      }
      if (type == tetrahedron_type && mesh_.tetrahedra.empty()) mesh_.tetrahedra.reserve(elements);
      for (std::size_t i = 0; i < elements && !in_.failed(); ++i) {
        tag("the tag of an element");
        read_corners(type, label);
      }
    }
  }

  void choose_regions() {
    const std::vector<Label>& labels = mesh_.tetrahedra.empty() ? triangle_labels_ : tetrahedron_labels_;
    const auto has_group = [](const Label& label) { return label.physical != 0; };
    const auto other_entity = [&](const Label& label) { return label.entity != labels.front().entity; };
    if (std::any_of(labels.begin(), labels.end(), has_group)) {
      for (const Label& label : labels) mesh_.region.push_back(label.physical);
    } else if (std::any_of(labels.begin(), labels.end(), other_entity)) {
      for (const Label& label : labels) mesh_.region.push_back(label.entity);
    }
  }

  Scanner& in_;
  geometry::Mesh mesh_;
  int version_ = 41;  // ten times the version
  bool binary_ = false;
  bool wide_sizes_ = true;
  std::endian order_ = std::endian::little;
  bool has_nodes_ = false, has_elements_ = false;
  NodeTags tags_;
  std::map<std::pair<int, std::int64_t>, int> physical_;  // (dimension, entity) → first physical group
  std::vector<Label> triangle_labels_, tetrahedron_labels_;
  std::size_t left_out_ = 0;
};

}  // namespace

Expected<geometry::Mesh> read_gmsh(Scanner& in) { return GmshReader(in).read(); }

}  // namespace lope::io
