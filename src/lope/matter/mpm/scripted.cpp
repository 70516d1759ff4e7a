#include <lope/base/parallel.h>
#include <lope/matter/mpm/scripted.h>
#include <lope/matter/mpm/splines.h>

#include <algorithm>

namespace lope::matter::mpm {
namespace {

constexpr std::size_t grain = 2048;
constexpr double carried_share = 0.5;  // of a node's mass

bool acts(const Script& script, double time) { return script.begin <= time && time < script.end; }

}  // namespace

// Points are numbered part by part as they are filled.
template <int Dim>
Scripted<Dim>::Scripted(std::span<const Script> scripts, std::span<const Filling<Dim>> fillings)
    : scripts_(scripts) {
  for (const Script& script : scripts) {
    std::size_t first = 0;
    for (const Filling<Dim>& filling : fillings.first(static_cast<std::size_t>(script.part)))
      first += filling.is_jet() ? 0 : filling.size();
    std::vector<std::uint8_t>& member =
        member_.emplace_back(first + fillings[static_cast<std::size_t>(script.part)].size(), 0);
    for (const int i : script.points) member[first + static_cast<std::size_t>(i)] = 1;
  }
}

template <int Dim>
double Scripted<Dim>::next_change(double time) const {
  double next = std::numeric_limits<double>::infinity();
  for (const Script& script : scripts_) {
    for (const double t : {script.begin, script.end}) {
      if (t > time) next = std::min(next, t);
    }
  }
  return next;
}

template <int Dim>
int Scripted<Dim>::script_of(std::int32_t id, double time) const {
  for (std::size_t k = 0; k < scripts_.size(); ++k) {
    if (static_cast<std::size_t>(id) < member_[k].size() && member_[k][static_cast<std::size_t>(id)] &&
        acts(scripts_[k], time))
      return static_cast<int>(k);
  }
  return -1;
}

template <int Dim>
typename Scripted<Dim>::Step Scripted<Dim>::step(int script, double time, double h) const {
  const Script& of = scripts_[static_cast<std::size_t>(script)];
  return {of.motion.pose(time - of.begin), of.motion.pose(time + h - of.begin)};
}

// The masses of the scripts' points, and how they would move the node, are added up.
template <int Dim>
std::span<const ScriptedNode<Dim>> Scripted<Dim>::nodes(Grid<Dim>& grid, const Particles<Dim>& particles,
                                                        double time, double h) {
  constexpr int components = 1 + Dim;
  nodes_.clear();
  if (std::none_of(scripts_.begin(), scripts_.end(),
                   [&](const Script& script) { return acts(script, time); }))
    return nodes_;
  std::vector<Step> steps;
  for (std::size_t k = 0; k < scripts_.size(); ++k) steps.push_back(step(static_cast<int>(k), time, h));
  share_.resize(components * grid.nodes());
  grid.scatter(
      components,
      [&](std::size_t b, double* local) {
        const auto& block = grid.blocks()[b];
        for (std::size_t p = block.begin; p < block.end; ++p) {
          const int script = script_of(particles.id[p], time);
          if (script < 0) continue;
          const auto at = grid.place(block, particles.x[p]);
          const Vec<Dim> corner = particles.x[p] - grid.dx() * at.at;
          Spline<Dim>(at.at).each_offset([&](int node, double w, const Vec<Dim>& offset) {
            const Vec3 here = in_space<Dim>(corner + grid.dx() * offset);
            const Vec3 way = steps[static_cast<std::size_t>(script)](here) - here;
            double* to = local + components * (at.local + node);
            to[0] += particles.mass[p] * w;
            for (int a = 0; a < Dim; ++a) to[1 + a] += particles.mass[p] * w * way[a];
          });
        }
      },
      share_);
  for (std::size_t i = 0; i < grid.nodes(); ++i) {
    const double* share = share_.data() + components * i;
    if (!(share[0] >= carried_share * grid.masses()[i])) continue;
    ScriptedNode<Dim>& node = nodes_.emplace_back();
    node.number = static_cast<int>(i);
    for (int a = 0; a < Dim; ++a) node.displacement[a] = share[1 + a] / share[0];
  }
  return nodes_;
}

template <int Dim>
void Scripted<Dim>::carry(double time, double h, std::span<const Vec<Dim>> before,
                          Particles<Dim>& particles) const {
  std::vector<Step> steps;
  for (std::size_t k = 0; k < scripts_.size(); ++k) steps.push_back(step(static_cast<int>(k), time, h));
  parallel_for(particles.size(), grain, [&](std::size_t p) {
    const int script = script_of(particles.id[p], time);
    if (script < 0) return;
    particles.x[p] = steps[static_cast<std::size_t>(script)](in_space<Dim>(before[p])).template head<Dim>();
    particles.v[p] = (particles.x[p] - before[p]) / h;
  });
}

template class Scripted<2>;
template class Scripted<3>;

}  // namespace lope::matter::mpm
