#include <lope/geometry/overlap.h>
#include <lope/geometry/quality.h>
#include <lope/geometry/thickness.h>
#include <lope/scene/body_mesh.h>
#include <lope/scene/kinds/solid_check.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include <fmt/core.h>

namespace lope::scene {
namespace {

// Ratios from which rounding and convergence suffer noticeably.
constexpr double large_stiffness_ratio = 1e4;
constexpr double large_density_ratio = 1e3;
constexpr double large_neighbour_ratio = 1e3;

// Bodies beyond are rare, and mostly meshes in millimetres (or in micrometres).
constexpr double large_size = 50, small_size = 1e-4;  // m
constexpr double large_mass = 1e6;                    // kg

// Linear elements are far too stiff in bending with fewer cells across.
constexpr double enough_across = 2.75;

// What backward Euler leaves of the speed of a body that falls upon something, a fit to rubber balls that fall 0.5 m in
// steps of 1/24 s to 1/960 s. `width`: of the body; waves cross it with √(E/ρ).
struct Bounce {
  double rate = 0;  // about how fast a bouncing body oscillates, rad/s
  Bounce(double young, double density, double width) : rate(1.3 * std::sqrt(young / density) / width) {}
  double restitution(double step) const {
    const double turn = rate * step;
    return 1 / (1 + 2 * turn + 0.25 * turn * turn);
  }
  double step_of_a_half() const { return 0.47 / rate; }
};

// Blocks of the factor per n^(4/3) (3D) and per n log₂ n (2D) vertices: nested dissection of regular grids
// (George & Liu 1981, ch. 8, gives 31/4 n log₂ n in the plane).
constexpr double factor_growth_3d = 7.75;
constexpr double factor_growth_2d = 7.75;

class SolidChecker {
 public:
  SolidChecker(const Kind& kind, Checking& checking)
      : kind_(kind), checking_(checking), solids_(each<matter::SolidBody>(checking.model.bodies)) {}

  void run() {
    for (const matter::SolidBody& body : solids_) this->body(body);
    between_bodies();
  }

 private:
  void body(const matter::SolidBody& body) {
    const geometry::QualityReport quality = geometry::assess_quality(body.mesh);
    usable_.push_back(quality.usable());
    elements(body, quality);
    const bool sound = quality.bad_indices.count + quality.not_finite.count == 0;
    double weight = 0;
    if (sound && materials(body)) {
      weight = mass(body);
      neighbours(body);
      plausible(body, weight);
      if (quality.usable()) across(body);
      bounce(body);
    }
    const std::size_t scripted = checking_.handles(body);
    CheckReport& report = checking_.report;
    report.bodies.push_back({body.name,
                             fmt::format("body '{}': {:.4g} kg, {} scripted vertices. {}", body.name, weight, scripted,
                                         geometry::describe(quality)),
                             "",
                             {{"mass", weight}, {"elements", static_cast<double>(quality.elements)}}});
    checking_.count_nodes(kind_, body, element_count(body.mesh));
    const MemoryEstimate memory = estimate_memory(body);
    report.memory.elements += memory.elements;
    report.memory.matrix += memory.matrix;
    report.memory.factor += memory.factor;
  }

  void elements(const matter::SolidBody& body, const geometry::QualityReport& quality) {
    const auto tell = [&](const geometry::Finding& finding, Severity severity, const char* what,
                          const char* advice) {
      if (finding.count == 0) return;
      checking_.report.findings.push_back(
          {severity, fmt::format("body '{}': {} {} (the first is number {}); {}", body.name, finding.count,
                                 what, finding.first, advice)});
    };
    if (quality.elements == 0) checking_.fail("body '{}': has no elements", body.name);
    tell(quality.bad_indices, Severity::Error, "elements name vertices that do not exist", "repair the mesh");
    tell(quality.not_finite, Severity::Error, "vertices are not finite", "repair the mesh");
    tell(quality.inverted, Severity::Error, "elements are inverted", "repair the mesh");
    tell(quality.flat, Severity::Error, "elements have no volume", "repair the mesh");
    tell(quality.unused, Severity::Error, "vertices belong to no element", "remove them");
    tell(quality.slivers, Severity::Warning, "elements are slivers",
         "they slow the solver down: mesh again, for instance from the surface");
    tell(quality.duplicates, Severity::Warning, "vertices lie on top of another",
         "the body may be torn there: merge them");
    if (quality.components > 1) {
      checking_.warn("body '{}': consists of {} separate parts", body.name, quality.components);
    }
  }

  bool materials(const matter::SolidBody& body) {
    bool sound = !body.materials.empty();
    for (const double density : body.density_of_material) {
      if (density > 0 && std::isfinite(density)) continue;
      checking_.fail("body '{}': its density is {} kg/m³; give it a positive one", body.name, density);
      sound = false;
    }
    for (const material::Parameters& material : body.materials) {
      if (material.mu > 0 && std::isfinite(material.mu) && std::isfinite(material.lambda)) continue;
      checking_.fail("body '{}': its shear modulus is {} Pa; give it a positive Young's modulus", body.name,
           material.mu);
      sound = false;
    }
    return sound;
  }

  static std::size_t material_of(const matter::SolidBody& body, std::size_t element) {
    return body.material_of_element.empty() ? 0 : static_cast<std::size_t>(body.material_of_element[element]);
  }

  static double mass(const matter::SolidBody& body) {
    double sum = 0;
    for (std::size_t e = 0; e < element_count(body.mesh); ++e) {
      sum += body.density_of_material[material_of(body, e)] * element_measure(body.mesh, e);
    }
    return sum;
  }

  void plausible(const matter::SolidBody& body, double mass) {
    const double size = geometry::bounds(body.mesh.vertices).extent().maxCoeff();
    if (size > large_size || mass > large_mass) {
      checking_.warn(
          "body '{}': is {:.3g} m large and weighs {:.3g} kg; if its mesh is in millimetres, say transform = "
          "{{ scale = "
          "0.001 }}",
          body.name, size, mass);
    } else if (size < small_size) {
      checking_.warn("body '{}': is only {:.3g} m large; are the units of its shape or transform right?", body.name,
           size);
    }
  }

  void across(const matter::SolidBody& body) {
    const geometry::ThinPart thin = geometry::thin_part(body.mesh, body.dimension == 2);
    double cell = 0;  // mean extent of the elements in that direction: in a lattice all have that of a cell
    const auto add = [&](const auto& element) {
      double low = std::numeric_limits<double>::infinity(), high = -low;
      for (const int i : element) {
        const double at = thin.direction.dot(body.mesh.vertices[static_cast<std::size_t>(i)]);
        low = std::min(low, at);
        high = std::max(high, at);
      }
      cell += (high - low) / static_cast<double>(element_count(body.mesh));
    };
    if (body.mesh.tetrahedra.empty())
      std::for_each(body.mesh.triangles.begin(), body.mesh.triangles.end(), add);
    else
      std::for_each(body.mesh.tetrahedra.begin(), body.mesh.tetrahedra.end(), add);
    const double cells = thin.extent / cell;
    if (thin.extent == 0 || cells >= enough_across) return;
    checking_.warn(
        "body '{}': has {:.2g} cells across its thinnest part ({:.3g} m) and will be too stiff in bending; "
        "say edge = "
        "{:.2g} for three, or less",
        body.name, cells, thin.extent, thin.extent / 3);
  }

  // Whether a body that may fall upon something bounces as it should.
  void bounce(const matter::SolidBody& body) {
    if (checking_.model.scheme != step::Scheme::BackwardEuler || body.materials.empty()) return;
    const bool held = std::any_of(body.handles.begin(), body.handles.end(), [&](const matter::Handle& handle) {
      return handle.begin <= 0 && handle.end >= checking_.scene.duration;
    });
    const bool falls = !checking_.model.gravity.isZero(0) || !body.initial_velocities.empty();
    const bool meets = !checking_.model.obstacles.empty() || (body.touches_others && solids_.size() > 1);
    if (held || !falls || !meets) return;
    const material::Parameters& m = body.materials.front();
    const double young = m.mu * (3 * m.lambda + 2 * m.mu) / (m.lambda + m.mu);
    const double width = geometry::bounds(body.mesh.vertices).extent().head(body.dimension).minCoeff();
    const Bounce bounce(young, body.density_of_material.front(), width);
    const double impact_step = checking_.model.impact_step;
    const double step = impact_step > 0 ? std::min(impact_step, checking_.model.step) : checking_.model.step;
    const double restitution = bounce.restitution(step);
    if (restitution > 0.9) return;
    checking_.note(
        "body '{}': backward Euler takes speed from impacts; with steps of {:.3g} s expect it to come back "
        "with about "
        "{:.2f} of it, with steps of {:.2g} s with a half (time.impact_step shortens those with impacts alone)",
        body.name, step, restitution, bounce.step_of_a_half());
  }

  // The extremes of mass and stiffness × size among the elements around each vertex.
  void neighbours(const matter::SolidBody& body) {
    struct Extremes {
      double least = std::numeric_limits<double>::infinity(), most = 0;
      void add(double value) {
        least = std::min(least, value);
        most = std::max(most, value);
      }
      double ratio() const { return least > 0 ? most / least : 1; }
    };
    std::vector<Extremes> mass(body.mesh.vertices.size()), stiffness(body.mesh.vertices.size());
    const auto add = [&](const auto& element, std::size_t e) {
      const double measure = element_measure(body.mesh, e);
      for (const int i : element) {
        mass[static_cast<std::size_t>(i)].add(body.density_of_material[material_of(body, e)] * measure);
        stiffness[static_cast<std::size_t>(i)].add(body.materials[material_of(body, e)].mu);
      }
    };
    for (std::size_t e = 0; e < element_count(body.mesh); ++e) {
      body.mesh.tetrahedra.empty() ? add(body.mesh.triangles[e], e) : add(body.mesh.tetrahedra[e], e);
    }
    const auto tell = [&](const std::vector<Extremes>& values, double limit, const char* what) {
      const auto worst =
          std::max_element(values.begin(), values.end(),
                           [](const Extremes& a, const Extremes& b) { return a.ratio() < b.ratio(); });
      if (worst == values.end() || worst->ratio() <= limit) return;
      checking_.warn(
          "body '{}': {} of the elements around vertex {} differ by a factor {:.3g}; expect slow convergence",
          body.name, what, worst - values.begin(), worst->ratio());
    };
    tell(mass, large_neighbour_ratio, "the masses");
    tell(stiffness, large_stiffness_ratio, "the stiffnesses");
  }

  void between_bodies() {
    const auto& bodies = solids_;
    for (std::size_t i = 0; i < bodies.size(); ++i) {
      for (std::size_t j = i + 1; j < bodies.size(); ++j) {
        overlap(bodies[i], bodies[j],
                usable_[i] && usable_[j]);
        ratio(
            bodies[i], bodies[j], [](const matter::SolidBody& b) { return b.materials.front().mu; },
            large_stiffness_ratio, "stiffness");
        ratio(
            bodies[i], bodies[j], [](const matter::SolidBody& b) { return b.density_of_material.front(); },
            large_density_ratio, "density");
      }
    }
  }

  void overlap(const matter::SolidBody& a, const matter::SolidBody& b, bool usable) {
    if (!usable || a.dimension != b.dimension) return;
    const geometry::Bounds one = geometry::bounds(a.mesh.vertices), other = geometry::bounds(b.mesh.vertices);
    if ((one.min.array() > other.max.array()).any() || (other.min.array() > one.max.array()).any()) return;
    const geometry::OverlapReport found = geometry::find_overlap(a.mesh, b.mesh);
    if (found.pairs == 0) return;
    checking_.warn(
        "bodies '{}' and '{}' overlap at the start: {} pairs of elements, by up to {:.3g} m; move one of "
        "them",
        a.name, b.name, found.pairs, found.depth);
  }

  template <class Property>
  void ratio(const matter::SolidBody& a, const matter::SolidBody& b, const Property& property, double limit,
             const char* what) {
    if (a.materials.empty() || b.materials.empty()) return;
    const double x = property(a), y = property(b);
    if (!(x > 0 && y > 0) || std::max(x / y, y / x) <= limit) return;
    checking_.warn("bodies '{}' and '{}' differ in {} by a factor {:.3g}; the softer or lighter one sets the accuracy",
         a.name, b.name, what, std::max(x / y, y / x));
  }

  const Kind& kind_;
  Checking& checking_;
  std::vector<std::reference_wrapper<const matter::SolidBody>> solids_;
  std::vector<bool> usable_;  // whether their meshes are
};

}  // namespace

void check_solids(const Kind& kind, Checking& checking) { SolidChecker(kind, checking).run(); }

MemoryEstimate estimate_memory(const matter::SolidBody& body) {
  const auto vertices = static_cast<double>(body.mesh.vertices.size());
  const auto elements = static_cast<double>(element_count(body.mesh));
  const double d = body.dimension;
  // Euler's formula; in 3D with two boundary triangles per boundary vertex, of which a compact body has about
  // 6 n^(2/3).
  const double boundary = d == 3 ? 6 * std::pow(vertices, 2.0 / 3) : 0;
  const double edges = vertices + elements + boundary;
  const double block = d * d * sizeof(double);
  MemoryEstimate memory;
  // Per element: indices, three d×d matrices (inverse rest shape and the two rotations), slots of the matrix.
  const double per_element =
      (d + 1) * sizeof(int) + 3 * d * d * sizeof(double) + (d + 1) * (d + 1) * sizeof(int);
  constexpr double work_vectors = 24;
  memory.elements = elements * per_element + work_vectors * vertices * d * sizeof(double);
  memory.matrix = (vertices + 2 * edges) * (block + sizeof(int));
  const double factor_blocks = d == 3 ? factor_growth_3d * std::pow(vertices, 4.0 / 3)
                                      : factor_growth_2d * vertices * std::log2(std::max(2.0, vertices));
  memory.factor = factor_blocks * block;
  return memory;
}

}  // namespace lope::scene
