#include <lope/geometry/topology.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>

#include <Eigen/Geometry>

namespace lope::geometry {

namespace {

template <class Visit>
void for_each_element(const Mesh& mesh, const Visit& visit) {
  if (mesh.tetrahedra.empty()) {
    for (const Triangle& triangle : mesh.triangles) visit(triangle);
  } else {
    for (const Tetrahedron& tetrahedron : mesh.tetrahedra) visit(tetrahedron);
  }
}

int root_of(std::vector<int>& parent, int i) {
  while (parent[i] != i) i = parent[i] = parent[parent[i]];
  return i;
}

void renumber(Mesh& mesh, const std::vector<int>& new_index) {
  for (Triangle& triangle : mesh.triangles) {
    for (int& v : triangle) v = new_index[v];
  }
  for (Tetrahedron& tetrahedron : mesh.tetrahedra) {
    for (int& v : tetrahedron) v = new_index[v];
  }
}

// The 21 low bits of a number, two zeros after each.
std::uint64_t spread_bits(std::uint64_t x) {
  x &= 0x1FFFFF;
  x = (x | x << 32) & 0x1F00000000FFFFULL;
  x = (x | x << 16) & 0x1F0000FF0000FFULL;
  x = (x | x << 8) & 0x100F00F00F00F00FULL;
  x = (x | x << 4) & 0x10C30C30C30C30C3ULL;
  x = (x | x << 2) & 0x1249249249249249ULL;
  return x;
}

std::vector<std::uint64_t> morton_codes(const std::vector<Vec3>& points) {
  const Bounds box = bounds(points);
  const double side = std::max(box.extent().maxCoeff(), 1e-300);
  std::vector<std::uint64_t> codes;
  codes.reserve(points.size());
  for (const Vec3& p : points) {
    const Vec3 cell = (p - box.min) / side * double(0x1FFFFF);
    std::uint64_t code = 0;
    for (int axis = 0; axis < 3; ++axis) {
      code |= spread_bits(static_cast<std::uint64_t>(std::clamp(cell[axis], 0.0, double(0x1FFFFF)))) << axis;
    }
    codes.push_back(code);
  }
  return codes;
}

// Turns an element so that its lowest vertex comes first, keeping its orientation, and sorts all.
template <class Element>
void sort_elements(std::vector<Element>& elements, std::vector<int>& region) {
  for (Element& element : elements) {
    const auto lowest = std::min_element(element.begin(), element.end()) - element.begin();
    if (element.size() == 3) {
      std::rotate(element.begin(), element.begin() + lowest, element.end());
    } else if (lowest > 0) {
      // Two swaps keep the orientation of a tetrahedron; so do cyclic turns of the last three below.
      std::swap(element[0], element[lowest]);
      const auto other = lowest == 1 ? 2 : 1;
      std::swap(element[other], element[6 - lowest - other]);
    }
    if (element.size() == 4) {
      const auto second = std::min_element(element.begin() + 1, element.end());
      std::rotate(element.begin() + 1, second, element.end());
    }
  }
  std::vector<int> order(elements.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](int a, int b) { return elements[a] < elements[b]; });
  std::vector<Element> sorted;
  sorted.reserve(elements.size());
  for (const int i : order) sorted.push_back(elements[i]);
  elements = std::move(sorted);
  if (region.size() == order.size()) {
    std::vector<int> sorted_region;
    sorted_region.reserve(region.size());
    for (const int i : order) sorted_region.push_back(region[i]);
    region = std::move(sorted_region);
  }
}

template <class Element, class Keep>
void keep_elements(std::vector<Element>& elements, std::vector<int>* region, const Keep& keep) {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < elements.size(); ++i) {
    if (!keep(elements[i])) continue;
    elements[kept] = elements[i];
    if (region != nullptr && !region->empty()) (*region)[kept] = (*region)[i];
    ++kept;
  }
  elements.resize(kept);
  if (region != nullptr && !region->empty()) region->resize(kept);
}

}  // namespace

Components connected_components(const Mesh& mesh) {
  const int size = static_cast<int>(mesh.vertices.size());
  std::vector<int> parent(size);
  std::iota(parent.begin(), parent.end(), 0);
  std::vector<bool> used(size, false);
  for_each_element(mesh, [&](const auto& element) {
    for (const int v : element) {
      used[v] = true;
      const int a = root_of(parent, element[0]), b = root_of(parent, v);
      parent[std::max(a, b)] = std::min(a, b);
    }
  });
  // A root is the lowest vertex of its component, so it is met first.
  Components components;
  components.of_vertex.assign(size, -1);
  for (int v = 0; v < size; ++v) {
    if (!used[v]) continue;
    const int root = root_of(parent, v);
    components.of_vertex[v] = root == v ? components.count++ : components.of_vertex[root];
  }
  return components;
}

std::vector<bool> used_vertices(const Mesh& mesh) {
  std::vector<bool> used(mesh.vertices.size(), false);
  for_each_element(mesh, [&](const auto& element) {
    for (const int v : element) used[v] = true;
  });
  return used;
}

std::vector<Edge> boundary_edges(const std::vector<Triangle>& triangles) {
  struct Side {
    Edge key, directed;
  };
  std::vector<Side> sides;
  sides.reserve(3 * triangles.size());
  for (const Triangle& t : triangles) {
    for (int i = 0; i < 3; ++i) {
      const int from = t[i], to = t[(i + 1) % 3];
      sides.push_back({{std::min(from, to), std::max(from, to)}, {from, to}});
    }
  }
  std::sort(sides.begin(), sides.end(), [](const Side& a, const Side& b) { return a.key < b.key; });
  std::vector<Edge> boundary;
  for (std::size_t i = 0, end = 0; i < sides.size(); i = end) {
    while (end < sides.size() && sides[end].key == sides[i].key) ++end;
    if (end == i + 1) boundary.push_back(sides[i].directed);
  }
  return boundary;
}

std::vector<int> boundary_vertices(const Mesh& mesh) {
  std::vector<int> vertices;
  const auto add = [&](const auto& parts) {
    for (const auto& part : parts) vertices.insert(vertices.end(), part.begin(), part.end());
  };
  if (mesh.tetrahedra.empty()) {
    add(boundary_edges(mesh.triangles));
  } else {
    add(boundary_triangles(mesh.tetrahedra));
  }
  std::sort(vertices.begin(), vertices.end());
  vertices.erase(std::unique(vertices.begin(), vertices.end()), vertices.end());
  return vertices;
}

std::vector<int> drop_unused_vertices(Mesh& mesh) {
  std::vector<bool> used(mesh.vertices.size(), false);
  for (const Triangle& triangle : mesh.triangles) {
    for (const int v : triangle) used[v] = true;
  }
  for (const Tetrahedron& tetrahedron : mesh.tetrahedra) {
    for (const int v : tetrahedron) used[v] = true;
  }
  std::vector<int> new_index(mesh.vertices.size(), -1);
  int count = 0;
  for (std::size_t v = 0; v < used.size(); ++v) {
    if (!used[v]) continue;
    mesh.vertices[count] = mesh.vertices[v];
    new_index[v] = count++;
  }
  mesh.vertices.resize(count);
  renumber(mesh, new_index);
  return new_index;
}

void keep_largest_component(Mesh& mesh) {
  const Components components = connected_components(mesh);
  if (components.count < 2) return;
  std::vector<std::size_t> sizes(components.count, 0);
  for_each_element(mesh, [&](const auto& element) { ++sizes[components.of_vertex[element[0]]]; });
  const auto largest = std::max_element(sizes.begin(), sizes.end()) - sizes.begin();
  const auto keep = [&](const auto& element) { return components.of_vertex[element[0]] == largest; };
  const bool solid = !mesh.tetrahedra.empty();
  keep_elements(mesh.tetrahedra, solid ? &mesh.region : nullptr, keep);
  keep_elements(mesh.triangles, solid ? nullptr : &mesh.region, keep);
  drop_unused_vertices(mesh);
}

void sort_spatially(Mesh& mesh) {
  const std::vector<std::uint64_t> codes = morton_codes(mesh.vertices);
  std::vector<int> order(mesh.vertices.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](int a, int b) {
    if (codes[a] != codes[b]) return codes[a] < codes[b];
    const Vec3 &p = mesh.vertices[a], &q = mesh.vertices[b];
    return std::lexicographical_compare(p.data(), p.data() + 3, q.data(), q.data() + 3);
  });
  std::vector<Vec3> vertices;
  vertices.reserve(order.size());
  std::vector<int> new_index(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    new_index[order[i]] = static_cast<int>(i);
    vertices.push_back(mesh.vertices[order[i]]);
  }
  mesh.vertices = std::move(vertices);
  renumber(mesh, new_index);
  std::vector<int> none;
  const bool solid = !mesh.tetrahedra.empty();
  sort_elements(mesh.tetrahedra, solid ? mesh.region : none);
  sort_elements(mesh.triangles, solid ? none : mesh.region);
}

double six_volumes(const std::vector<Vec3>& vertices, const Tetrahedron& tetrahedron) {
  const Vec3& origin = vertices[tetrahedron[0]];
  const Vec3 a = vertices[tetrahedron[1]] - origin;
  const Vec3 b = vertices[tetrahedron[2]] - origin;
  const Vec3 c = vertices[tetrahedron[3]] - origin;
  return a.dot(b.cross(c));
}

}  // namespace lope::geometry
