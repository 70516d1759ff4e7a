// The program with a kind of matter that it does not know of: the chain of tests/support/chain.h. `chain_program reference`
// prints the scene reference.
#include <lope/scene/schema.h>

#include <cstdio>
#include <string_view>

#include <program.h>
#include <support/chain_kind.h>

int main(int argc, char** argv) {
  const lope::chain::ChainKind kind;
  lope::scene::add_kind(kind);
  if (argc == 2 && argv[1] == std::string_view("reference")) {
    std::puts(lope::scene::reference_page().c_str());
    std::puts(lope::scene::json_schema().c_str());
    return 0;
  }
  return lope::program::run(argc, argv);
}
