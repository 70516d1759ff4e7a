// The kinds of matter: one line each.
#include <lope/scene/kinds/cloth.h>
#include <lope/scene/kinds/liquid.h>
#include <lope/scene/kinds/mpm.h>
#include <lope/scene/kinds/solid.h>
#include <lope/scene/validate.h>

#include <algorithm>

namespace lope::scene {
namespace {

std::vector<const Kind*>& registered() {
  static std::vector<const Kind*> all{
      &solid_kind(),
      &cloth_kind(),
      &liquid_kind(),
      &mpm_kind(),
  };
  return all;
}

}  // namespace

const std::vector<const Kind*>& kinds() { return registered(); }

void add_kind(const Kind& kind) { registered().push_back(&kind); }

const Kind* find_kind(std::string_view word) {
  const auto found = std::find_if(kinds().begin(), kinds().end(), [&](const Kind* kind) { return kind->word() == word; });
  return found == kinds().end() ? nullptr : *found;
}

std::vector<const Value*> bodies_of(const Kind& kind, const Value& root) {
  std::vector<const Value*> found;
  for (const Value& body : root.items_at("body")) {
    if (body.text_at("kind") == kind.word()) found.push_back(&body);
  }
  return found;
}

bool Kind::is_in(const Value& root) const { return !bodies_of(*this, root).empty(); }

std::vector<BodySettings> Kind::settings(const Value& resolved) const {
  std::vector<BodySettings> all;
  for (const Value* body : bodies_of(*this, resolved)) {
    all.push_back({body->text_at("name"), body->integer_at("dimension"),
                   body->has("color") ? std::optional(color_of((*body)["color"])) : std::nullopt});
  }
  return all;
}

}  // namespace lope::scene
