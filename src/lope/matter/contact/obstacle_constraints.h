// Collisions with analytic obstacles as constraints φ_b(x_i) ≥ 0 on every free node i (OPT §3.2, §5.1).
//
// The objective is E(x) = E′(P(x)) with P(x) = x − φ∇φ for every violated or active pair. A touching pair is
// active for one iteration if ∇E′·∇φ ≥ 0 there; an active pair is projected from both sides, so that a line
// search slides along the surface, and lets go only at the next iteration. With n = ∇φ, Q = I − nnᵀ, g′ = ∇E′
// and H′ its Hessian, the derivatives in the tangent space of the active pairs are Qg′ and Q(H′ −
// (g′·n)∇²φ)Q. Deviations from OPT, which has one obstacle per node in mind and writes the full Hessian of
// E′∘P:
// - that Hessian is indefinite on every curved obstacle; the tangential part alone is not (NUMERICS §3). The
// normal
//   directions get a positive multiple of nnᵀ on the diagonal, so that a search direction has no normal part;
// - edges and corners, of one obstacle or between several: the active pairs of a node are those that the
// steepest
//   descent, projected onto the cone of feasible directions, would press against; P leads onto their
//   intersection;
// - where a surface ends in a sharp edge, a pair whose normal has turned by more than 60° since the iteration
// began is
//   not held any more: the node has slid off the face;
// - nodes that are released and caught again by turns can stop each other for ever. After settle(), all that
//   touches is held, and released only while the gradient that this frees is larger than the one that is free
//   already (the proportioning of Dostál 1997): what is held is solved before it is let go;
// - the projected Hessian keeps the positive part of −(g′·n)∇²φ only;
// - for minimisers that ask for it, revise() decides what is active where a direction leads, not where it begins:
//   the primal-dual active set method for the quadratic model (Hintermüller, Ito & Kunisch 2002), with planes in place of
//   curved surfaces. A node that is caught on its way does not touch yet: a direction leads it onto the surface (gap),
//   while gradients and paths leave it free.
//
// In 2D the obstacles are cut by the plane z = 0. One thread at a time may call an object.
#pragma once

#include <lope/linalg/block_matrix.h>
#include <lope/linalg/hierarchy.h>
#include <lope/matter/contact/obstacle.h>
#include <lope/optimize/objective.h>

#include <cstdint>
#include <span>
#include <vector>

namespace lope::matter {

// An active pair at the end of an iteration or a step.
struct ActivePair {
  int node = 0;
  int obstacle = 0;
  Vec3 normal = Vec3::Zero();  // ∇φ
  double force = 0;            // (g′·n) ≥ 0, newtons: what the obstacle exerts along the normal
  Mat3 curvature = Mat3::Zero();  // ∇²φ
};

class ObstacleConstraints {
 public:
  // Pairs closer than `touching` (metres) touch; closer than `revised` where revise() decided what is held.
  struct Closeness {
    double touching = 0, revised = 0;
  };
  ObstacleConstraints(int dimension, std::size_t nodes, Closeness closeness);

  // `fixed` nodes are left alone. Nothing is active at first. Both spans live as long as the step.
  void begin_step(std::span<const PlacedObstacle> obstacles, std::span<const std::uint8_t> fixed);
  bool any() const { return !obstacles_.empty(); }

  // Active pairs are from now on released with caution, until the next step. False: there are none, or it is
  // so already.
  bool settle();
  // Registers the active set at x, g = ∇E′(x).
  void register_active(std::span<const double> x, std::span<const double> g);
  std::span<const ActivePair> active() const { return pairs_; }
  // The active set where the linear model leads: d is a direction from x, g_end = g′ + H′d. Pairs that would pull are released, nodes
  // that would enter an obstacle are caught, though they do not touch yet; the forces are those that g_end tells. True if the set is
  // another one. Nodes that were held at the last call stay so in the next register_active() while they touch.
  bool revise(std::span<const double> x, std::span<const double> d, std::span<const double> g_end);
  // Forgets what was foreseen.
  void forget();
  // Makes a direction lead the active nodes onto the surfaces.
  void lead(std::span<double> d) const;
  // Q and Σ(g′·n)∇²φ of the active nodes as numbers, and back: enough for project_gradient(),
  // project_hessian() and project_product(), wherever the obstacles have gone since. Active pairs are
  // forgotten.
  std::vector<double> choices() const;
  void choose(std::span<const double> choices);
  // Whether a node may move now where these choices held it.
  bool frees_more_than(std::span<const double> choices) const;
  // Whether numbers from elsewhere can be choices.
  bool fits(std::span<const double> choices) const;

  // x ← P(x).
  void project(std::span<double> x) const;
  // d ← DP(x) d: the direction of the curve P(x + αd) at P(x).
  void project_direction(std::span<const double> x, std::span<double> d) const;
  // g ← Qg, for the nodes that touch.
  void project_gradient(std::span<double> g) const;
  // d ← Qd, for all active nodes.
  void project_to_tangents(std::span<double> d) const;
  // H′ → Q(H′ − Σ(g′·n)∇²φ)Q + s(I − Q), s the mean of the diagonal of the node's block.
  void project_hessian(optimize::HessianKind kind, linalg::BlockMatrix& hessian) const;
  // Q of every active node, after those that are there; an active node's takes the place of another one.
  void add_projectors(std::vector<linalg::RowProjector>& projectors) const;
  // y ← Q(y − Σ(g′·n)∇²φ p), where p = Q·direction and y = H′p, then + (I − Q)·direction.
  void project_product(optimize::HessianKind kind, std::span<const double> direction,
                       std::span<const double> p, std::span<double> y) const;

  // Deepest violation max(−φ, 0) of any free node, and where.
  struct Penetration {
    double depth = 0;
    int node = -1;
    int obstacle = -1;
  };
  Penetration deepest(std::span<const double> x) const;

 private:
  // A node with active pairs [first, last) of pairs_.
  struct ActiveNode {
    int node = 0;
    std::size_t first = 0, last = 0;
    Vec3 point = Vec3::Zero();        // where it was when registered
    Mat3 tangent = Mat3::Identity();  // Q
    Mat3 curvature = Mat3::Zero();    // Σ(g′·n)∇²φ
    Vec3 gap = Vec3::Zero();          // the way to the surfaces, where it was caught on its way …
    double distance = 0;              // … and how far it was at most
    bool touches() const { return distance == 0; }
  };
  struct Registered {
    std::vector<ActiveNode> nodes;
    std::vector<ActivePair> pairs;
  };
  static constexpr std::size_t nodes_at_once = 512;
  static bool contains(const geometry::Bounds& bounds, const Vec3& x, double margin);
  void clear();
  Vec3 point(std::span<const double> x, std::size_t node) const;
  void nearby(const Vec3& x, double reach, std::vector<const geometry::LevelSet*>& out) const;
  void gather(const Vec3& x, double reach, std::vector<geometry::LevelSetSample>& features, std::vector<int>& owner) const;
  // With `keep`, all that touch are active.
  void register_node(std::size_t node, const Vec3& x, const Vec3& g, bool keep, Registered& out) const;
  std::vector<Registered> register_all(std::span<const double> x, std::span<const double> g, bool keep) const;
  double squared_free_gradient(std::span<const double> g, const std::vector<Registered>& parts) const;
  // Makes the features at `foot`, those of them that are chosen, active pairs, with the forces that g tells.
  void hold_on(std::size_t node, const Vec3& x, const Vec3& foot, std::span<const geometry::LevelSetSample> features,
               std::span<const int> owner, const Vec3& g, Registered& out) const;
  bool still_pressed(const ActiveNode& active, const Vec3& g_end, Registered& out) const;
  bool catch_node(std::size_t node, const Vec3& x, const Vec3& end, const Vec3& g_end, Registered& out) const;
  void finish(ActiveNode active, Registered& out) const;
  void take(const std::vector<Registered>& parts);
  void project_to_tangent(const ActiveNode& active, std::span<double> d) const;
  bool lead_to(std::size_t node, const Vec3& x, const Vec3& foot, const Vec3& g_end, Registered& out) const;
  bool lead_again(const ActiveNode& active, const Vec3& x, const Vec3& end, const Vec3& g_end, Registered& out) const;
  Vec3 hold(const ActiveNode& active, const Vec3& x) const;
  Vec3 project_node(std::size_t node, const Vec3& x, bool& moved) const;
  Mat3 derivative(std::size_t node, const Vec3& x) const;
  Mat3 curvature(optimize::HessianKind kind, const ActiveNode& active) const;

  int dimension_;
  std::size_t nodes_;
  Closeness closeness_;
  double touching_;       // the one that counts now
  bool revised_ = false;  // since what is active was registered
  std::span<const PlacedObstacle> obstacles_;
  std::span<const std::uint8_t> fixed_;
  std::vector<geometry::Bounds> bounds_;  // per obstacle
  std::vector<ActiveNode> active_;
  std::vector<ActivePair> pairs_;
  std::vector<int> active_of_node_;  // −1: none
  std::vector<std::uint8_t> foreseen_;  // nodes that revise() found active
  std::vector<std::uint8_t> caught_;    // how many times, since the last register_active()
  bool cautious_ = false;
};

}  // namespace lope::matter
