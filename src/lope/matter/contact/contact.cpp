#include <lope/matter/contact/contact.h>

#include <algorithm>
#include <map>
#include <tuple>

namespace lope::matter {
namespace {
constexpr std::size_t numbers_per_contact = 4 + 4 + 1 + 3 + 1;

// What makes a contact the same one in two lists.
auto key(const Contact& c) { return std::tuple(c.node[0], c.obstacle, c.node[1], c.node[2], c.node[3]); }

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

std::vector<Contact> contacts_from(std::span<const double> numbers) {
  std::vector<Contact> result;
  for (; numbers.size() >= numbers_per_contact; numbers = numbers.subspan(numbers_per_contact)) {
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
  std::map<decltype(key(from[0])), const Contact*> before;
  for (const Contact& c : from) before.emplace(key(c), &c);
  std::vector<Contact> result;
  for (Contact c : to) {
    const auto known = before.find(key(c));
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
  for (Contact c : from) {
    if (before.erase(key(c)) == 0) continue;
    c.force *= 1 - part;
    result.push_back(c);
  }
  return result;
}

ContactChange::ContactChange(std::span<const Contact> from, std::span<const Contact> to) {
  const auto add = [this](const Contact& c, double sign) {
    change_.try_emplace(key(c), Vec3::Zero()).first->second += sign * c.force * c.normal;
  };
  for (const Contact& c : from) add(c, -1);
  for (const Contact& c : to) add(c, 1);
}

double ContactChange::dot(const ContactChange& other) const {
  double sum = 0;
  for (const auto& [contact, change] : change_) {
    const auto found = other.change_.find(contact);
    if (found != other.change_.end()) sum += change.dot(found->second);
  }
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
