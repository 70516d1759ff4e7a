#include <lope/base/memory.h>
#include <lope/geometry/overlap.h>
#include <lope/geometry/thickness.h>
#include <lope/matter/liquid/liquid_matter.h>
#include <lope/matter/solid/solid.h>
#include <lope/scene/body_mesh.h>
#include <lope/scene/check.h>
#include <lope/scene/obstacles.h>
#include <lope/scene/schema.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <limits>
#include <numbers>

namespace lope::scene {
namespace {

// Ratios from which rounding and convergence suffer noticeably.
constexpr double large_stiffness_ratio = 1e4;
constexpr double large_density_ratio = 1e3;
constexpr double large_neighbour_ratio = 1e3;
// Bytes of frames that are hardly meant.
constexpr double large_output = 1e12;

// Bodies beyond are rare, and mostly meshes in millimetres (or in micrometres).
constexpr double large_size = 50, small_size = 1e-4;  // m
constexpr double large_mass = 1e6;                    // kg

// Linear elements are far too stiff in bending with fewer cells across.
constexpr double enough_across = 2.75;

// Fewer steps than these do not show a motion that repeats, and a turn.
constexpr double steps_of_a_period = 10;
constexpr double large_turn = std::numbers::pi / 4;

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

std::string bytes(double count);

// Free on the disk of a directory that need not be there yet; infinite where the system does not tell.
double free_space(const std::filesystem::path& directory) {
  std::error_code code;
  std::filesystem::path there = std::filesystem::absolute(directory, code);
  while (!std::filesystem::exists(there, code) && there != there.parent_path()) there = there.parent_path();
  const auto space = std::filesystem::space(there, code);
  return code ? std::numeric_limits<double>::infinity() : static_cast<double>(space.available);
}

class Checker {
 public:
  Checker(const Scene& scene, const step::Model& model)
      : scene_(scene), model_(model), solids_(each<matter::SolidBody>(model.bodies)) {}

  CheckReport run() {
    times();
    for (const matter::SolidBody& body : solids_) this->body(body);
    between_bodies();
    obstacles();
    for (const matter::LiquidBody& liquid : each<matter::LiquidBody>(model_.bodies)) this->liquid(liquid);
    sizes();
    room();
    return std::move(report_);
  }

 private:
  template <class... Args>
  void note(fmt::format_string<Args...> format, Args&&... args) {
    report_.findings.push_back({Severity::Note, fmt::format(format, std::forward<Args>(args)...)});
  }
  template <class... Args>
  void warn(fmt::format_string<Args...> format, Args&&... args) {
    report_.findings.push_back({Severity::Warning, fmt::format(format, std::forward<Args>(args)...)});
  }
  template <class... Args>
  void fail(fmt::format_string<Args...> format, Args&&... args) {
    report_.findings.push_back({Severity::Error, fmt::format(format, std::forward<Args>(args)...)});
  }

  void times() {
    report_.steps = static_cast<std::size_t>(std::max(1.0, std::ceil(scene_.duration / model_.step - 1e-6)));
    if (const double end = static_cast<double>(report_.steps) * model_.step; end > scene_.duration * (1 + 1e-6)) {
      warn("time.duration: {:.6g} s is not a whole number of steps; the run ends at {:.6g} s", scene_.duration, end);
    }
    const double steps_per_frame = 1 / (scene_.frame_rate * model_.step);
    const double rounded = std::max(1.0, std::round(steps_per_frame));
    report_.frames = 1 + static_cast<std::size_t>(static_cast<double>(report_.steps) / rounded);
    if (std::abs(steps_per_frame - rounded) > 1e-6 * rounded) {
      warn(
          "time.frame_rate: {:.6g} frames per second are {:.4g} steps per frame; a frame is written every {} "
          "steps",
          scene_.frame_rate, steps_per_frame, rounded);
    }
  }

  void body(const matter::SolidBody& body) {
    BodyCheck checked;
    checked.name = body.name;
    checked.quality = geometry::assess_quality(body.mesh);
    elements(body, checked.quality);
    const bool sound = checked.quality.bad_indices.count + checked.quality.not_finite.count == 0;
    if (sound && materials(body)) {
      checked.mass = mass(body);
      neighbours(body);
      plausible(body, checked.mass);
      if (checked.quality.usable()) across(body, checked);
      bounce(body);
    }
    checked.scripted = handles(body);
    report_.bodies.push_back(std::move(checked));
  }

  void elements(const matter::SolidBody& body, const geometry::QualityReport& quality) {
    const auto tell = [&](const geometry::Finding& finding, Severity severity, const char* what,
                          const char* advice) {
      if (finding.count == 0) return;
      report_.findings.push_back(
          {severity, fmt::format("body '{}': {} {} (the first is number {}); {}", body.name, finding.count,
                                 what, finding.first, advice)});
    };
    if (quality.elements == 0) fail("body '{}': has no elements", body.name);
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
      warn("body '{}': consists of {} separate parts", body.name, quality.components);
    }
  }

  bool materials(const matter::SolidBody& body) {
    bool sound = !body.materials.empty();
    for (const double density : body.density_of_material) {
      if (density > 0 && std::isfinite(density)) continue;
      fail("body '{}': its density is {} kg/m³; give it a positive one", body.name, density);
      sound = false;
    }
    for (const material::Parameters& material : body.materials) {
      if (material.mu > 0 && std::isfinite(material.mu) && std::isfinite(material.lambda)) continue;
      fail("body '{}': its shear modulus is {} Pa; give it a positive Young's modulus", body.name,
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
      warn(
          "body '{}': is {:.3g} m large and weighs {:.3g} kg; if its mesh is in millimetres, say transform = "
          "{{ scale = "
          "0.001 }}",
          body.name, size, mass);
    } else if (size < small_size) {
      warn("body '{}': is only {:.3g} m large; are the units of its shape or transform right?", body.name,
           size);
    }
  }

  void across(const matter::SolidBody& body, BodyCheck& checked) {
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
    checked.thinnest = thin.extent;
    checked.cells_across = thin.extent / cell;
    if (checked.thinnest == 0 || checked.cells_across >= enough_across) return;
    warn(
        "body '{}': has {:.2g} cells across its thinnest part ({:.3g} m) and will be too stiff in bending; "
        "say edge = "
        "{:.2g} for three, or less",
        body.name, checked.cells_across, checked.thinnest, checked.thinnest / 3);
  }

  // Whether a body that may fall upon something bounces as it should.
  void bounce(const matter::SolidBody& body) {
    if (model_.scheme != step::Scheme::BackwardEuler || body.materials.empty()) return;
    const bool held = std::any_of(body.handles.begin(), body.handles.end(), [&](const matter::Handle& handle) {
      return handle.begin <= 0 && handle.end >= scene_.duration;
    });
    const bool falls = !model_.gravity.isZero(0) || !body.initial_velocities.empty();
    const bool meets = !model_.obstacles.empty() || (body.touches_others && solids_.size() > 1);
    if (held || !falls || !meets) return;
    const material::Parameters& m = body.materials.front();
    const double young = m.mu * (3 * m.lambda + 2 * m.mu) / (m.lambda + m.mu);
    const double width = geometry::bounds(body.mesh.vertices).extent().head(body.dimension).minCoeff();
    const Bounce bounce(young, body.density_of_material.front(), width);
    const double restitution = bounce.restitution(model_.step);
    if (restitution > 0.9) return;
    note(
        "body '{}': backward Euler takes speed from impacts; with steps of {:.3g} s expect it to come back "
        "with about "
        "{:.2f} of it, with steps of {:.2g} s with a half",
        body.name, model_.step, restitution, bounce.step_of_a_half());
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
      warn(
          "body '{}': {} of the elements around vertex {} differ by a factor {:.3g}; expect slow convergence",
          body.name, what, worst - values.begin(), worst->ratio());
    };
    tell(mass, large_neighbour_ratio, "the masses");
    tell(stiffness, large_stiffness_ratio, "the stiffnesses");
  }

  // Returns the number of vertices that some handle holds.
  std::size_t handles(const matter::SolidBody& body) {
    std::vector<std::uint8_t> held(body.mesh.vertices.size(), 0);
    std::size_t held_always = 0;
    for (std::size_t j = 0; j < body.handles.size(); ++j) {
      const matter::Handle& handle = body.handles[j];
      if (handle.vertices.empty())
        fail("body '{}': handle {} holds no vertex; enlarge its region", body.name, j);
      for (const int i : handle.vertices) held[static_cast<std::size_t>(i)] = 1;
      speed(body, j);
      pace(handle.motion, fmt::format("body '{}': handle {}", body.name, j));
      const bool always = handle.begin <= 0 && handle.end >= scene_.duration;
      held_always += always ? handle.vertices.size() : 0;
    }
    if (!held.empty() && held_always >= held.size()) {
      warn("body '{}': all its vertices are scripted for the whole run; nothing is left to solve", body.name);
    }
    return static_cast<std::size_t>(std::count(held.begin(), held.end(), 1));
  }

  // The farthest way of a corner of the handle's bounding box within one step.
  void speed(const matter::SolidBody& body, std::size_t j) {
    const matter::Handle& handle = body.handles[j];
    geometry::Bounds box;
    for (const int i : handle.vertices) box.add(body.mesh.vertices[static_cast<std::size_t>(i)]);
    if (handle.vertices.empty()) return;
    const double size = geometry::bounds(body.mesh.vertices).extent().maxCoeff();
    const double end = std::min(handle.end, scene_.duration) - handle.begin;
    const std::array<Vec3, 2> corners{box.min, box.max};
    constexpr int most_steps = 20000;  // a long scene is judged by its beginning
    for (int k = 0; k < most_steps && k * model_.step < end; ++k) {
      const double t = k * model_.step;
      for (const Vec3& corner : corners) {
        const double way =
            (handle.motion.position(corner, t + model_.step) - handle.motion.position(corner, t)).norm();
        if (way <= size) continue;
        return warn(
            "body '{}': handle {} moves by {:.3g} m in the step at {:.4g} s, more than the body's size "
            "{:.3g} m; "
            "use shorter steps or a slower motion",
            body.name, j, way, handle.begin + t, size);
      }
    }
  }

  // Steps see a motion at their ends only.
  void pace(const geometry::Motion& motion, const std::string& what) {
    const auto judge = [&](const auto& curve) {
      const std::vector<double>& times = curve.times;
      if (times.size() < 2) return;
      const double length = times.back() - times.front();
      const bool mirrored = curve.after == geometry::AfterLastKey::Mirror;
      if ((mirrored || curve.after == geometry::AfterLastKey::Loop) && length > 0) {
        const double period = mirrored ? 2 * length : length;
        if (period >= steps_of_a_period * model_.step) return;
        return warn(
            "{} repeats its motion every {:.3g} s, which are {:.2g} steps; use steps of at most {:.2g} s",
            what, period, period / model_.step, period / (2 * steps_of_a_period));
      }
      double shortest = length;
      for (std::size_t k = 1; k < times.size(); ++k) {
        const bool moves = curve.values[k] != curve.values[k - 1];
        if (moves && times[k] > times[k - 1]) shortest = std::min(shortest, times[k] - times[k - 1]);
      }
      if (times.size() == 2 || shortest >= model_.step * (1 - 1e-6)) return;
      warn(
          "{} has keys {:.3g} s apart, closer than a step of {:.3g} s, which does not see what is between "
          "them",
          what, shortest, model_.step);
    };
    judge(motion.displacement);
    judge(motion.angle);
    constexpr int most_steps = 20000;
    for (int k = 0; k < most_steps && k * model_.step < scene_.duration; ++k) {
      const double turn = std::abs(motion.angle.at((k + 1) * model_.step) - motion.angle.at(k * model_.step));
      if (turn <= large_turn) continue;
      return warn("{} turns by {:.3g}° in a step, and its points go straight; use steps of at most {:.2g} s",
                  what, turn * 180 / std::numbers::pi, model_.step * large_turn / (3 * turn));
    }
  }

  void obstacles() {
    if (!solids_.empty()) {
      for (const step::Obstacle& obstacle : model_.obstacles)
        pace(obstacle.motion, fmt::format("obstacle '{}'", obstacle.name));
    }
    const bool constrained = std::any_of(
        model_.obstacles.begin(), model_.obstacles.end(),
        [](const step::Obstacle& obstacle) { return obstacle.contact == step::ContactKind::Constraint; });
    const optimize::MethodInfo& method = optimize::info(model_.solver.method);
    if (constrained && !method.honours_projection) {
      fail(
          "solver.method = \"{}\" cannot keep bodies out of obstacles; say contact = \"penalty\" in every "
          "[[obstacle]], or choose another method (newton, newton-pcg, gast15)",
          method.name);
    }
    const auto touchers = std::count_if(solids_.begin(), solids_.end(),
                                        [](const matter::SolidBody& body) { return body.touches_others; });
    const bool touching =
        touchers > 1 || std::any_of(solids_.begin(), solids_.end(),
                                    [](const matter::SolidBody& body) { return body.self_contact; });
    if (model_.solver.method == optimize::Method::AdmmPd && (touching || !model_.obstacles.empty())) {
      fail(
          "solver.method = \"{}\" knows nothing of contact; choose another one, or say contact = false in "
          "every "
          "[[body]]",
          method.name);
    }
    for (const StartInside& inside : find_start_inside(model_)) {
      const step::Obstacle& obstacle = model_.obstacles[inside.obstacle];
      const char* what = obstacle.contact == step::ContactKind::Constraint
                             ? "they are moved to its surface at the start"
                             : "the penalty will push them out";
      if (scene_.refuse_overlap) {
        fail("{}; move one of them (contact.start = \"refuse\")", describe(inside, model_));
      } else {
        warn("{}; {}", describe(inside, model_), what);
      }
    }
  }

  // Fills the sources once to see what the obstacles leave of them.
  void liquid(const matter::LiquidBody& liquid) {
    const matter::liquid::Description& description = liquid.description;
    matter::liquid::Description filled = description;
    for (const step::Obstacle& obstacle : model_.obstacles) {
      filled.solids.push_back({obstacle.shape, [&obstacle](double time) { return obstacle.pose(time); }});
    }
    LiquidCheck checked;
    checked.name = liquid.name;
    checked.cell = description.dx;
    std::size_t covered = 0;
    const auto model = matter::liquid::make_liquid(filled);
    const matter::liquid::State start = model->start(&covered);
    checked.particles = start.count();
    const auto kinds = model->fields(start, 0).kind;
    checked.cells = static_cast<std::size_t>(
        std::count(kinds.begin(), kinds.end(), matter::liquid::GridFields::Kind::Liquid));
    if (checked.particles == 0 && description.emitters.empty()) {
      fail("liquid '{}': has no particles: its bodies are {}", liquid.name,
           covered > 0 ? "inside obstacles; move them" : "smaller than a cell or outside the domain");
    } else if (covered > 0) {
      warn("liquid '{}': {:.2g} % of its bodies is inside obstacles and is left out; shrink or move them", liquid.name,
           100.0 * static_cast<double>(covered) / static_cast<double>(covered + checked.particles));
    }
    const bool has_surface =
        std::find(kinds.begin(), kinds.end(), matter::liquid::GridFields::Kind::Air) != kinds.end();
    if (checked.particles > 0 && !has_surface) sealed(liquid);
    if (!solids_.empty())
      warn("liquid '{}' and the solid bodies do not feel each other; use obstacles as its walls", liquid.name);
    for (const step::Obstacle& obstacle : model_.obstacles) leaves(obstacle, description);
    report_.liquid = checked;
  }

  // A liquid without a free surface at the start.
  void sealed(const matter::LiquidBody& liquid) {
    constexpr int samples = 100;
    const auto parts = [&](const step::Obstacle& obstacle) {
      for (int k = 1; k <= samples; ++k) {
        const double time = scene_.duration * k / samples;
        const geometry::RigidPose a = model_.obstacles.front().pose(time), b = obstacle.pose(time);
        if (!a.rotation.isApprox(b.rotation, 1e-12) ||
            (a.translation - b.translation).norm() > 1e-9 * liquid.description.dx)
          return true;
      }
      return false;
    };
    const auto mover = std::find_if(model_.obstacles.begin(), model_.obstacles.end(), parts);
    if (mover != model_.obstacles.end()) {
      warn(
          "liquid '{}': has no free surface at the start, and obstacles move against each other ('{}', "
          "'{}'): liquid that "
          "they squeeze cannot give way, and such steps do not converge; leave some air",
          liquid.name, model_.obstacles.front().name, mover->name);
    }
    if (!liquid.description.emitters.empty())
      warn("liquid '{}': has no free surface at the start, so that emitters have no room; leave some air",
           liquid.name);
  }

  // An obstacle that was in the domain of the liquid and is no longer.
  void leaves(const step::Obstacle& obstacle, const matter::liquid::Description& liquid) {
    if (!obstacle.extent.min.allFinite() || !obstacle.extent.max.allFinite()) return;
    constexpr int samples = 200;
    const double reach = 0.5 * obstacle.extent.extent().norm();
    const auto away = [&](double time) {
      const Vec3 middle = obstacle.pose(time).place(obstacle.extent.center());
      for (int a = 0; a < liquid.dimension; ++a) {
        if (middle[a] + reach < liquid.domain.min[a] || middle[a] - reach > liquid.domain.max[a]) return true;
      }
      return false;
    };
    if (away(0)) return;
    for (int k = 1; k <= samples; ++k) {
      const double time = scene_.duration * k / samples;
      if (!away(time)) continue;
      return warn("obstacle '{}' leaves the domain of the liquid at about {:.3g} s", obstacle.name, time);
    }
  }

  void between_bodies() {
    const auto& bodies = solids_;
    for (std::size_t i = 0; i < bodies.size(); ++i) {
      for (std::size_t j = i + 1; j < bodies.size(); ++j) {
        overlap(bodies[i], bodies[j],
                report_.bodies[i].quality.usable() && report_.bodies[j].quality.usable());
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
    warn(
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
    warn("bodies '{}' and '{}' differ in {} by a factor {:.3g}; the softer or lighter one sets the accuracy",
         a.name, b.name, what, std::max(x / y, y / x));
  }

  void sizes() {
    double vertices = 0, elements = 0;
    for (const matter::SolidBody& body : solids_) {
      report_.unknowns += body.mesh.vertices.size() * static_cast<std::size_t>(body.dimension);
      const MemoryEstimate one = estimate_memory(body);
      report_.memory.elements += one.elements;
      report_.memory.matrix += one.matrix;
      report_.memory.factor += one.factor;
      vertices += static_cast<double>(body.mesh.vertices.size());
      elements += static_cast<double>(element_count(body.mesh));
    }
    report_.memory.voxels = voxels();
    double particles = 0;
    if (report_.liquid) {
      // At the start. Per particle: place, velocity, its gradient, five times (two states, sorting, output); per cell of
      // liquid the fields, walls and hierarchy on the bricks around it. Measured on the scenes that come with Lope to a
      // quarter; spray makes it up to twice as much later.
      particles = static_cast<double>(report_.liquid->particles);
      const double d = model_.bodies.back()->dimension;
      const double per_cell = d == 3 ? 5000 : 2000;
      report_.memory.elements += 5 * particles * (2 * d + d * d) * sizeof(double) +
                                 per_cell * static_cast<double>(report_.liquid->cells);
    }
    // Positions and fields in single precision; x, v, their predecessors and accelerations in the checkpoint.
    double numbers = 3 * vertices + 6 * particles;
    for (const SolidField& field : solid_fields()) {
      if (writes_field(scene_, field.name)) numbers += field.components * (field.on_vertices ? vertices : elements);
    }
    const double frame = numbers * sizeof(float);
    const double checkpoint = (5 * static_cast<double>(report_.unknowns) + 15 * particles) * sizeof(double);
    report_.disk = static_cast<double>(report_.frames) * frame + checkpoint;
  }

  // Whether it fits into this machine.
  void room() {
    const std::string directory = scene_.output.directory;
    if (const double free = free_space(directory); report_.disk > free) {
      warn(
          "the {} frames need about {} of disk, and where {} would be {} are free; write fewer "
          "(time.frame_rate), or simulate less (time.duration)",
          report_.frames, bytes(report_.disk), directory, bytes(free));
    } else if (report_.disk > large_output) {
      warn(
          "the {} frames need about {} of disk; write fewer (time.frame_rate), or simulate less "
          "(time.duration)",
          report_.frames, bytes(report_.disk));
    }
    if (const double total = total_memory(); total > 0 && report_.memory.iterative() > total) {
      warn("about {} of memory are needed, and this machine, or its container, has {}; give {}",
           bytes(report_.memory.iterative()), bytes(total),
           report_.liquid ? "larger cells" : "a longer edge");
    }
  }

  // Bytes of the obstacles that are grids: the voxels of their boxes, which their insides do not exceed, in single
  // precision.
  double voxels() const {
    double sum = 0;
    const Value* tables = scene_.resolved.find("obstacle");
    for (std::size_t k = 0; tables && k < std::min(tables->items.size(), model_.obstacles.size()); ++k) {
      const std::string& word = tables->items[k]["shape"].members.front().key;
      const Vec3 extent = model_.obstacles[k].extent.extent();
      if ((word != "mesh" && word != "vdb") || !extent.allFinite()) continue;
      const double side = tables->items[k].has("voxel") ? tables->items[k].number_at("voxel")
                                                        : extent.maxCoeff() / default_obstacle_voxels;
      constexpr double band = 3;  // voxels outside
      sum += (extent.array() / side + 2 * band).prod() * sizeof(float);
    }
    return sum;
  }

  const Scene& scene_;
  const step::Model& model_;
  std::vector<std::reference_wrapper<const matter::SolidBody>> solids_;
  CheckReport report_;
};

std::string bytes(double count) {
  constexpr std::array<const char*, 4> units{"kB", "MB", "GB", "TB"};
  std::size_t k = 0;
  count /= 1e3;
  while (count >= 1000 && k + 1 < units.size()) {
    count /= 1000;
    ++k;
  }
  return fmt::format("{:.3g} {}", count, units[k]);
}

}  // namespace

const char* word(Severity severity) {
  switch (severity) {
    case Severity::Note:
      return "note";
    case Severity::Warning:
      return "warning";
    case Severity::Error:
      break;
  }
  return "error";
}

bool CheckReport::failed() const {
  return std::any_of(findings.begin(), findings.end(),
                     [](const CheckFinding& finding) { return finding.severity == Severity::Error; });
}

bool CheckReport::troubled() const {
  return std::any_of(findings.begin(), findings.end(),
                     [](const CheckFinding& finding) { return finding.severity != Severity::Note; });
}

CheckReport check(const Scene& scene, const step::Model& model) { return Checker(scene, model).run(); }

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

std::string describe(const CheckReport& report) {
  std::string text;
  for (const BodyCheck& body : report.bodies) {
    text += fmt::format("body '{}': {:.4g} kg, {} scripted vertices. {}\n", body.name, body.mass,
                        body.scripted, geometry::describe(body.quality));
  }
  if (report.liquid) {
    text += fmt::format("liquid '{}': at the start {} particles in {} cells of {:.4g} m, the unknowns of its pressure\n",
                        report.liquid->name, report.liquid->particles, report.liquid->cells, report.liquid->cell);
  }
  if (!report.bodies.empty()) text += fmt::format("{} unknowns, ", report.unknowns);
  text += fmt::format("{} steps, {} frames\n", report.steps, report.frames);
  if (report.bodies.empty()) {
    text += fmt::format("memory: about {}\n", bytes(report.memory.iterative()));
  } else {
    text += fmt::format(
        "memory: about {} with a direct method (newton), {} with an iterative one (newton-pcg, gast15)\n",
        bytes(report.memory.direct()), bytes(report.memory.iterative()));
  }
  text +=
      fmt::format("disk: about {} for frames and a checkpoint, exports not counted\n", bytes(report.disk));
  for (const CheckFinding& finding : report.findings) {
    text += fmt::format("{}: {}\n", word(finding.severity), finding.message);
  }
  if (!report.troubled()) text += "no trouble found\n";
  return text;
}

}  // namespace lope::scene
