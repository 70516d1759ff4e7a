// What `where = { … }` chooses of a body.
#pragma once

#include <lope/base/expected.h>
#include <lope/geometry/mesh.h>
#include <lope/scene/document.h>

#include <map>
#include <string>
#include <vector>

namespace lope::scene {

// Chooses vertices and elements of one mesh, in ascending order. Fails (with the position in the scene file)
// when nothing is chosen, or when the numbers or tags do not exist.
class Selector {
 public:
  // `noun`: what its vertices are called in messages.
  explicit Selector(const geometry::Mesh& mesh, const char* noun = "vertex");

  Expected<std::vector<int>> vertices(const Value& where) const;
  // Elements by their centroids.
  Expected<std::vector<int>> elements(const Value& where) const;
  // Makes a choice of elements known by name, for `where = "name"`.
  void name_region(const std::string& name, std::vector<int> chosen_elements);

 private:
  Expected<std::vector<int>> choose(const Value& where, const geometry::Mesh& points, const char* noun) const;
  std::vector<int> tagged_elements(int tag) const;
  std::vector<int> vertices_of(const std::vector<int>& chosen_elements) const;

  const geometry::Mesh& mesh_;
  const char* noun_;
  geometry::Bounds bounds_;
  std::map<std::string, std::vector<int>> regions_;
};

}  // namespace lope::scene
