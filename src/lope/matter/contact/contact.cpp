#include <lope/matter/contact/contact.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace lope::matter {
namespace {
constexpr std::size_t numbers_per_contact = 4 + 4 + 1 + 3 + 1;

// What makes contacts the same ones in two lists. A node may touch several faces of one obstacle: the last number counts
// them.
using Key = std::array<int, 6>;
std::vector<Key> keys(std::span<const Contact> contacts) {
  std::map<Key, int> seen;
  std::vector<Key> result;
  for (const Contact& c : contacts) {
    Key key{c.node[0], c.obstacle, c.node[1], c.node[2], c.node[3], 0};
    key[5] = seen[key]++;
    result.push_back(key);
  }
  return result;
}

}  // namespace

std::vector<double> to_numbers(std::span<const Contact> contacts) {
  std::vector<double> result;
  result.reserve(contacts.size() * numbers_per_contact);
  for (const Contact& c : contacts) {
    result.insert(result.end(), c.node.begin(), c.node.end());
    result.insert(result.end(), c.weight.begin(), c.weight.end());
    result.push_back(c.obstacle);
    result.insert(result.end(), c.normal.data(), c.normal.data() + 3);
    result.push_back(c.force);
  }
  return result;
}

std::optional<std::vector<Contact>> contacts_from(std::span<const double> numbers) {
  const auto fits_an_integer = [](double number) { return std::abs(number) < 2e9; };
  if (numbers.size() % numbers_per_contact != 0) return {};
  if (!std::all_of(numbers.begin(), numbers.end(), [](double number) { return std::isfinite(number); })) return {};
  std::vector<Contact> result;
  for (; !numbers.empty(); numbers = numbers.subspan(numbers_per_contact)) {
    if (!std::all_of(numbers.begin(), numbers.begin() + 4, fits_an_integer) || !fits_an_integer(numbers[8])) return {};
    Contact& c = result.emplace_back();
    std::transform(numbers.begin(), numbers.begin() + 4, c.node.begin(), [](double k) { return static_cast<int>(k); });
    std::copy_n(numbers.begin() + 4, 4, c.weight.begin());
    c.obstacle = static_cast<int>(numbers[8]);
    std::copy_n(numbers.begin() + 9, 3, c.normal.data());
    c.force = numbers[12];
  }
  return result;
}

std::vector<Contact> between(std::span<const Contact> from, std::span<const Contact> to, double part) {
  const std::vector<Key> old_keys = keys(from), new_keys = keys(to);
  std::map<Key, const Contact*> before;
  for (std::size_t i = 0; i < from.size(); ++i) before.emplace(old_keys[i], &from[i]);
  std::vector<Contact> result;
  for (std::size_t i = 0; i < to.size(); ++i) {
    Contact c = to[i];
    const auto known = before.find(new_keys[i]);
    if (known == before.end()) {
      c.force *= part;
    } else {
      const Contact& old = *known->second;
      const Vec3 force = (1 - part) * old.force * old.normal + part * c.force * c.normal;
      for (std::size_t k = 0; k < 4; ++k) c.weight[k] = (1 - part) * old.weight[k] + part * c.weight[k];
      c.force = force.norm();
      if (c.force > 0) c.normal = force / c.force;
      before.erase(known);
    }
    result.push_back(c);
  }
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (before.erase(old_keys[i]) == 0) continue;
    result.push_back(from[i]);
    result.back().force *= 1 - part;
  }
  return result;
}

ContactChange::ContactChange(std::span<const Contact> from, std::span<const Contact> to) {
  const auto add = [this](std::span<const Contact> contacts, double sign) {
    const std::vector<Key> key = keys(contacts);
    for (std::size_t i = 0; i < contacts.size(); ++i)
      change_.try_emplace(key[i], Vec3::Zero()).first->second += sign * contacts[i].force * contacts[i].normal;
  };
  add(from, -1);
  add(to, 1);
}

double ContactChange::dot(const ContactChange& other) const {
  double sum = 0;
  for (const auto& [contact, change] : change_) {
    const auto found = other.change_.find(contact);
    if (found != other.change_.end()) sum += change.dot(found->second);
  }
  return sum;
}

double ContactChange::size() const {
  double sum = 0;
  for (const auto& [contact, change] : change_) sum += change.norm();
  return sum;
}

bool fits(std::span<const Contact> contacts, std::size_t nodes, std::size_t obstacles) {
  return std::all_of(contacts.begin(), contacts.end(), [&](const Contact& c) {
    const bool nodes_exist = std::all_of(c.node.begin(), c.node.end(), [&](int k) {
      return k >= 0 && static_cast<std::size_t>(k) < nodes;
    });
    return nodes_exist && c.obstacle >= -1 && c.obstacle < static_cast<int>(obstacles);
  });
}

}  // namespace lope::matter
