// Gmsh .msh, version 4.1, text and binary: every region is a physical group.
#include <lope/io/formats.h>
#include <lope/io/print.h>

#include <map>
#include <string>
#include <vector>

namespace lope::io {
namespace {

// A run of elements of one region, which becomes one block; entities are numbered by distinct regions.
struct Block {
  int dimension = 3;
  int entity = 1;
  std::size_t begin = 0, end = 0;
};

class GmshWriter {
 public:
  GmshWriter(const geometry::Mesh& mesh, Encoding encoding)
      : mesh_(mesh), binary_(encoding == Encoding::Binary), solid_(!mesh.tetrahedra.empty()) {
    for (const int region : mesh.region) entities_.try_emplace(region, 0);
    int number = 0;
    for (auto& [region, entity] : entities_) entity = ++number;
    if (solid_) {
      if (!mesh.triangles.empty()) blocks_.push_back({2, 1, 0, mesh.triangles.size()});
      add_runs(3, mesh.tetrahedra.size());
    } else {
      add_runs(2, mesh.triangles.size());
    }
  }

  std::string bytes() {
    print(out_, "$MeshFormat\n4.1 ", binary_ ? 1 : 0, " 8\n");
    if (binary_) put(out_, std::int32_t{1}), out_ += '\n';
    out_ += "$EndMeshFormat\n";
    write_entities();
    write_nodes();
    write_elements();
    return std::move(out_);
  }

 private:
  void add_runs(int dimension, std::size_t size) {
    for (std::size_t begin = 0; begin < size;) {
      std::size_t end = mesh_.region.empty() ? size : begin + 1;
      while (end < size && mesh_.region[end] == mesh_.region[begin]) ++end;
      blocks_.push_back(
          {dimension, mesh_.region.empty() ? 1 : entities_.at(mesh_.region[begin]), begin, end});
      begin = end;
    }
  }

  template <class T>
  void value(T number) {
    if (binary_) {
      put(out_, number);
    } else {
      print(out_, number, ' ');
    }
  }
  void integer(int number) { value(static_cast<std::int32_t>(number)); }
  void size(std::size_t number) { value(static_cast<std::uint64_t>(number)); }
  void end_line() {
    if (!binary_) out_.back() = '\n';
  }
  void begin_section(const char* name) { print(out_, '$', name, '\n'); }
  void end_section(const char* name) { print(out_, binary_ ? "\n$End" : "$End", name, '\n'); }

  void write_entity(const geometry::Bounds& box, int entity, const int* group) {
    integer(entity);
    for (const Vec3& corner : {box.min, box.max}) {
      for (int k = 0; k < 3; ++k) value(corner[k]);
    }
    size(group ? 1 : 0);
    if (group) integer(*group);
    size(0);
    end_line();
  }

  void write_entities() {
    const geometry::Bounds box = geometry::bounds(mesh_.vertices);
    const std::size_t labelled = entities_.empty() ? 1 : entities_.size();
    const bool extra_surface = solid_ && !mesh_.triangles.empty();
    begin_section("Entities");
    for (const std::size_t count :
         {std::size_t{0}, std::size_t{0}, solid_ ? std::size_t{extra_surface} : labelled,
          solid_ ? labelled : std::size_t{0}}) {
      size(count);
    }
    end_line();
    if (extra_surface) write_entity(box, 1, nullptr);
    if (entities_.empty()) write_entity(box, 1, nullptr);
    for (const auto& [region, entity] : entities_) write_entity(box, entity, &region);
    end_section("Entities");
  }

  void write_nodes() {
    const std::size_t count = mesh_.vertices.size();
    begin_section("Nodes");
    for (const std::size_t number : {std::size_t{1}, count, std::size_t{1}, count}) size(number);
    end_line();
    integer(solid_ ? 3 : 2);
    integer(1);
    integer(0);
    size(count);
    end_line();
    for (std::size_t i = 0; i < count; ++i) {
      size(i + 1);
      end_line();
    }
    for (const Vec3& v : mesh_.vertices) {
      for (int k = 0; k < 3; ++k) value(v[k]);
      end_line();
    }
    end_section("Nodes");
  }

  template <class Cell>
  void write_cell(std::size_t tag, const Cell& cell) {
    size(tag);
    for (const int vertex : cell) size(static_cast<std::size_t>(vertex) + 1);
    end_line();
  }

  void write_elements() {
    std::size_t total = 0;
    for (const Block& block : blocks_) total += block.end - block.begin;
    begin_section("Elements");
    for (const std::size_t number : {blocks_.size(), total, std::size_t{1}, total}) size(number);
    end_line();
    std::size_t tag = 1;
    for (const Block& block : blocks_) {
      integer(block.dimension);
      integer(block.entity);
      integer(block.dimension == 3 ? 4 : 2);  // tetrahedra, triangles
      size(block.end - block.begin);
      end_line();
      for (std::size_t i = block.begin; i < block.end; ++i) {
        if (block.dimension == 3) {
          write_cell(tag++, mesh_.tetrahedra[i]);
        } else {
          write_cell(tag++, mesh_.triangles[i]);
        }
      }
    }
    end_section("Elements");
  }

  const geometry::Mesh& mesh_;
  bool binary_;
  bool solid_;
  std::map<int, int> entities_;  // region → entity
  std::vector<Block> blocks_;
  std::string out_;
};

}  // namespace

std::string write_gmsh(const geometry::Mesh& mesh, Encoding encoding) {
  return GmshWriter(mesh, encoding).bytes();
}

}  // namespace lope::io
