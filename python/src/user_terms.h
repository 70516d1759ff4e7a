// What functions of Python add to the bodies of a model: forces, motions of handles, energies.
#pragma once

#include <lope/step/model.h>

#include "common.h"

namespace lope::python {

// An energy of a body's nodes, as Python gives it.
struct Energy {
  Shared value, gradient, hessian, projected, largest_step;  // None where it is not given
  bool convex = false;
  double lower_bound = 0;
};

// As Python's Simulation takes them, by the names of bodies and handles; None: none. Exceptions of the functions are kept in
// `failures`, after which they are not called any more and say 0.
struct UserTerms {
  py::object forces, motions, energies;
};
void add(const UserTerms& terms, const std::shared_ptr<Failures>& failures, step::Model& model);

}  // namespace lope::python
