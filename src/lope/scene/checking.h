// What the kinds of matter tell `lope check` with.
#pragma once

#include <lope/matter/nodal_matter.h>
#include <lope/scene/check.h>
#include <lope/scene/kind.h>

#include <string>
#include <utility>

#include <fmt/core.h>

namespace lope::scene {

class Checking {
 public:
  const Scene& scene;
  const step::Model& model;
  CheckReport& report;

  template <class... Args>
  void note(fmt::format_string<Args...> format, Args&&... args) {
    report.findings.push_back({Severity::Note, fmt::format(format, std::forward<Args>(args)...)});
  }
  template <class... Args>
  void warn(fmt::format_string<Args...> format, Args&&... args) {
    report.findings.push_back({Severity::Warning, fmt::format(format, std::forward<Args>(args)...)});
  }
  template <class... Args>
  void fail(fmt::format_string<Args...> format, Args&&... args) {
    report.findings.push_back({Severity::Error, fmt::format(format, std::forward<Args>(args)...)});
  }

  // Whether the steps are short enough to see a motion.
  void pace(const geometry::Motion& motion, const std::string& what);
  // The handles of a body. Returns the number of vertices that some handle holds.
  std::size_t handles(const matter::NodalBody& body);
  // Counts the unknowns of a body of nodes, and its part of frames and checkpoints.
  void count_nodes(const Kind& kind, const matter::NodalBody& body, std::size_t elements);
  // Counts positions and the fields of a kind that the run writes in single precision.
  void count_frame(const Kind& kind, double vertices, double elements);

 private:
  void speed(const matter::NodalBody& body, std::size_t handle);
};

}  // namespace lope::scene
