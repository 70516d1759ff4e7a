#include <lope/base/memory.h>
#include <lope/scene/checking.h>
#include <lope/scene/obstacles.h>
#include <lope/scene/tangles.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <limits>

#include <fmt/core.h>

namespace lope::scene {
namespace {

// Bytes of frames that are hardly meant.
constexpr double large_output = 1e12;

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
  Checker(const Scene& scene, const step::Model& model) : scene_(scene), model_(model) {}

  CheckReport run() {
    times();
    for (const Kind* kind : kinds()) kind->check(checking_);
    obstacles();
    tangles();
    report_.memory.voxels = voxels();
    report_.disk = static_cast<double>(report_.frames) * report_.frame + report_.checkpoint;
    room();
    return std::move(report_);
  }

 private:
  void times() {
    report_.steps = static_cast<std::size_t>(std::max(1.0, std::ceil(scene_.duration / model_.step - 1e-6)));
    if (const double end = static_cast<double>(report_.steps) * model_.step; end > scene_.duration * (1 + 1e-6)) {
      checking_.warn("time.duration: {:.6g} s is not a whole number of steps; the run ends at {:.6g} s", scene_.duration, end);
    }
    const double steps_per_frame = 1 / (scene_.frame_rate * model_.step);
    const double rounded = std::max(1.0, std::round(steps_per_frame));
    report_.frames = 1 + static_cast<std::size_t>(static_cast<double>(report_.steps) / rounded);
    if (std::abs(steps_per_frame - rounded) > 1e-6 * rounded) {
      checking_.warn(
          "time.frame_rate: {:.6g} frames per second are {:.4g} steps per frame; a frame is written every {} "
          "steps",
          scene_.frame_rate, steps_per_frame, rounded);
    }
  }

  // Barriers keep apart what starts apart.
  void tangles() {
    for (const Tangle& tangle : find_tangles(model_)) checking_.fail("{}", describe(tangle));
  }

  void obstacles() {
    const auto touching_bodies = each<matter::NodalBody>(model_.bodies);
    if (!touching_bodies.empty()) {
      for (const step::Obstacle& obstacle : model_.obstacles)
        checking_.pace(obstacle.motion, fmt::format("obstacle '{}'", obstacle.name));
    }
    const bool constrained = std::any_of(
        model_.obstacles.begin(), model_.obstacles.end(),
        [](const step::Obstacle& obstacle) { return obstacle.contact == step::ContactKind::Constraint; });
    const optimize::MethodInfo& method = optimize::info(model_.solver.method);
    if (constrained && !touching_bodies.empty() && !method.honours_projection) {
      checking_.fail(
          "solver.method = \"{}\" cannot keep bodies out of obstacles; say contact = \"penalty\" in every "
          "[[obstacle]], or choose another method (newton, newton-pcg, gast15)",
          method.name);
    }
    const auto touchers = std::count_if(touching_bodies.begin(), touching_bodies.end(),
                                        [](const matter::NodalBody& body) { return body.touches_others; });
    const bool touching =
        touchers > 1 || std::any_of(touching_bodies.begin(), touching_bodies.end(),
                                    [](const matter::NodalBody& body) { return body.self_contact; });
    if (model_.solver.method == optimize::Method::AdmmPd && (touching || !model_.obstacles.empty())) {
      checking_.fail(
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
        checking_.fail("{}; move one of them (contact.start = \"refuse\")", describe(inside, model_));
      } else {
        checking_.warn("{}; {}", describe(inside, model_), what);
      }
    }
  }

  // Whether it fits into this machine.
  void room() {
    const std::string directory = scene_.output.directory;
    if (const double free = free_space(directory); report_.disk > free) {
      checking_.warn(
          "the {} frames need about {} of disk, and where {} would be {} are free; write fewer "
          "(time.frame_rate), or simulate less (time.duration)",
          report_.frames, bytes(report_.disk), directory, bytes(free));
    } else if (report_.disk > large_output) {
      checking_.warn(
          "the {} frames need about {} of disk; write fewer (time.frame_rate), or simulate less "
          "(time.duration)",
          report_.frames, bytes(report_.disk));
    }
    if (const double total = total_memory(); total > 0 && report_.memory.iterative() > total) {
      checking_.warn("about {} of memory are needed, and this machine, or its container, has {}; give {}",
           bytes(report_.memory.iterative()), bytes(total),
           smaller());
    }
  }

  // What makes the scene smaller.
  std::string smaller() const {
    std::string ways;
    for (const Kind* kind : kinds()) {
      const bool there = std::any_of(model_.bodies.begin(), model_.bodies.end(),
                                     [&](const auto& body) { return body->kind() == kind->word(); });
      if (there) ways += fmt::format("{}{}", ways.empty() ? "" : " or ", kind->smaller_by());
    }
    return ways;
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
  CheckReport report_;
  Checking checking_{scene_, model_, report_};
};

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

std::string describe(const CheckReport& report) {
  std::string text;
  for (const BodyCheck& body : report.bodies) text += body.about + "\n";
  if (report.unknowns > 0) text += fmt::format("{} unknowns, ", report.unknowns);
  text += fmt::format("{} steps, {} frames\n", report.steps, report.frames);
  if (report.memory.factor > 0) {
    text += fmt::format(
        "memory: about {} with a direct method (newton), {} with an iterative one (newton-pcg, gast15)\n",
        bytes(report.memory.direct()), bytes(report.memory.iterative()));
  } else {
    text += fmt::format("memory: about {}\n", bytes(report.memory.iterative()));
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
