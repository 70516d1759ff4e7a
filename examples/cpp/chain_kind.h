// The chain of chain.h in scene files: what a kind of matter gives so that the program knows it (docs/extending.md).
#pragma once

#include <lope/scene/checking.h>
#include <lope/scene/keys.h>
#include <lope/scene/kind.h>
#include <lope/scene/nodal_words.h>
#include <lope/scene/rules.h>
#include <lope/scene/vocabulary.h>

#include "chain.h"
#include <fmt/core.h>

namespace lope::chain {

class ChainKind final : public scene::Kind {
 public:
  std::string_view word() const override { return "chain"; }
  std::string_view called() const override { return "a chain"; }
  std::string_view meaning() const override { return "nodes along a line with springs between neighbours"; }
  std::string_view smaller_by() const override { return "fewer nodes"; }
  scene::Concerns concerns() const override { return {.minimizer = true, .scheme = true, .contact = true}; }
  std::vector<scene::KindField> fields() const override {
    return {{"strain", 1, true}, {"speed", 1, true}, {"velocity", 3, true}, {"displacement", 3, true}};
  }

  void add_body_keys(std::vector<scene::Key>& keys) const override {
    using namespace scene::key_words;
    keys.push_back(entry("body[].nodes", scene::Type::VectorList, scene::Dimension::Length)
                       .required()
                       .says("Its nodes in order, at rest."));
    keys.push_back(number("body[].node_mass").within(positive).by_default("1.0").says("Of every node, kg."));
    keys.push_back(number("body[].stiffness").within(positive).by_default("1e3").says("Of every link, N/m."));
    keys.push_back(
        integer("body[].plastic_link").within({0, 1e6, false, false}).says("A link that flows, from 0."));
    keys.push_back(
        number("body[].yield").within(positive).by_default("0.1").says("The strain from which on it flows."));
    scene::add_body_velocity(keys);
    scene::add_body_color(keys);
    scene::add_body_handles(keys);
  }

  void resolve_body(scene::Value& body, const std::string& path, scene::Rules& rules) const override {
    if (body.has("dimension") && body.integer_at("dimension") != 3)
      rules.complain(body["dimension"], path + ".dimension", "a chain is in space");
    body.set("dimension", scene::integer_value(3));
    const std::size_t nodes = body["nodes"].items.size();
    if (nodes < 2) rules.complain(body["nodes"], path + ".nodes", "a chain has two nodes or more");
    if (body.has("plastic_link") && static_cast<std::size_t>(body.integer_at("plastic_link")) + 1 >= nodes)
      rules.complain(body["plastic_link"], path + ".plastic_link",
                     fmt::format("there are {} links", nodes - 1));
    rules.velocities(body, path, 3);
    rules.handles(body, path, {}, 3);
  }

  Expected<std::vector<Polymorphic<matter::Body>>> build(const scene::Scene& from,
                                                         const step::Model& /*world*/) const override {
    std::vector<Polymorphic<matter::Body>> bodies;
    for (const scene::Value* value : scene::bodies_of(*this, from.resolved)) {
      ChainBody body;
      body.name = value->text_at("name");
      for (const scene::Value& node : (*value)["nodes"].items) body.nodes.push_back(node.as_vector());
      body.node_mass = value->number_at("node_mass");
      body.stiffness = value->number_at("stiffness");
      body.yield = value->number_at("yield");
      if (value->has("plastic_link")) body.plastic_link = value->integer_at("plastic_link");
      geometry::Mesh nodes;
      nodes.vertices = body.nodes;
      const scene::Selector selector(nodes);
      if (const auto read = scene::read_handles(*value, selector, body); !read) return forward_error(read);
      scene::read_velocities(*value, geometry::bounds(body.nodes).center(), body);
      bodies.emplace_back(std::move(body));
    }
    return bodies;
  }

  void check(scene::Checking& checking) const override {
    for (const ChainBody& body : each<ChainBody>(checking.model.bodies)) {
      const std::size_t held = checking.handles(body);
      checking.report.bodies.push_back(
          {body.name,
           fmt::format("chain '{}': {} nodes, {} of them scripted", body.name, body.nodes.size(), held),
           "",
           {}});
      checking.count_nodes(*this, body, body.nodes.size() - 1);
    }
  }
};

}  // namespace lope::chain
