// Contact that never crosses: barriers between all surface primitives of an island (barrier_energy.h; the family of incremental potential
// contact, Li et al. 2020), and the guarantee that no point at which the term is finite lies behind a crossing.
//
// How nothing ever crosses: the term keeps an *anchor*, a point that was reached from the beginning of the step without a crossing.
// It is infinite at every point that cannot be reached from the anchor on a straight line on which all pairs keep a part of their gap
// (path_bound.h). Whatever a minimiser accepts at a finite value is reached without crossing, along curved search paths (obstacles
// that are constraints) and by methods that do not ask for largest_step() as well, and becomes the next anchor in
// begin_iteration(). largest_step() saves line searches from finding that out by trial.
//
// Pairs are found in a list of candidates that is kept while no node has moved more than a margin from where it was made. Of how far their
// nodes have moved follows that most of them still stay away; only the others are looked at.
//
// κ: every body has a pressure scale (SurfaceOwner::pressure), chosen so that at half its reach the barrier pushes a surface node with a
// tenth of the force that the body's own scale ξℓ stands for (NUMERICS §6): barrier and elastic gradients are then
// of one size. A sheet, which yields across its plane to far less than ξℓ, has a pressure of its own
// (StepObjective::bearing_pressure): with ξℓ its barriers would be walls, which Newton steps overshoot. Of two bodies the smaller one counts: the softer one decides the pressure. Where gaps keep shrinking below a
// thousandth of the reach from step to step, all are doubled (`stiffening`, a part of the state).
//
// Deviations from Li et al.: distances and not their squares; energies per area; pairs of one body never ask for more than nine
// tenths of their distance at rest (pair_candidates.h); no lagging of κ within a step.
//
// Units: metres, joules, newtons. In the plane points against edges, lengths for areas.
#pragma once

#include <lope/matter/contact/contact_term.h>
#include <lope/matter/contact/pair_blocks.h>
#include <lope/matter/contact/pair_candidates.h>

#include <memory>
#include <span>
#include <vector>

namespace lope::matter {

// What barriers remember from step to step.
struct BarrierMemory {
  double stiffening = 1;  // of all pressures
  double least_part = 1;  // BarrierContact::smallest_part at the end of the last step
  bool operator==(const BarrierMemory&) const = default;
};
// After a step that ended with `least_part`.
BarrierMemory next(const BarrierMemory& memory, double least_part);

// A pair whose barrier is at work: forces on its nodes are weight·force·normal.
struct BarrierPair {
  std::array<int, 4> node = {0, 0, 0, 0};      // numbered as in ContactSurface
  std::array<double, 4> weight = {0, 0, 0, 0};  // of the closest points: those of the first primitive positive; 0 where unused
  Vec3 normal = Vec3::Zero();                  // unit, from the second primitive to the first
  double gap = 0;                              // metres
  double reach = 0;
  double force = 0;                            // newtons
};

class BarrierContact final : public ContactTerm {
 public:
  explicit BarrierContact(ContactSurface surface);

  const ContactSurface& surface() const { return surface_; }

  // A step from x (which must be free of crossings), with the obstacles' vertices there; `fixed` per node of the bodies; all pressures
  // times `stiffening`. x is the first anchor.
  void begin_step(std::span<const double> x, std::span<const Vec3> obstacles, std::span<const std::uint8_t> fixed,
                  double stiffening);
  // Which part of the way from the anchor to x and to the obstacles' vertices is free, at most 1 (`obstacles` empty: they stay).
  double free_part(std::span<const double> x, std::span<const Vec3> obstacles);
  // Goes that part of it: x becomes the point that is reached, and the anchor; obstacles go with it.
  void advance(std::span<double> x, std::span<const Vec3> obstacles, double part);

  bool begin_iteration() override;
  void move_to(std::span<const double> x) override;
  double value() override;
  double value_noise() override;
  void add_gradient(std::span<double> g) override;
  void add_hessian(optimize::HessianKind kind, linalg::BlockAssembler& hessian) override;
  void add_hessian_times(optimize::HessianKind kind, std::span<const double> p, std::span<double> y) override;
  double largest_step(std::span<const double> d) override;

  // At the current point, in a fixed order.
  const std::vector<BarrierPair>& pairs();
  // The smallest gap of a pair as a part of its reach; 1: no barrier is at work.
  double smallest_part();
  // The smallest gap of a pair that is at work, metres; infinite if there is none.
  double smallest_gap();

 private:
  bool certified();
  bool covers(std::span<const Vec3> x, std::span<const Vec3> d, double part);
  void find_candidates();
  double bound(std::span<const Vec3> x, std::span<const Vec3> d, double keep, double longest, int pieces);
  bool on_known_path() const;
  void look();
  void detect();
  std::vector<Vec3> with_obstacles(std::span<const double> x, std::span<const Vec3> obstacles) const;
  const std::vector<geometry::PairHessian>& locals(optimize::HessianKind kind);

  ContactSurface surface_;
  std::vector<double> pressure_;  // of the owners, but for the stiffening
  PairFinder finder_;
  std::vector<std::uint8_t> led_;
  double margin_ = 0;       // of the candidates
  double least_reach_;      // of all owners
  std::vector<Vec3> point_, anchor_;
  double anchor_gap_ = 0;  // the smallest gap there, no more than the smallest reach
  bool known_ = false;     // whether the current point can be reached: reachable_
  bool reachable_ = false;
  bool detected_ = false;
  std::vector<Vec3> center_;  // where candidates_ were found
  std::vector<CandidatePair> candidates_;
  std::vector<double> radius_;  // of every node, around center_: covers()
  std::vector<BarrierPair> pairs_;
  std::vector<int> pair_candidate_;  // of every pair
  std::vector<double> values_;       // their energies
  double least_gap_ = 0;             // of all candidates
  // The last way that largest_step() looked at.
  std::vector<Vec3> path_start_, path_direction_;
  double path_bound_ = 0;
  bool has_locals_ = false;
  optimize::HessianKind locals_kind_ = optimize::HessianKind::Raw;
  std::vector<geometry::PairHessian> locals_;
  PairBlocks blocks_;
};

// κ per body so that at half of its reach the barrier pushes with its bearing pressure (N/m², one per body) or, where that is 0, each surface node
// with `part` of its scale ξℓ (newtons, one per node of the bodies).
void balance_pressures(ContactSurface& surface, std::span<const double> scale,
                       std::span<const double> bearing, double part = 0.1);

}  // namespace lope::matter
