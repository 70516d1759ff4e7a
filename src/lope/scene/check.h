// What can be said about a scene before anything runs: trouble in the meshes, between bodies, in the motions;
// how large the problem is, what memory and disk it will take.
#pragma once

#include <lope/scene/scene.h>
#include <lope/step/model.h>

#include <cstddef>
#include <map>
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

// What is found of one body, or of whatever its kind looks at as a whole.
struct BodyCheck {
  std::string name;
  std::string about;   // a line: "body 'bar': 12 kg, …"
  std::string counts;  // what a run's first line says beside the unknowns: "4000 particles of liquid"; empty: nothing
  std::map<std::string, double> numbers = {};  // the same and more, by name: "mass", "elements", "particles", …
};

// Bytes. Estimates: the matrices exactly, the factor by the growth law of nested dissection for compact
// bodies (3D: n^(4/3), 2D: n log n; slender bodies need less), the rest by counting arrays.
struct MemoryEstimate {
  double elements = 0;  // meshes, element data, vectors, particles, cells
  double matrix = 0;    // block-sparse Hessian
  double factor = 0;    // sparse Cholesky, for methods that factorise
  double voxels = 0;    // of obstacles that are grids
  double iterative() const { return elements + matrix + voxels; }
  double direct() const { return iterative() + factor; }
};

struct CheckReport {
  std::vector<CheckFinding> findings;
  std::vector<BodyCheck> bodies;
  std::size_t unknowns = 0;  // of the steps, scripted ones included, where they are known beforehand
  std::size_t steps = 0;
  std::size_t frames = 0;
  MemoryEstimate memory;
  double frame = 0, checkpoint = 0;  // bytes of one, uncompressed
  double disk = 0;                   // bytes of all frames and a checkpoint
  bool failed() const;
  bool troubled() const;  // there is more than notes
};

// Works on any Model, also one that was not built from a scene file.
CheckReport check(const Scene& scene, const step::Model& model);

// Several lines of text.
std::string describe(const CheckReport& report);

}  // namespace lope::scene
