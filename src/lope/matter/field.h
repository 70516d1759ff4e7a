// Fields over vertices or elements, for pictures and files.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace lope::matter {

// A scalar, a vector (x y z, also in 2D) or a symmetric tensor (xx yy zz xy yz zx).
struct Field {
  enum class Place { Vertex, Element };
  std::string name;
  std::string unit;
  Place place = Place::Element;
  std::vector<double> values;
  int components = 1;  // 1, 3 or 6, one after the other in `values`
};

// Which fields, by name. Others are not computed.
using FieldFilter = std::function<bool(const std::string& name)>;

}  // namespace lope::matter
