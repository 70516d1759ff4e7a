// A contact at the end of a step, whatever made it: a node pressed against an obstacle (constraint or penalty), or a
// vertex against a surface primitive of a body. The force on node k is weight_k · force · normal, so that the forces
// of a pair of bodies cancel. Nodes are numbered through the island.
#pragma once

#include <lope/math/types.h>

#include <array>
#include <map>
#include <optional>
#include <span>
#include <vector>

namespace lope::matter {

struct Contact {
  std::array<int, 4> node = {0, 0, 0, 0};
  std::array<double, 4> weight = {1, 0, 0, 0};  // 0 where unused
  int obstacle = -1;                            // its number in the model; −1: between bodies
  Vec3 normal = Vec3::Zero();                   // unit: node 0 is pushed this way
  double force = 0;                             // newtons
};

// The contacts of both lists, with forces (as vectors) and weights that have gone a part of the way from the first list's to
// the second's; one that a list does not have counts there with no force. In the order of the second list, then of the first.
std::vector<Contact> between(std::span<const Contact> from, std::span<const Contact> to, double part);

// How the forces (as vectors) of the contacts change from one list to another; one that a list does not have counts there
// with none.
class ContactChange {
 public:
  ContactChange() = default;
  ContactChange(std::span<const Contact> from, std::span<const Contact> to);
  // Σ over the contacts: negative where one change takes back what the other did.
  double dot(const ContactChange& other) const;
  // The sum of their lengths, newtons.
  double size() const;

 private:
  std::map<std::array<int, 6>, Vec3> change_;
};

// As plain numbers, for checkpoints; and back, unless they are not a whole number of contacts, or not finite. Contacts fit if
// they are between nodes and obstacles that exist.
std::vector<double> to_numbers(std::span<const Contact> contacts);
std::optional<std::vector<Contact>> contacts_from(std::span<const double> numbers);
bool fits(std::span<const Contact> contacts, std::size_t nodes, std::size_t obstacles);

}  // namespace lope::matter
