// Particles of any kind are a struct of arrays of equal length, x first, that names them:
//
//   template <class Visit, class... P>
//   static void each_array(const Visit& visit, P&... particles);   // visit("x", particles.x...), and so on
//
// From this follow how particles are reordered, saved and read. In two or three dimensions they are a variant of both.
#pragma once

#include <lope/base/array_reader.h>
#include <lope/base/parallel.h>
#include <lope/math/types.h>

#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace lope::matter {

template <template <int> class Particles>
using AnyParticles = std::variant<Particles<2>, Particles<3>>;

template <class P2, class P3>
int dimension_of(const std::variant<P2, P3>& particles) {
  return particles.index() == 0 ? 2 : 3;
}

// In a new order: particle k becomes what order[k] was. Fewer entries than particles: the others are dropped. `spare` is memory
// for it; what it holds does not matter.
template <class Particles>
void reorder(Particles& particles, std::span<const std::uint32_t> order, Particles& spare) {
  Particles::each_array(
      [&](const char* /*name*/, auto& values, auto& result) {
        result.resize(order.size());
        parallel_for(order.size(), 4096, [&](std::size_t k) { result[k] = values[order[k]]; });
        values.swap(result);
      },
      particles, spare);
}

template <class P2, class P3>
std::vector<ArrayView> particle_views(const std::variant<P2, P3>& particles) {
  std::vector<ArrayView> views;
  std::visit(
      [&]<class P>(const P& p) {
        P::each_array([&](const char* name, const auto& values) { views.push_back(view(name, values)); }, p);
      },
      particles);
  return views;
}

namespace detail {
inline void read_array(ArrayReader& reader, const char* name, std::vector<double>& to) { to = reader.numbers(name); }
inline void read_array(ArrayReader& reader, const char* name, std::vector<std::int32_t>& to) { to = reader.integers(name); }
template <class Matrix>
void read_array(ArrayReader& reader, const char* name, std::vector<Matrix>& to) {
  to = reader.matrices<Matrix>(name);
}
}  // namespace detail

// The same back, of the dimension that the particles have. Arrays of another length than x are told to the reader.
template <class P2, class P3>
void read_particles(ArrayReader& reader, std::variant<P2, P3>& particles) {
  std::visit(
      [&]<class P>(P& p) {
        P::each_array(
            [&](const char* name, auto& values) {
              detail::read_array(reader, name, values);
              if (values.size() != p.x.size()) reader.miss(name);
            },
            p);
      },
      particles);
}

// m/s; NaN where a velocity is.
template <class Velocity>
double largest_speed(const std::vector<Velocity>& velocities) {
  if (velocities.empty()) return 0;
  return std::sqrt(parallel_max(velocities.size(), 4096, [&](std::size_t begin, std::size_t end) {
    double most = 0;
    for (std::size_t i = begin; i < end; ++i) {
      const double here = velocities[i].squaredNorm();
      if (!(here <= most)) most = here;
      if (std::isnan(most)) return most;
    }
    return most;
  }));
}

// For pictures: three numbers per vector, in single precision; vector i at the place ids[i] where there are any.
template <int Dim>
std::vector<float> drawn(const std::vector<Vec<Dim>>& vectors, std::span<const std::int32_t> ids = {}) {
  std::vector<float> result(3 * vectors.size(), 0.0F);
  for (std::size_t i = 0; i < vectors.size(); ++i) {
    const std::size_t to = ids.empty() ? i : static_cast<std::size_t>(ids[i]);
    for (int a = 0; a < Dim; ++a) result[3 * to + static_cast<std::size_t>(a)] = static_cast<float>(vectors[i][a]);
  }
  return result;
}

}  // namespace lope::matter
