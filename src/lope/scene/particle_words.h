// Words that the tables of kinds of particles share ([liquid], [mpm]): their keys, their rules and what they mean.
#pragma once

#include <lope/matter/particles/transfer_options.h>
#include <lope/scene/rules.h>
#include <lope/scene/schema.h>

#include <string>
#include <vector>

namespace lope::scene {

// `transfer` and `flip`, whose default is given.
void add_transfer(std::vector<Key>& keys, const std::string& table, const std::string& flip);
// `seed`.
void add_seed(std::vector<Key>& keys, const std::string& table);

// That their name is not a body's, and that `flip` is not given without its meaning.
void resolve_particles(Value& table, const std::string& path, Rules& rules);

matter::TransferOptions transfer_of(const Value& table);

}  // namespace lope::scene
