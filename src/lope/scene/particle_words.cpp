#include <lope/scene/keys.h>
#include <lope/scene/particle_words.h>

namespace lope::scene {

using namespace key_words;

void add_transfer(std::vector<Key>& keys, const std::string& table, const std::string& flip) {
  keys.push_back(choice(table + ".transfer", {"apic", "flip"})
                     .by_default("\"apic\"")
                     .says("How velocities go between particles and grid: smooth and keeping spin, or livelier and "
                           "noisier."));
  keys.push_back(number(table + ".flip")
                     .within(unit_interval)
                     .by_default(flip)
                     .says("With `transfer = \"flip\"`: its share, the rest is PIC, which damps."));
}

void add_seed(std::vector<Key>& keys, const std::string& table) {
  keys.push_back(integer(table + ".seed")
                     .within({0, 2147483647, false, false})
                     .by_default("1")
                     .says("Of the particles' first places."));
}

void resolve_particles(Value& table, const std::string& path, Rules& rules) {
  const std::string& name = table.text_at("name");
  if (rules.taken(name))
    rules.complain(table["name"], path + ".name", fmt::format("a body is called '{}' too; names must differ", name));
  if (table.text_at("transfer") != "flip")
    rules.drop(table, path, {"flip"}, "has a meaning only with transfer = \"flip\"");
}

matter::TransferOptions transfer_of(const Value& table) {
  matter::TransferOptions options;
  if (table.text_at("transfer") == "flip")
    options = {matter::VelocityTransfer::Flip, table.number_at("flip")};
  return options;
}

}  // namespace lope::scene
