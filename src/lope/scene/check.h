// What can be said about a scene before anything runs: trouble in the meshes, between bodies, in the motions;
// how large the problem is, what memory and disk it will take.
#pragma once

#include <lope/geometry/quality.h>
#include <lope/matter/solid/solid.h>
#include <lope/scene/scene.h>
#include <lope/step/model.h>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace lope::scene {

enum class Severity {
  Note,     // good to know: no trouble
  Warning,  // can be simulated, but may not be what was meant
  Error,    // cannot be simulated
};

// "note", "warning", "error".
const char* word(Severity severity);

struct CheckFinding {
  Severity severity = Severity::Warning;
  std::string message;  // one line: which body, what, what to do
};

struct BodyCheck {
  std::string name;
  geometry::QualityReport quality;
  double mass = 0;           // kg (2D: per metre of depth)
  double thinnest = 0;       // across its thinnest part, m
  double cells_across = 0;   // in that direction, about
  std::size_t scripted = 0;  // vertices that some handle holds at some time
};

struct LiquidCheck {
  std::string name;
  std::size_t particles = 0;  // at the start
  std::size_t cells = 0;      // of liquid at the start: unknowns of the pressure
  double cell = 0;            // side, m
};

// Bytes. Estimates: the matrices exactly, the factor by the growth law of nested dissection for compact
// bodies (3D: n^(4/3), 2D: n log n; slender bodies need less), the rest by counting arrays.
struct MemoryEstimate {
  double elements = 0;  // meshes, element data, vectors
  double matrix = 0;    // block-sparse Hessian
  double factor = 0;    // sparse Cholesky, for methods that factorise
  double voxels = 0;    // of obstacles that are grids
  double iterative() const { return elements + matrix + voxels; }
  double direct() const { return iterative() + factor; }
};

struct CheckReport {
  std::vector<CheckFinding> findings;
  std::vector<BodyCheck> bodies;
  std::optional<LiquidCheck> liquid;
  std::size_t unknowns = 0;  // coordinates of the solids, scripted ones included
  std::size_t steps = 0;
  std::size_t frames = 0;
  MemoryEstimate memory;
  double disk = 0;  // bytes of all frames and a checkpoint, uncompressed
  bool failed() const;
  bool troubled() const;  // there is more than notes
};

// Works on any Model, also one that was not built from a scene file.
CheckReport check(const Scene& scene, const step::Model& model);

// The memory of one body.
MemoryEstimate estimate_memory(const matter::SolidBody& body);

// Several lines of text.
std::string describe(const CheckReport& report);

}  // namespace lope::scene
