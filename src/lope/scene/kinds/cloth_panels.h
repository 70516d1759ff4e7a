// Cloth that is sewn from panels: [[body.panel]] and [[body.seam]], their keys, rules and what is built from them.
#pragma once

#include <lope/base/expected.h>
#include <lope/geometry/panels.h>
#include <lope/scene/document.h>
#include <lope/scene/rules.h>
#include <lope/scene/schema.h>

#include <string>
#include <vector>

namespace lope::scene {

void add_panel_keys(std::vector<Key>& keys);
void resolve_panels(Value& body, const std::string& path, Rules& rules);

// The panels of a validated body; files are read.
Expected<std::vector<geometry::Panel>> read_panels(const Value& body);
std::vector<geometry::PanelSeam> read_seams(const Value& body);

}  // namespace lope::scene
