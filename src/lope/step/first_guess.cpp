// Where the minimisation of an island's step starts. OPT §3.1: the candidate of smallest energy; scripted nodes are at
// their scripted positions in all of them. OPT compares inertia with explicit Euler; the current positions, which win at
// rest, and x̂ are further ones. A rescue adds the bodies' rest shapes.
//
// An objective need not be moved to where it is already. So explicit Euler comes early, since it needs the forces where the last step
// ended, and x̂, which wins most often, is the last: the minimisation begins there.
#include <lope/linalg/space.h>
#include <lope/step/island.h>

#include <cmath>
#include <limits>

namespace lope::step {
namespace {

enum class Candidate { Target, Current, Inertia, Explicit, Rest };

double value_at(optimize::Objective& objective, std::span<const double> x) {
  objective.move_to(x);
  return objective.value();
}

std::vector<double> candidate_of(matter::NodalMatter& part, Candidate candidate) {
  const matter::NodalState& now = part.from();
  matter::StepObjective& objective = part.objective();
  const auto d = static_cast<std::size_t>(part.dimension());
  const bool from_target = candidate == Candidate::Target || candidate == Candidate::Explicit;
  std::vector<double> x = from_target ? part.terms().target : now.x;
  if (candidate == Candidate::Inertia) linalg::combine(part.times().h, now.v, 1, x);
  if (candidate == Candidate::Explicit) {
    std::vector<double> force(x.size());
    objective.move_to(now.x);
    objective.potential_gradient(force);
    for (std::size_t k = 0; k < x.size(); ++k) x[k] -= force[k] / (part.terms().inertia * objective.masses()[k / d]);
  }
  part.put_scripted(x);
  if (candidate == Candidate::Rest) {
    std::vector<double> shape = part.fitted_rest_shape(now.x);
    part.put_scripted(shape);
    if (value_at(objective, shape) < value_at(objective, x)) x.swap(shape);
  }
  return x;
}

}  // namespace

// Guesses behind a surface are of no use: goes towards them from where the step begins as far as nothing crosses.
void Island::shorten(std::vector<double>& x) {
  const double part = barrier_->free_part(x, {});
  if (part >= 1) return;
  std::span<double> rest(x);
  for (const matter::NodalMatter* body : parts_) {
    const std::span<double> own = take_front(rest, *body);
    linalg::combine(1 - part, body->from().x, part, own);
  }
  objective_->project(x);
}

std::vector<double> Island::first_guess() {
  const auto gather = [&](Candidate candidate) {
    std::vector<double> all;
    for (matter::NodalMatter* part : parts_) {
      const std::vector<double> x = candidate_of(*part, candidate);
      all.insert(all.end(), x.begin(), x.end());
    }
    objective_->project(all);
    if (barrier_) shorten(all);
    return all;
  };
  if (model_.solver.initial_guess == InitialGuess::Inertia) return gather(Candidate::Target);
  std::vector<double> best, x;
  double smallest = std::numeric_limits<double>::infinity();
  for (const Candidate candidate :
       {Candidate::Explicit, Candidate::Rest, Candidate::Inertia, Candidate::Current, Candidate::Target}) {
    if (candidate == Candidate::Rest && model_.solver.initial_guess != InitialGuess::Rescue) continue;
    x = gather(candidate);
    const double value = value_at(*objective_, x);
    if (std::isfinite(value) && value <= smallest) {
      smallest = value;
      best.swap(x);
    }
  }
  return best.empty() ? x : best;
}

}  // namespace lope::step
