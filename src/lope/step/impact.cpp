// Bounces at long strides. A contact that is shorter than the step cannot be resolved by it: backward Euler, to which the other
// schemes fall back where they would gain energy, stops what hits within a step, and the bounce is lost. Instead of a
// coefficient of restitution, which would have to know the material, its shape and everything it touches, a step in
// which contact takes more than 2 % of an island's energy (friction apart) is taken again in parts of at most
// Model::impact_step. Nothing is added to the energies: a bounce is what the scheme gives with the shorter steps.
//
// Whether a step is divided depends on the state alone, so that resumed runs have the same bits.
#include <lope/step/past.h>

#include <algorithm>
#include <cmath>

namespace lope::step {
namespace {

// The report of a whole step from those of its parts: work is added up, contacts are those of the end, and the first part that did
// not converge decides.
void append(IslandReport& all, IslandReport next) {
  const optimize::MinimizerSummary before = all.solve;
  next.contact.friction_loss += all.contact.friction_loss;
  next.contact.rounds = std::max(next.contact.rounds, all.contact.rounds);
  next.fell_back = next.fell_back || all.fell_back;
  optimize::MinimizerSummary sum = before;
  sum.append(next.solve);
  if (!before.converged() && next.solve.has_result()) {
    sum.outcome = before.outcome;
    sum.reason = before.reason;
    sum.measure = before.measure;
    sum.tolerance = before.tolerance;
  }
  all = std::move(next);
  all.solve = std::move(sum);
}

}  // namespace

// `whole` is the step that lost energy and was taken back: its work counts, its outcome does not.
StepReport Simulation::take_parts(double h, StepReport whole) {
  auto before = std::make_unique<Past>(
      Past{state_.time, state_.step, state_.previous_h, state_.kept, state_.contacts, state_.bodies, state_.barriers});
  const int parts = static_cast<int>(std::ceil(h / model_.impact_step * (1 - 1e-12)));
  StepReport report;
  for (int k = 0; k < parts; ++k) {
    StepReport part = take_step(h / parts);
    if (k == 0) {
      report = std::move(part);
    } else {
      report.islands.resize(part.islands.size());  // a failure ends a part at its island
      for (std::size_t i = 0; i < part.islands.size(); ++i) append(report.islands[i], std::move(part.islands[i]));
      report.bodies = std::move(part.bodies);
      report.accepted = part.accepted;
      report.interrupted = part.interrupted;
    }
    if (!report.accepted) break;
    state_.step = whole.step;  // the parts are one step
  }
  report.step = whole.step;
  report.time = whole.time;
  report.h = h;
  report.parts = parts;
  for (std::size_t i = 0; i < report.islands.size(); ++i) {
    optimize::MinimizerSummary tried = std::move(whole.islands[i].solve);
    tried.append(report.islands[i].solve);
    report.islands[i].solve = std::move(tried);
    report.islands[i].impact = whole.islands[i].impact;
  }
  past_ = std::move(before);
  if (report.accepted) {
    state_.time = whole.time;
  } else {
    take_back();
  }
  return report;
}

}  // namespace lope::step
