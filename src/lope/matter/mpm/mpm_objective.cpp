#include <lope/base/parallel.h>
#include <lope/linalg/space.h>
#include <lope/material/evaluate.h>
#include <lope/matter/displacement_budget.h>
#include <lope/matter/kernel_choice.h>
#include <lope/matter/mpm/mpm_objective.h>
#include <lope/matter/mpm/splines.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace lope::matter::mpm {
namespace {
constexpr std::size_t grain = 2048;
// Of what lagged matter may bear: renewals in a first minimisation, and in further ones where it is off by more than this part.
constexpr int whole_renewals = 3, most_renewals = 8, further_renewals = 3;
constexpr double lag_accuracy = 0.02;
constexpr double least_volume = 1e-9;  // J below which logarithms are taken of this
}  // namespace

template <int Dim>
MpmObjective<Dim>::MpmObjective(std::span<const Material> materials, double length, Embedding embedding, Isa isa)
    : materials_(materials.begin(), materials.end()),
      kernels_(kernels_for(isa, []<Isa which>() -> const Kernels& { return compiled_kernels<Dim, which>(); })),
      embedding_(embedding) {
  for (const Material& m : materials_) {
    rest_stiffness_.push_back(material::rest_stiffness_norm<Dim>(m.elastic));
    lagged_ = lagged_ || (m.flows_within && material::is_lagged(m.plasticity));
  }
  scales_.length = length;
  scratch_.resize(worker_count());
}

template <int Dim>
void MpmObjective<Dim>::begin_step(Grid<Dim>& grid, const Particles<Dim>& particles, const Conditions<Dim>& conditions,
                                   std::span<const double> velocity, const Vec<Dim>& gravity, double h) {
  grid_ = &grid;
  conditions_ = &conditions;
  h_ = h;
  const std::size_t n = size();
  for (auto* vector : {&inertial_, &unforced_, &positions_, &point_, &work_, &moved_, &remaining_}) vector->resize(n);
  lightest_point_ = particles.mass.empty() ? 0 : *std::min_element(particles.mass.begin(), particles.mass.end());
  weights_.resize(nodes());
  parallel_for(nodes(), grain, [&](std::size_t i) {
    const Vec<Dim> x = grid.position(i);
    weights_[i] = weight(i);
    for (std::size_t a = 0; a < Dim; ++a) {
      const auto k = static_cast<Eigen::Index>(a);
      positions_[Dim * i + a] = x[k];
      unforced_[Dim * i + a] = x[k] + h * velocity[Dim * i + a];
      inertial_[Dim * i + a] = h * velocity[Dim * i + a] + h * h * gravity[k];
    }
  });
  renewals_ = 0;
  fill_batches(particles);
  find_scales(particles);
  has_energy_ = false;
  tangent_kind_ = matrix_kind_ = Have::Nothing;
}

template <int Dim>
void MpmObjective<Dim>::inertial_guess(std::span<double> u) const {
  linalg::copy(inertial_, u);
  conditions_->apply(u);
}

template <int Dim>
void MpmObjective<Dim>::unforced_guess(std::span<double> u) const {
  linalg::add_scaled(unforced_, -1, positions_, u);
  conditions_->apply(u);
}

// Runs of one density in a block are cut into batches.
template <int Dim>
void MpmObjective<Dim>::fill_batches(const Particles<Dim>& particles) {
  const auto model_at = [&](std::size_t p) { return model_of(materials_[static_cast<std::size_t>(particles.part[p])]); };
  model_.clear();
  filled_.clear();
  first_particle_.clear();
  batch_start_.assign(1, 0);
  std::vector<std::size_t> block_of;
  for (std::size_t b = 0; b < grid_->blocks().size(); ++b) {
    const auto& block = grid_->blocks()[b];
    for (std::size_t p = block.begin; p < block.end;) {
      std::size_t end = p + 1;
      while (end < block.end && end < p + lanes && model_at(end) == model_at(p)) ++end;
      model_.push_back(model_at(p));
      filled_.push_back(static_cast<int>(end - p));
      first_particle_.push_back(p);
      block_of.push_back(b);
      p = end;
    }
    batch_start_.push_back(static_cast<int>(model_.size()));
  }
  const std::size_t count = model_.size();
  base_.resize(count);
  rest_.resize(count * Layout<Dim>::rest_rows);
  state_.resize(count * Layout<Dim>::state_rows);
  tangent_.resize(count * Layout<Dim>::tangent_rows);
  part_.resize(count * lanes);
  parallel_for(count, 64, [&](std::size_t batch) {
    fill_batch(particles, grid_->blocks()[block_of[batch]], batch, first_particle_[batch], filled_[batch]);
  });
}

template <int Dim>
void MpmObjective<Dim>::fill_batch(const Particles<Dim>& particles, const typename Grid<Dim>::Block& block,
                                   std::size_t batch, std::size_t first, int count) {
  using L = Layout<Dim>;
  Row* rest = rest_.data() + batch * L::rest_rows;
  for (int lane = 0; lane < lanes; ++lane) {
    const bool real = lane < count;
    const std::size_t p = first + static_cast<std::size_t>(real ? lane : 0);  // padding repeats the first
    const Material& material = materials_[static_cast<std::size_t>(particles.part[p])];
    const material::Parameters elastic = material::hardened(material.elastic, material.plasticity, particles.plastic[p]);
    const auto at = grid_->place(block, particles.x[p]);
    base_[batch].lane[lane] = at.local;
    for (int i = 0; i < Dim; ++i) {
      for (int j = 0; j < Dim; ++j) rest[Dim * i + j].lane[lane] = particles.F[p](i, j);
      rest[L::place + i].lane[lane] = at.at[i];
    }
    rest[L::volume].lane[lane] = real ? particles.volume[p] : 0;
    rest[L::mu].lane[lane] = elastic.mu;
    rest[L::lambda].lane[lane] = elastic.lambda;
    part_[batch * lanes + static_cast<std::size_t>(lane)] = particles.part[p];
    if (material.flows_within)
      set_yielding(rest, lane, material, std::log(std::max(particles.F[p].determinant(), least_volume)), particles.plastic[p]);
  }
}

template <int Dim>
void MpmObjective<Dim>::set_yielding(Row* rest, int lane, const Material& material, double trace, double variable) const {
  using L = Layout<Dim>;
  const material::Yielding made = material::yielding<Dim>(material.elastic, material.plasticity, trace, h_, variable);
  rest[L::yield].lane[lane] = made.yield;
  rest[L::left].lane[lane] = made.left;
  rest[L::correction].lane[lane] = made.correction;
  rest[L::tension].lane[lane] = made.tension;
}

// What lagged matter may bear goes this part of the way to what it may at the current point.
template <int Dim>
typename MpmObjective<Dim>::Renewal MpmObjective<Dim>::renew_yield(std::size_t batch, double part) {
  using L = Layout<Dim>;
  Row* rest = rest_.data() + batch * L::rest_rows;
  const Row* state = state_.data() + batch * L::state_rows;
  Renewal sums;
  for (int lane = 0; lane < filled_[batch]; ++lane) {
    const Material& material = materials_[static_cast<std::size_t>(part_[batch * lanes + static_cast<std::size_t>(lane)])];
    if (!material::is_lagged(material.plasticity)) continue;
    double J = 1;
    for (int i = 0; i < Dim; ++i) J *= state[L::sigma + i].lane[lane];
    const double before = rest[L::yield].lane[lane];
    set_yielding(rest, lane, material, std::log(std::max(J, least_volume)), rest[L::correction].lane[lane]);
    const double weight = rest[L::volume].lane[lane] * rest[L::mu].lane[lane], change = rest[L::yield].lane[lane] - before;
    sums.changed += weight * std::abs(change);
    sums.all += weight * before;
    rest[L::yield].lane[lane] = before + part * change;
  }
  return sums;
}

template <int Dim>
bool MpmObjective<Dim>::asks_for_renewal() {
  if (!lagged_) return false;
  std::vector<Renewal> each(model_.size());
  parallel_for(each.size(), 64, [&](std::size_t batch) {
    if (model_[batch].yields) each[batch] = renew_yield(batch, 0);
  });
  Renewal sum;
  for (const Renewal& part : each) sum = {sum.changed + part.changed, sum.all + part.all};
  if (!(sum.changed > lag_accuracy * sum.all)) return false;
  renewals_ = std::min(renewals_, most_renewals - further_renewals);
  return true;
}

template <int Dim>
bool MpmObjective<Dim>::renews() const {
  return lagged_ && renewals_ < most_renewals;
}

template <int Dim>
bool MpmObjective<Dim>::begin_iteration() {
  if (!renews()) return false;
  const double part = renewals_++ < whole_renewals ? 1 : 0.5;
  parallel_for(model_.size(), 64, [&](std::size_t batch) {
    if (model_[batch].yields) renew_yield(batch, part);
  });
  has_energy_ = false;
  tangent_kind_ = matrix_kind_ = Have::Nothing;
  return true;
}

template <int Dim>
bool MpmObjective<Dim>::settle() {
  if (!renews()) return false;
  renewals_ = most_renewals;
  return true;
}

// ξ_i: the mass-weighted mean over the particles around node i, ℓ_i = 24dx² (2D: 8dx).
template <int Dim>
void MpmObjective<Dim>::find_scales(const Particles<Dim>& particles) {
  scales_.per_block.resize(nodes());
  const double dx = grid_->dx(), around = Dim == 3 ? 24 * dx * dx : 8 * dx;
  double stiffness = 0, volume = 0;
  for (std::size_t p = 0; p < particles.size(); ++p) {
    stiffness += particles.volume[p] * rest_stiffness_[static_cast<std::size_t>(particles.part[p])];
    volume += particles.volume[p];
  }
  scales_.global = volume > 0 ? stiffness / volume * around * std::sqrt(1.0 * static_cast<double>(nodes())) : 0;
  grid_->scatter(
      1,
      [&](std::size_t b, double* local) {
        const auto& block = grid_->blocks()[b];
        for (std::size_t p = block.begin; p < block.end; ++p) {
          const auto at = grid_->place(block, particles.x[p]);
          const double share = particles.mass[p] * rest_stiffness_[static_cast<std::size_t>(particles.part[p])];
          Spline<Dim>(at.at).each([&](int node, double w) { local[at.local + node] += share * w; });
        }
      },
      scales_.per_block);
  parallel_for(nodes(), grain, [&](std::size_t i) { scales_.per_block[i] *= around / grid_->masses()[i]; });
}

template <int Dim>
Batches MpmObjective<Dim>::batches() {
  return {model_.data(), filled_.data(), base_.data(), rest_.data(), state_.data(), tangent_.data(), 1 / grid_->dx()};
}

template <int Dim>
void MpmObjective<Dim>::move_to(std::span<const double> u) {
  linalg::copy(u, point_);
  parallel_for(grid_->blocks().size(), 1, [&](std::size_t b) {
    std::array<double, static_cast<std::size_t>(Dim) * Grid<Dim>::reach> local;
    grid_->gather(b, Dim, u, local.data());
    kernels_.decompose(batches(), batch_start_[b], batch_start_[b + 1], local.data());
  });
  has_energy_ = false;
  tangent_kind_ = matrix_kind_ = Have::Nothing;
}

template <int Dim>
double MpmObjective<Dim>::elastic_energy() {
  if (has_energy_) return energy_.value;
  std::vector<EnergySums> parts(grid_->blocks().size());
  parallel_for(parts.size(), 4, [&](std::size_t b) {
    parts[b] = kernels_.energy(batches(), batch_start_[b], batch_start_[b + 1]);
  });
  energy_ = {};
  for (const EnergySums& part : parts) energy_ += part;
  has_energy_ = true;
  return energy_.value;
}

template <int Dim>
double MpmObjective<Dim>::value(double give_up_above) {
  const double inertia = space().sum(nodes(), grain, [&](std::size_t begin, std::size_t end) {
    double sum = 0;
    for (std::size_t i = begin; i < end; ++i) {
      double square = 0;
      for (std::size_t a = 0; a < Dim; ++a) {
        const double off = point_[Dim * i + a] - inertial_[Dim * i + a];
        square += off * off;
      }
      sum += 0.5 * weights_[i] * square;
    }
    return sum;
  });
  const double first = inertia + conditions_->drag_energy(point_);
  if (first > give_up_above) return first;
  return first + elastic_energy();
}

template <int Dim>
double MpmObjective<Dim>::value_noise() {
  const double elastic = elastic_energy();
  return 4 * std::numeric_limits<double>::epsilon() * (energy_.magnitude + std::abs(value(std::numeric_limits<double>::infinity()) - elastic));
}

template <int Dim>
void MpmObjective<Dim>::forces(std::span<double> g) {
  grid_->scatter(
      Dim, [&](std::size_t b, double* local) { kernels_.gradient(batches(), batch_start_[b], batch_start_[b + 1], local); },
      g);
}

template <int Dim>
void MpmObjective<Dim>::full_gradient(std::span<double> g) {
  forces(g);
  parallel_for(nodes(), grain, [&](std::size_t i) {
    for (std::size_t k = Dim * i; k < Dim * (i + 1); ++k) g[k] += weights_[i] * (point_[k] - inertial_[k]);
  });
}

template <int Dim>
void MpmObjective<Dim>::gradient(std::span<double> g) {
  full_gradient(g);
  conditions_->add_drag(g);
  conditions_->project(g);
}

template <int Dim>
linalg::HierarchyPtr MpmObjective<Dim>::hierarchy() {
  if (hierarchy_for_ != grid_->pattern()->id()) {
    hierarchy_ = node_embedding<Dim>(grid_->node_indices(), embedding_);
    hierarchy_for_ = grid_->pattern()->id();
  }
  return hierarchy_;
}

template <int Dim>
std::vector<linalg::RowProjector> MpmObjective<Dim>::projectors() const {
  std::vector<linalg::RowProjector> result;
  for (const auto& projector : conditions_->projectors()) {
    linalg::RowProjector& made = result.emplace_back();
    made.row = projector.node;
    for (int i = 0; i < Dim; ++i) {
      for (int j = 0; j < Dim; ++j) made.block[static_cast<std::size_t>(Dim * i + j)] = projector.Q(i, j);
    }
  }
  return result;
}

template <int Dim>
double MpmObjective<Dim>::largest_motion(std::span<const double> u) const {
  return space().max(nodes(), grain, [&](std::size_t begin, std::size_t end) {
    double most = 0;
    for (std::size_t i = begin; i < end; ++i) {
      const double way = importance(i) * Eigen::Map<const Vec<Dim>>(u.data() + Dim * i).norm();
      if (!(way <= most)) most = way;
    }
    return most;
  });
}

// The error is that of the points: nodes with hardly any mass count by what points notice of them.
template <int Dim>
optimize::ErrorBudget MpmObjective<Dim>::budget(std::span<const double> d, double accuracy) const {
  parallel_for(nodes(), grain, [&](std::size_t i) {
    const double part = importance(i);
    for (std::size_t k = Dim * i; k < Dim * (i + 1); ++k) {
      remaining_[k] = part * d[k];
      moved_[k] = unforced_[k] + part * (positions_[k] + point_[k] - unforced_[k]);
    }
  });
  const BodyMotion motion{Dim, scales_.length, grid_->masses(), conditions_->fixed(), positions_, unforced_};
  return displacement_budget(motion, moved_, remaining_, accuracy > 0 ? accuracy : 1e-4 * scales_.length);
}

template <int Dim>
typename MpmObjective<Dim>::Stretches MpmObjective<Dim>::stretches(std::size_t particle) const {
  using L = Layout<Dim>;
  const auto batch =
      static_cast<std::size_t>(std::upper_bound(first_particle_.begin(), first_particle_.end(), particle) -
                               first_particle_.begin()) - 1;
  const std::size_t lane = particle - first_particle_[batch];
  const Row* state = state_.data() + batch * L::state_rows;
  Stretches result;
  for (int i = 0; i < Dim; ++i) {
    for (int j = 0; j < Dim; ++j) {
      result.U(i, j) = state[L::u + Dim * i + j].lane[lane];
      result.V(i, j) = state[L::v + Dim * i + j].lane[lane];
    }
    result.sigma[i] = state[L::sigma + i].lane[lane];
  }
  return result;
}

template <int Dim>
double MpmObjective<Dim>::fastest_sound_squared(const Particles<Dim>& particles) const {
  return parallel_max(particles.size(), grain, [&](std::size_t begin, std::size_t end) {
    double most = 0;
    for (std::size_t p = begin; p < end; ++p) {
      const Material& material = materials_[static_cast<std::size_t>(particles.part[p])];
      const material::Parameters elastic = material::hardened(material.elastic, material.plasticity, particles.plastic[p]);
      // At rest c² = (λ + 2μ)/ρ; a strained material may be stiffer, compressed matter is nearer together.
      const double J = std::max(std::abs(particles.F[p].determinant()), 1e-3);
      most = std::max(most, (elastic.lambda + 2 * elastic.mu) / material.density * std::max(1.0, 1 / J));
    }
    return most;
  });
}

template class MpmObjective<2>;
template class MpmObjective<3>;

}  // namespace lope::matter::mpm
