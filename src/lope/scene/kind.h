// What a scene file, `lope check` and a run's files need to know of a kind of matter. A kind is one object of a class
// derived from Kind, in files of its own in scene/kinds/, and one line in kinds/registry.cpp; nothing else in scene/
// knows it. What it does in a step is matter/matter.h's. docs/extending.md goes through it.
#pragma once

#include <lope/base/expected.h>
#include <lope/base/polymorphic.h>
#include <lope/scene/document.h>
#include <lope/scene/scene.h>
#include <lope/scene/schema.h>
#include <lope/step/model.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lope::scene {

class Rules;     // rules.h
class Checking;  // checking.h

// A field that frames may hold (matter::Field).
struct KindField {
  std::string_view name;
  int components = 1;
  bool on_vertices = true;  // or one value per element
  bool drawn = true;        // pictures may show it in colours
};

// Which of the tables that all matter shares mean something to a kind. What means nothing to any kind of a scene is
// refused.
struct Concerns {
  bool minimizer = false;  // [solver]: method, accuracy, …; max_iterations and threads concern all
  bool scheme = false;     // [time]: scheme, dissipation
  bool contact = false;    // [contact]; contact, stiffness and friction of [[obstacle]]
};

class Kind {
 public:
  virtual ~Kind() = default;

  // Words
  // The word: kind = "liquid".
  virtual std::string_view word() const = 0;
  // What messages call a thing of the kind: "a liquid".
  virtual std::string_view called() const = 0;
  // What a body of the kind is, for the reference: a sentence without its end.
  virtual std::string_view meaning() const = 0;
  // Keys of a [[body]] of this kind beside `name`, `kind` and `dimension`, paths beginning with "body[].", often from
  // vocabulary.h. Another kind may have others of the same names.
  virtual void add_body_keys(std::vector<Key>& keys) const = 0;
  // Further tables of the file, such as [liquid].
  virtual void add_tables(std::vector<Key>& /*keys*/) const {}
  // What to say to somebody who gives a body a key that only other kinds have: "; see liquid.density".
  virtual std::string_view instead_of(std::string_view /*key*/) const { return {}; }
  // What else than bodies brings such matter into a scene: "an [[emitter]] of liquid".
  virtual std::string_view other_sources() const { return {}; }
  // The key of its own stopping test where [solver] does not concern it: "liquid.tolerance".
  virtual std::string_view tolerance_key() const { return {}; }
  virtual Concerns concerns() const = 0;
  virtual std::vector<KindField> fields() const = 0;
  // Whether its frames hold volumes, which is what .vdb files are made of.
  virtual bool has_volumes(int /*dimension*/) const { return false; }
  // Whether one looks through the walls of what contains it.
  virtual bool shown_through_glass() const { return false; }

  // Meaning
  // Whether a validated scene has such matter: by default, whether a body is of this kind.
  virtual bool is_in(const Value& root) const;
  // Rules between keys, and defaults that depend on others, of a validated body. Sets `dimension`.
  virtual void resolve_body(Value& body, const std::string& path, Rules& rules) const = 0;
  // The same of the scene's other tables, after all bodies; also called where there is no such matter, to refuse tables
  // without a meaning.
  virtual void resolve_tables(Value& /*root*/, Rules& /*rules*/) const {}
  // What pictures need to know of the bodies that build() makes, in their order. By default one for every body of this kind.
  virtual std::vector<BodySettings> settings(const Value& resolved) const;
  // The bodies of the Model. `world` has everything but bodies: obstacles, gravity, step.
  virtual Expected<std::vector<Polymorphic<matter::Body>>> build(const Scene& scene, const step::Model& world) const = 0;

  // lope check: looks at the bodies of this kind.
  virtual void check(Checking& checking) const = 0;
  // What makes such a scene smaller: "a longer edge".
  virtual std::string_view smaller_by() const = 0;
  // Whether it tells by fingerprint(), numbers that change when a body does, that a mesh file is another one than before when a
  // run goes on; otherwise the bytes of the files are compared.
  virtual bool has_fingerprint() const { return false; }
  virtual std::vector<double> fingerprint(const matter::Body& /*body*/) const { return {}; }
};

// All kinds, in the order in which their bodies stand in a Model. The first is what a body is by default.
const std::vector<const Kind*>& kinds();

// The kind of this word, or null.
const Kind* find_kind(std::string_view word);

// Adds a kind from outside the library, which lives as long as the program. To be called before anything is done with
// scenes: the schema is made once.
void add_kind(const Kind& kind);

// The bodies of a scene file that are of this kind.
std::vector<const Value*> bodies_of(const Kind& kind, const Value& root);

}  // namespace lope::scene
