#include <lope/base/parallel.h>
#include <lope/io/codec.h>
#include <lope/io/formats.h>
#include <lope/io/print.h>
#include <lope/io/vtu.h>
#include <lope/io/xml.h>

#include <numeric>
#include <string>
#include <vector>

namespace lope::io {
namespace {

class VtuWriter {
 public:
  VtuWriter(const VtuGrid& grid, Encoding encoding, Precision precision)
      : grid_(grid), binary_(encoding == Encoding::Binary), single_(precision == Precision::Single) {}

  std::string bytes() {
    const std::size_t cells =
        is_cloud() ? grid_.vertices.size() : grid_.triangles.size() + grid_.tetrahedra.size();
    print(xml_,
          "<?xml version=\"1.0\"?>\n<VTKFile type=\"UnstructuredGrid\" version=\"1.0\" "
          "byte_order=\"LittleEndian\" header_type=\"UInt64\"",
          binary_ ? " compressor=\"vtkZLibDataCompressor\"" : "",
          ">\n<UnstructuredGrid>\n<Piece NumberOfPoints=\"", grid_.vertices.size(), "\" NumberOfCells=\"",
          cells, "\">\n<PointData>\n");
    for (const Field& field : grid_.point_fields) write_reals(field.name, field.components, field.values);
    xml_ += "</PointData>\n<CellData>\n";
    for (const Field& field : grid_.cell_fields) write_reals(field.name, field.components, field.values);
    if (!grid_.region.empty()) write_array<std::int32_t>("region", "Int32", 1, grid_.region);
    xml_ += "</CellData>\n<Points>\n";
    std::vector<double> positions;
    positions.reserve(3 * grid_.vertices.size());
    for (const Vec3& v : grid_.vertices) {
      for (int k = 0; k < 3; ++k) positions.push_back(v[k]);
    }
    write_reals("Points", 3, positions);
    xml_ += "</Points>\n<Cells>\n";
    write_cells();
    xml_ += "</Cells>\n</Piece>\n</UnstructuredGrid>\n";
    if (binary_) print(xml_, "<AppendedData encoding=\"raw\">\n_", appended_, "\n</AppendedData>\n");
    xml_ += "</VTKFile>\n";
    return std::move(xml_);
  }

 private:
  // Points without triangles and tetrahedra: each is a cell of its own, otherwise programs show nothing.
  bool is_cloud() const { return grid_.triangles.empty() && grid_.tetrahedra.empty(); }

  void write_cells() {
    std::vector<std::int64_t> nodes, offsets;
    std::vector<std::uint8_t> types;
    if (is_cloud()) {
      nodes.resize(grid_.vertices.size());
      std::iota(nodes.begin(), nodes.end(), 0);
      for (const std::int64_t node : nodes) offsets.push_back(node + 1);
      types.assign(nodes.size(), 1);
    }
    for (const geometry::Triangle& t : grid_.triangles) {
      nodes.insert(nodes.end(), t.begin(), t.end());
      offsets.push_back(static_cast<std::int64_t>(nodes.size()));
      types.push_back(5);
    }
    for (const geometry::Tetrahedron& t : grid_.tetrahedra) {
      nodes.insert(nodes.end(), t.begin(), t.end());
      offsets.push_back(static_cast<std::int64_t>(nodes.size()));
      types.push_back(10);
    }
    write_array<std::int64_t>("connectivity", "Int64", 1, nodes);
    write_array<std::int64_t>("offsets", "Int64", 1, offsets);
    write_array<std::uint8_t>("types", "UInt8", 1, types);
  }

  void write_reals(std::string_view name, int components, const std::vector<double>& values) {
    if (single_) {
      write_array<float>(name, "Float32", components, values);
    } else {
      write_array<double>(name, "Float64", components, values);
    }
  }

  template <class To, class Values>
  void write_array(std::string_view name, const char* type, int components, const Values& values) {
    print(xml_, "<DataArray type=\"", type, "\" Name=\"", xml_escaped(name), "\" NumberOfComponents=\"",
          components);
    if (binary_) {
      print(xml_, "\" format=\"appended\" offset=\"", appended_.size(), "\"/>\n");
      std::string bytes;
      bytes.reserve(values.size() * sizeof(To));
      for (const auto value : values) put(bytes, static_cast<To>(value));
      append_compressed(bytes);
      return;
    }
    xml_ += "\" format=\"ascii\">\n";
    int column = 0;
    for (const auto value : values) {
      // Cell types are bytes but must print as numbers.
      if constexpr (sizeof(To) == 1) {
        print(xml_, static_cast<int>(value));
      } else {
        print(xml_, static_cast<To>(value));
      }
      xml_ += ++column % 12 == 0 ? '\n' : ' ';
    }
    xml_ += "\n</DataArray>\n";
  }

  void append_compressed(const std::string& bytes) {
    constexpr std::size_t block = std::size_t{1} << 20;
    constexpr int level = 4;  // half again as fast as the default for a few percent of the size
    const std::size_t blocks = (bytes.size() + block - 1) / block;
    std::vector<std::string> packed(blocks);
    parallel_for(blocks, 1, [&](std::size_t i) {
      packed[i] = deflated(std::string_view(bytes).substr(i * block, block), level);
    });
    put(appended_, static_cast<std::uint64_t>(blocks));
    put(appended_, static_cast<std::uint64_t>(block));
    put(appended_, static_cast<std::uint64_t>(bytes.size() % block));
    for (const std::string& piece : packed) put(appended_, static_cast<std::uint64_t>(piece.size()));
    for (const std::string& piece : packed) appended_ += piece;
  }

  const VtuGrid& grid_;
  bool binary_;
  bool single_;
  std::string xml_;
  std::string appended_;
};

}  // namespace

std::string vtu_bytes(const VtuGrid& grid, Encoding encoding, Precision precision) {
  return VtuWriter(grid, encoding, precision).bytes();
}

std::string write_vtu(const geometry::Mesh& mesh, Encoding encoding) {
  VtuGrid grid{mesh.vertices, mesh.triangles, mesh.tetrahedra, {}, {}, {}};
  // Regions belong to the tetrahedra; triangles beside them get 0.
  std::vector<int> region = mesh.region;
  if (!region.empty() && !mesh.tetrahedra.empty()) region.insert(region.begin(), mesh.triangles.size(), 0);
  grid.region = region;
  return vtu_bytes(grid, encoding, Precision::Double);
}

}  // namespace lope::io
