#include <lope/base/parallel.h>
#include <lope/geometry/quality.h>
#include <lope/geometry/topology.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <vector>

#include <Eigen/Geometry>
#include <fmt/core.h>

namespace lope::geometry {

namespace {

constexpr double degrees = 180 / std::numbers::pi;
constexpr double infinity = std::numeric_limits<double>::infinity();

// Angles of one element: six dihedral ones or three; the loop below does not care.
template <std::size_t n>
struct Measured {
  double volume = 0;
  double radius_ratio = 0;
  std::array<double, n> angles = {};
};

double angle_between(const Vec3& a, const Vec3& b) {
  return degrees * std::atan2(a.cross(b).norm(), a.dot(b));
}

Measured<6> measure(const std::array<Vec3, 4>& x, bool) {
  // Outward face normals (for positive orientation), twice the areas long; face a is opposite vertex a.
  constexpr int faces[4][3] = {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}};
  std::array<Vec3, 4> normals;
  double area = 0;
  for (int a = 0; a < 4; ++a) {
    const auto& f = faces[a];
    normals[a] = (x[f[1]] - x[f[0]]).cross(x[f[2]] - x[f[0]]);
    area += 0.5 * normals[a].norm();
  }
  Measured<6> result;
  const Vec3 a = x[1] - x[0], b = x[2] - x[0], c = x[3] - x[0];
  const double six_volumes = a.dot(b.cross(c));
  result.volume = six_volumes / 6;
  int pair = 0;
  for (int i = 0; i < 4; ++i) {
    for (int j = i + 1; j < 4; ++j) result.angles[pair++] = 180 - angle_between(normals[i], normals[j]);
  }
  // Circumradius R = |a²(b×c) + b²(c×a) + c²(a×b)| / (2·6V), inradius r = 3V/area.
  const double numerator =
      (a.squaredNorm() * b.cross(c) + b.squaredNorm() * c.cross(a) + c.squaredNorm() * a.cross(b)).norm();
  if (area > 0 && numerator > 0) {
    const double inradius = 3 * result.volume / area;
    result.radius_ratio = 3 * inradius * 2 * std::abs(six_volumes) / numerator;
  }
  return result;
}

Measured<3> measure(const std::array<Vec3, 3>& x, bool planar) {
  Measured<3> result;
  const Vec3 cross = (x[1] - x[0]).cross(x[2] - x[0]);
  const double area = 0.5 * cross.norm();
  result.volume = planar ? 0.5 * cross.z() : area;
  double perimeter = 0, product = 1;
  for (int i = 0; i < 3; ++i) {
    const Vec3 next = x[(i + 1) % 3] - x[i], previous = x[(i + 2) % 3] - x[i];
    result.angles[i] = angle_between(next, previous);
    perimeter += next.norm();
    product *= next.norm();
  }
  // r = 2A/perimeter, R = product/(4A).
  if (product > 0)
    result.radius_ratio = std::copysign(2 * (2 * area / perimeter) * 4 * area / product, result.volume);
  return result;
}

template <std::size_t n>
ElementQuality summary(const Measured<n>& m) {
  const auto [least, most] = std::minmax_element(m.angles.begin(), m.angles.end());
  return {m.volume, m.radius_ratio, *least, *most};
}

void note(Finding& finding, std::size_t index) {
  if (finding.count++ == 0) finding.first = static_cast<int>(index);
}

void merge(Finding& into, const Finding& later) {
  if (into.count == 0) into.first = later.first;
  into.count += later.count;
}

// A report of some elements, with sums instead of means; `begin` has neutral extremes.
QualityReport neutral_report() {
  QualityReport report;
  report.smallest_volume = report.shortest_edge = report.smallest_angle = report.worst_radius_ratio =
      infinity;
  report.largest_volume = report.longest_edge = report.largest_angle = -infinity;
  return report;
}

template <std::size_t corners, std::size_t angles>
void add_element(QualityReport& report, const QualityOptions& options, const std::array<Vec3, corners>& x,
                 bool planar, std::size_t index) {
  double longest = 0;
  for (std::size_t i = 0; i < corners; ++i) {
    for (std::size_t j = i + 1; j < corners; ++j) {
      const double length = (x[i] - x[j]).norm();
      longest = std::max(longest, length);
      report.shortest_edge = std::min(report.shortest_edge, length);
      report.mean_edge += length / angles;  // as many edges as angles, in both kinds of element
    }
  }
  report.longest_edge = std::max(report.longest_edge, longest);
  const Measured<angles> measured = measure(x, planar);
  report.volume += measured.volume;
  report.smallest_volume = std::min(report.smallest_volume, measured.volume);
  report.largest_volume = std::max(report.largest_volume, measured.volume);
  report.mean_radius_ratio += measured.radius_ratio;
  if (measured.radius_ratio < report.worst_radius_ratio) {
    report.worst_radius_ratio = measured.radius_ratio;
    report.worst_element = static_cast<int>(index);
  }
  const auto [least, most] = std::minmax_element(measured.angles.begin(), measured.angles.end());
  report.smallest_angle = std::min(report.smallest_angle, *least);
  report.largest_angle = std::max(report.largest_angle, *most);
  for (const double angle : measured.angles)
    ++report.angle_histogram[std::clamp(static_cast<int>(angle / 10), 0, 17)];
  const double cube = corners == 4 ? longest * longest * longest : longest * longest;
  if (!(std::abs(measured.volume) > options.flat * cube)) {
    note(report.flat, index);
  } else if (measured.volume < 0) {
    note(report.inverted, index);
  } else if (*least < options.sliver_angle) {
    note(report.slivers, index);
  }
}

void merge_elements(QualityReport& into, const QualityReport& later) {
  for (const auto finding : {&QualityReport::bad_indices, &QualityReport::flat, &QualityReport::inverted,
                             &QualityReport::slivers}) {
    merge(into.*finding, later.*finding);
  }
  for (const auto sum :
       {&QualityReport::volume, &QualityReport::mean_edge, &QualityReport::mean_radius_ratio}) {
    into.*sum += later.*sum;
  }
  for (const auto least :
       {&QualityReport::smallest_volume, &QualityReport::shortest_edge, &QualityReport::smallest_angle}) {
    into.*least = std::min(into.*least, later.*least);
  }
  for (const auto most :
       {&QualityReport::largest_volume, &QualityReport::longest_edge, &QualityReport::largest_angle}) {
    into.*most = std::max(into.*most, later.*most);
  }
  if (later.worst_radius_ratio < into.worst_radius_ratio) {
    into.worst_radius_ratio = later.worst_radius_ratio;
    into.worst_element = later.worst_element;
  }
  for (std::size_t bin = 0; bin < into.angle_histogram.size(); ++bin) {
    into.angle_histogram[bin] += later.angle_histogram[bin];
  }
}

template <std::size_t corners>
QualityReport assess_elements(const Mesh& mesh, const std::vector<std::array<int, corners>>& elements,
                              const std::vector<bool>& finite, bool planar, const QualityOptions& options) {
  constexpr std::size_t angles = corners == 4 ? 6 : 3;
  constexpr std::size_t grain = 8192;
  const int count = static_cast<int>(mesh.vertices.size());
  std::vector<QualityReport> parts((elements.size() + grain - 1) / grain, neutral_report());
  parallel_chunks(elements.size(), grain, [&](std::size_t begin, std::size_t end) {
    QualityReport& report = parts[begin / grain];
    for (std::size_t e = begin; e < end; ++e) {
      const std::array<int, corners>& element = elements[e];
      const bool exists =
          std::all_of(element.begin(), element.end(), [&](int v) { return v >= 0 && v < count; });
      if (!exists) {
        note(report.bad_indices, e);
        continue;
      }
      if (!std::all_of(element.begin(), element.end(), [&](int v) { return finite[v]; })) continue;
      std::array<Vec3, corners> x;
      for (std::size_t i = 0; i < corners; ++i) x[i] = mesh.vertices[element[i]];
      add_element<corners, angles>(report, options, x, planar, e);
    }
  });
  QualityReport report = neutral_report();
  for (const QualityReport& part : parts) merge_elements(report, part);
  std::size_t measured = 0;
  for (const std::size_t bin : report.angle_histogram) measured += bin;
  measured /= angles;
  if (measured == 0) {
    // Nothing to speak about: no infinities in the report.
    const Finding bad = report.bad_indices;
    report = QualityReport();
    report.bad_indices = bad;
  } else {
    report.mean_edge /= static_cast<double>(measured);
    report.mean_radius_ratio /= static_cast<double>(measured);
  }
  return report;
}

Finding find_duplicates(const std::vector<Vec3>& points, const std::vector<bool>& finite) {
  std::vector<int> order;
  for (std::size_t v = 0; v < points.size(); ++v) {
    if (finite[v]) order.push_back(static_cast<int>(v));
  }
  std::sort(order.begin(), order.end(), [&](int a, int b) {
    const Vec3 &p = points[a], &q = points[b];
    if (p == q) return a < b;
    return std::lexicographical_compare(p.data(), p.data() + 3, q.data(), q.data() + 3);
  });
  Finding found;
  for (std::size_t i = 1; i < order.size(); ++i) {
    if (points[order[i]] != points[order[i - 1]]) continue;
    ++found.count;
    if (found.first < 0 || order[i] < found.first) found.first = order[i];
  }
  return found;
}

// The mesh without the elements that name vertices that do not exist: connectivity asserts its indices.
Mesh valid_part(const Mesh& mesh) {
  Mesh valid;
  valid.vertices = mesh.vertices;
  const int count = static_cast<int>(mesh.vertices.size());
  const auto exists = [&](const auto& element) {
    return std::all_of(element.begin(), element.end(), [&](int v) { return v >= 0 && v < count; });
  };
  if (mesh.tetrahedra.empty()) {
    std::copy_if(mesh.triangles.begin(), mesh.triangles.end(), std::back_inserter(valid.triangles), exists);
  } else {
    std::copy_if(mesh.tetrahedra.begin(), mesh.tetrahedra.end(), std::back_inserter(valid.tetrahedra),
                 exists);
  }
  return valid;
}

void assess_connectivity(QualityReport& report, const Mesh& mesh) {
  const Components components = connected_components(mesh);
  report.components = components.count;
  for (std::size_t v = 0; v < mesh.vertices.size(); ++v) {
    if (components.of_vertex[v] < 0) note(report.unused, v);
  }
}

void add_finding(std::string& text, const Finding& finding, const char* what) {
  if (finding.count == 0) return;
  text += fmt::format(" {} {} (the first is {}).", finding.count, what, finding.first);
}

}  // namespace

ElementQuality tetrahedron_quality(const std::array<Vec3, 4>& corners) {
  return summary(measure(corners, false));
}

ElementQuality triangle_quality(const std::array<Vec3, 3>& corners, bool planar) {
  return summary(measure(corners, planar));
}

QualityReport assess_quality(const Mesh& mesh, const QualityOptions& options) {
  const bool solid = !mesh.tetrahedra.empty();
  std::vector<bool> finite(mesh.vertices.size());
  Finding not_finite;
  bool planar = true;
  for (std::size_t v = 0; v < mesh.vertices.size(); ++v) {
    finite[v] = mesh.vertices[v].allFinite();
    planar = planar && mesh.vertices[v].z() == 0;
    if (!finite[v]) note(not_finite, v);
  }
  QualityReport report = solid ? assess_elements(mesh, mesh.tetrahedra, finite, false, options)
                               : assess_elements(mesh, mesh.triangles, finite, planar, options);
  report.dimension = solid ? 3 : 2;
  report.vertices = mesh.vertices.size();
  report.elements = solid ? mesh.tetrahedra.size() : mesh.triangles.size();
  report.not_finite = not_finite;
  report.duplicates = find_duplicates(mesh.vertices, finite);
  assess_connectivity(report, report.bad_indices.count > 0 ? valid_part(mesh) : mesh);
  return report;
}

std::string describe(const QualityReport& report) {
  const bool solid = report.dimension == 3;
  const char* unit = solid ? "m³" : "m²";
  const char* size = solid ? "Volume" : "Area";
  std::string text =
      fmt::format("{} vertices, {} {} in {} connected part{}.", report.vertices, report.elements,
                  solid ? "tetrahedra" : "triangles", report.components, report.components == 1 ? "" : "s");
  if (report.worst_element >= 0) {
    text += fmt::format(
        " {} {:.6g} {} (elements {:.3g} to {:.3g}), edges {:.3g} to {:.3g} m, on average {:.3g} m. {} "
        "{:.1f}° to "
        "{:.1f}°; radius ratio {:.2f} on average, {:.3f} at worst (element {}).",
        size, report.volume, unit, report.smallest_volume, report.largest_volume, report.shortest_edge,
        report.longest_edge, report.mean_edge, solid ? "Dihedral angles" : "Angles", report.smallest_angle,
        report.largest_angle, report.mean_radius_ratio, report.worst_radius_ratio, report.worst_element);
  }
  add_finding(text, report.bad_indices, "elements name vertices that do not exist");
  add_finding(text, report.not_finite, "vertices are not finite");
  add_finding(text, report.inverted, "elements are inverted");
  add_finding(text, report.flat, solid ? "elements have no volume" : "elements have no area");
  add_finding(text, report.slivers, "elements are slivers");
  add_finding(text, report.unused, "vertices belong to no element");
  add_finding(text, report.duplicates, "vertices repeat the place of another");
  return text;
}

}  // namespace lope::geometry
