// The liquid of liquid.h: what is in liquid.cpp, and its pressure in liquid_pressure.cpp. For these two sources only.
#pragma once

#include <lope/matter/liquid/extrapolation.h>
#include <lope/matter/liquid/liquid.h>
#include <lope/matter/liquid/pressure_solvers.h>
#include <lope/matter/liquid/pressure_system.h>
#include <lope/matter/liquid/seeding.h>
#include <lope/matter/liquid/walls.h>
#include <lope/matter/liquid/surface.h>
#include <lope/matter/liquid/volume.h>

#include <cmath>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace lope::matter::liquid {

template <int Dim>
class ParticleLiquid final : public Liquid {
 public:
  explicit ParticleLiquid(const Description& description);

  State start(std::size_t* covered) const override;

  Report advance(State& state, double time, double h, const std::function<bool()>& stop_requested) override;

  GridFields fields(const State& state, double time) override;
  void forget() override { dt_ = 0; }

 private:
  using Bricks = geometry::BrickSet<Dim>;
  using Index = geometry::GridIndex<Dim>;

  Seeding seeding() const { return {description_.particles_per_axis, description_.seed}; }
  double per_cell() const { return std::pow(description_.particles_per_axis, Dim); }
  double particle_volume() const { return std::pow(description_.dx, Dim) / per_cell(); }

  static void reject(Report& report, std::string reason) {
    report.accepted = report.converged = false;
    report.reason = std::move(reason);
  }

  Walls place_walls(double time, double dt) const;

  // Of anything in the next substep: particles, the fall through a cell, emitters, walls where the particles
  // are.
  double expected_speed(const Particles<Dim>& particles, double time, double h) const;

  // The longest that any wall goes from `time` on, in a time h, where the particles are.
  double way_of_walls(const Particles<Dim>& particles, double time, double h) const;

  // Layers of faces beyond the liquid that get a velocity: as far as a particle may go, and its interpolation
  // reaches.
  int layers() const { return static_cast<int>(std::ceil(description_.cfl)) + 2; }

  void substep(State& state, Particles<Dim>& particles, double time, double dt, Report& report);
  void bin(Particles<Dim>& particles);
  void feed(Particles<Dim>& particles, const Walls& walls, double time, Report& report);
  void sample_walls(const Walls& walls);
  void spread_samples(bool moving);
  void find_surface();
  template <class Test>
  void mark_faces(PerAxis<std::vector<geometry::BrickMask<Dim>>, Dim>& masks, const Test& test) const;
  void give_unknown_faces();
  void apply_gravity(double dt);
  void solve_pressure(State& state, double dt, Report& report);
  double pressure_tolerance() const;
  void note_enclosed(double dt, Report& report) const;
  optimize::complementarity::LcpSummary find_pressure(double tolerance);
  void recall_pressure(const State& state, double dt);
  void keep_pressure(State& state, double dt) const;
  void extend_velocities(const Walls& walls);
  void exchange(Particles<Dim>& particles, std::int64_t round, Report& report);
  void carry(Particles<Dim>& particles, const Walls& walls, double dt) const;
  double way_to_walls(std::size_t brick, std::size_t cell) const;
  void stop_at_wall(const Walls& walls, double margin, Vec<Dim>& x, Vec<Dim>& v) const;
  void remove_lost(Particles<Dim>& particles, const Walls& walls, Report& report);
  void measure(const Particles<Dim>& particles, Report& report) const;
  void look_at(const State& state, double time);
  bool near_liquid(std::size_t place) const;

  const Description description_;
  Grid<Dim> grid_;
  SortingMemory<Dim> sorting_;
  PressureGrid<Dim> pressure_grid_;
  PressureSystem<Dim> system_;
  std::unique_ptr<PressureSolver<Dim>> solver_;
  FaceField<Dim> faces_;
  PerAxis<std::vector<double>, Dim> before_;  // velocities that the particles gave
  PerAxis<std::vector<double>, Dim> after_;   // divergence-free, extended
  std::vector<Vec<Dim>> carried_;             // velocities that carry the particles
  std::vector<double> mass_, fraction_, open_kernel_, open_volume_, q_;
  std::vector<std::uint8_t> brick_free_, brick_near_thin_;
  PerAxis<std::vector<std::uint8_t>, Dim> valid_;  // faces next to liquid
  KnownFaces<Dim> known_;
  CellMasks<Dim> deep_;                      // cells with liquid on all sides
  PerAxis<std::vector<double>, Dim> drift_;  // of particles inside the liquid, m
  std::vector<std::uint8_t> brick_drifts_;
  using Sample = std::shared_ptr<const BrickWalls<Dim>>;
  std::vector<Sample> samples_;           // per brick
  std::map<Index, Sample> rest_samples_;  // of bricks that no displaced wall is near
  std::vector<bool> displaced_;           // walls, when rest_samples_ was made
  double dt_ = 0;
  double wall_way_ = 0;  // of the walls in this substep, m
};

}  // namespace lope::matter::liquid
