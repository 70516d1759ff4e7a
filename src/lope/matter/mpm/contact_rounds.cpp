#include <lope/matter/mpm/contact_rounds.h>

#include <algorithm>
#include <cmath>

namespace lope::matter::mpm {
namespace {

constexpr int drag_rounds = 5;           // in which forces of friction are renewed
constexpr double drag_accuracy = 0.05;   // of the largest one
constexpr double clearly_pulled = 1e-3;  // of the largest contact force
constexpr double clearly_inside = 1e-3;  // of dx

}  // namespace

template <int Dim>
void hold_approaching(std::span<const double> u, std::span<const double> masses, double h,
                      Conditions<Dim>& conditions) {
  for (NodeContact<Dim>& contact : conditions.contacts()) {
    const Vec<Dim> way = node_value<Dim>(u, contact.node) - contact.target;
    const double gap = contact.normal.dot(way);
    if (contact.separating) contact.held = gap < 0;
    const Vec<Dim> slid = way - gap * contact.normal;
    const double push = std::max(-gap, 0.0), size = slid.norm();
    contact.stuck = contact.held && contact.friction > 0 && size <= contact.friction * push;
    contact.drag.setZero();
    if (contact.held && !contact.stuck && contact.friction > 0) {
      const double weight = masses[static_cast<std::size_t>(contact.node)] / (h * h);
      contact.drag = -contact.friction * push * weight / size * slid;
    }
  }
  conditions.update();
}

template <int Dim>
bool change_contact(std::span<const double> u, std::span<const double> g, double largest, int round,
                    double dx, NodeContact<Dim>& contact, std::uint8_t& returned) {
  const Vec<Dim> reaction = node_value<Dim>(g, contact.node),
                 way = node_value<Dim>(u, contact.node) - contact.target;
  const double force = contact.normal.dot(reaction), gap = contact.normal.dot(way);
  if (!contact.held) {
    if (gap >= -clearly_inside * dx) return false;
    contact.held = true;
    returned = 1;
    contact.stuck = contact.friction > 0;
    return true;
  }
  if (contact.separating && !returned && force < -clearly_pulled * largest) {
    contact.held = false;
    contact.stuck = false;
    contact.drag.setZero();
    return true;
  }
  if (!(contact.friction > 0)) return false;
  const double most = contact.friction * std::max(force, 0.0);
  if (contact.stuck) {
    const Vec<Dim> along = reaction - force * contact.normal;
    const double size = along.norm();
    if (size <= most + clearly_pulled * largest) return false;
    contact.stuck = false;
    contact.drag = most / size * along;
    return true;
  }
  const Vec<Dim> slid = way - gap * contact.normal;
  const double size = slid.norm();
  if (!returned && (size == 0 || slid.dot(contact.drag) > 0)) {
    contact.stuck = true;
    returned = 1;
    contact.drag.setZero();
    return true;
  }
  const Vec<Dim> drag = size > 0 ? Vec<Dim>(-most / size * slid) : Vec<Dim>(Vec<Dim>::Zero());
  if (round >= drag_rounds || (drag - contact.drag).norm() <= drag_accuracy * contact.friction * largest)
    return false;
  contact.drag = drag;
  return true;
}

template void hold_approaching<2>(std::span<const double>, std::span<const double>, double, Conditions<2>&);
template void hold_approaching<3>(std::span<const double>, std::span<const double>, double, Conditions<3>&);
template bool change_contact<2>(std::span<const double>, std::span<const double>, double, int, double,
                                NodeContact<2>&, std::uint8_t&);
template bool change_contact<3>(std::span<const double>, std::span<const double>, double, int, double,
                                NodeContact<3>&, std::uint8_t&);

}  // namespace lope::matter::mpm
