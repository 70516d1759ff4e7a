// Bodies of nodes that may touch, as one minimisation per step: their objectives, contact with obstacles and each other,
// friction, and the minimiser. Where a step is not one minimisation but several (friction and equilibria hold something
// fixed and renew it; a scheme that would gain energy is replaced), the rounds are here too.
#pragma once

#include <lope/matter/contact/barrier.h>
#include <lope/matter/contact/contact.h>
#include <lope/matter/contact/friction_potential.h>
#include <lope/matter/contact/obstacle_penalty.h>
#include <lope/matter/contact/self_contact.h>
#include <lope/matter/island_objective.h>
#include <lope/matter/nodal_matter.h>
#include <lope/step/model.h>
#include <lope/step/report.h>

#include <memory>
#include <span>
#include <vector>

namespace lope::step {

// What an island finds at the beginning of a step.
struct IslandStart {
  std::vector<const matter::NodalState*> bodies;     // as the island's
  std::span<const matter::Contact> contacts;         // at the end of the last step
  optimize::KeptModelPtr kept;                       // what the minimiser may begin with
  matter::BarrierMemory barrier;
};

class Island {
 public:
  // `bodies`: their places in the model; `parts`: the same as matter. Everything outlives the island.
  Island(const Model& model, std::vector<std::size_t> bodies, std::vector<matter::NodalMatter*> parts);

  const std::vector<std::size_t>& bodies() const { return bodies_; }
  const std::vector<matter::NodalMatter*>& parts() const { return parts_; }
  optimize::Objective& objective() { return *objective_; }
  const optimize::Objective& objective() const { return *objective_; }
  optimize::Minimizer& minimizer() { return *minimizer_; }
  void use(std::unique_ptr<optimize::Minimizer> minimizer) { minimizer_ = std::move(minimizer); }
  // Whether frozen choices (Objective::choices) are of this island's constraints.
  bool fits(std::span<const double> choices) const;

  // Sets everything up for a step; returns where its minimisation starts.
  std::vector<double> begin_step(const IslandStart& from, const matter::StepTimes& step, bool falls_back);
  // Where the island goes in a step: the ends of its bodies' steps. False: nowhere.
  bool solve(const IslandStart& from, const matter::StepTimes& step, optimize::MinimizerOptions options,
             IslandReport& result);
  // With implicit friction, and where impacts are looked for: what touches at the end of the step that was solved last.
  std::vector<matter::Contact> take_contacts() { return std::move(contacts_); }
  // What barriers know after it.
  const matter::BarrierMemory& barrier_memory() const { return barrier_memory_; }

 private:
  void add_contact();
  void add_energies();
  void add_barrier();
  IslandReport empty_report() const;
  void place_obstacles(const matter::StepTimes& step);
  std::vector<Vec3> surfaces_at(double time) const;
  bool arrive(std::span<double> x, const optimize::MinimizerOptions& options, optimize::MinimizerSummary& all);
  bool solve_once(const IslandStart& from, const matter::StepTimes& step, const optimize::MinimizerOptions& options,
                  IslandReport& result);
  optimize::MinimizerSummary minimize(std::span<double> x, const optimize::MinimizerOptions& options,
                                      ContactReport& report);
  class Renewal;
  bool another_round(std::span<double> x, const optimize::MinimizerOptions& options, Renewal& renewal,
                     optimize::MinimizerSummary& all);
  bool hold_at(std::span<const double> x);
  struct EnergyChange;
  EnergyChange energy_change();
  double further_energies(std::span<const double> x);
  bool looks_for_impacts(const matter::StepTimes& step) const;
  double work_from_outside(matter::NodalMatter& part);

  // first_guess.cpp
  std::vector<double> first_guess();
  void shorten(std::vector<double>& x);

  // island_contacts.cpp
  std::vector<matter::Contact> contacts_at(std::span<const double> x);
  std::vector<matter::Contact> contacts_of();
  matter::Contact contact_of(const matter::BarrierPair& pair) const;
  double friction_of(const matter::Contact& contact) const;
  bool renew_friction();
  bool revise_friction();
  void begin_friction();
  void start_renewals();
  bool take_friction(std::vector<matter::Contact> contacts, std::span<const double> x);
  void set_friction(std::span<const matter::Contact> contacts, std::span<const double> x);
  matter::FrictionContact sliding(const matter::Contact& contact, std::span<const double> x) const;
  void finish_contacts(std::span<const double> x, ContactReport& report);
  void add_friction_forces(ContactReport& report);
  void push(const matter::Contact& contact, const Vec3& force);
  void note_carried(const matter::Contact& contact);
  Vec3 carried_by(const matter::Contact& contact, const Vec3& x) const;
  void come_to_rest(const matter::Contact& contact);
  void slide(const matter::Contact& contact);

  // A node of the island: of which body, and which there.
  struct Place {
    matter::NodalMatter& body;
    std::size_t node;
  };
  Place place(int node) const;
  int dimension() const { return objective_->block_size(); }
  // The part of a vector of the island that belongs to a body, taken from its front.
  template <class T>
  static std::span<T> take_front(std::span<T>& rest, const matter::NodalMatter& body) {
    const std::span<T> own = rest.first(body.objective().size());
    rest = rest.subspan(own.size());
    return own;
  }

  const Model& model_;
  std::vector<std::size_t> bodies_;
  std::vector<matter::NodalMatter*> parts_;
  std::unique_ptr<matter::ObstaclePenalty> penalty_;
  std::unique_ptr<matter::SelfContact> self_contact_;
  std::unique_ptr<matter::BarrierContact> barrier_;
  std::vector<std::size_t> surfaces_;  // the obstacles that barriers see: their numbers in the model
  std::vector<std::unique_ptr<matter::ContactTerm>> energies_;  // of the bodies, beside their own
  std::unique_ptr<matter::FrictionPotential> friction_;  // none: nothing rubs, or OPT's rules do
  std::unique_ptr<matter::IslandObjective>
      joint_;  // none: a single body that touches nothing and has no further energies
  optimize::Objective* objective_ = nullptr;             // the joint one, or that of the single body
  std::unique_ptr<optimize::Minimizer> minimizer_;

  // Of the step that is being taken.
  matter::StepTimes step_;
  std::vector<matter::PlacedObstacle> constraints_, penalties_;
  std::vector<matter::Contact> contacts_;  // with friction: those whose forces it takes
  matter::BarrierMemory barrier_memory_;
  std::vector<matter::Contact> first_contacts_;  // those that the step began with, for bodies that go on as they were
  std::vector<double> unforced_;
  int renewals_ = 0;       // of its forces
  bool renewed_ = false;   // at the last iterate
  bool foreseen_ = false;  // they are those where a direction leads
};

}  // namespace lope::step
