// The bits of a state as one number.
#pragma once

#include <lope/matter/liquid/liquid_matter.h>
#include <lope/matter/mpm/mpm_matter.h>
#include <lope/step/simulation.h>

#include <cstddef>
#include <cstdint>
#include <span>

namespace lope::golden {

// FNV-1a over bytes.
class Hash {
 public:
  void add(const step::State& state) {
    for (const matter::NodalState& body : each<matter::NodalState>(state.bodies)) {
      add_bytes(body.x);
      add_bytes(body.v);
    }
    for (const matter::LiquidState& body : each<matter::LiquidState>(state.bodies)) {
      std::visit(
          [&](const auto& particles) {
            add_bytes(particles.x);
            add_bytes(particles.v);
            add_bytes(particles.affine);
          },
          body.liquid.particles);
    }
    for (const matter::MpmState& body : each<matter::MpmState>(state.bodies)) {
      std::visit(
          [&](const auto& particles) {
            add_bytes(particles.x);
            add_bytes(particles.v);
            add_bytes(particles.F);
            add_bytes(particles.plastic);
          },
          body.particles);
    }
  }
  std::uint64_t value() const { return hash_; }

 private:
  template <class Values>
  void add_bytes(const Values& values) {
    for (const std::byte byte : std::as_bytes(std::span(values))) {
      hash_ = (hash_ ^ static_cast<std::uint64_t>(byte)) * 0x100000001b3;
    }
  }

  std::uint64_t hash_ = 0xcbf29ce484222325;
};

}  // namespace lope::golden
