// Objectives as Python sees them: its own functions, or the step of a simulation.
#pragma once

#include <lope/optimize/objective.h>

#include "common.h"

namespace lope::python {

class ObjectiveHandle {
 public:
  virtual ~ObjectiveHandle() = default;
  // What keeps it usable while it is used; throws where it is not any more, or not now.
  virtual std::shared_ptr<void> lease() = 0;
  // With a lease.
  virtual optimize::Objective& objective() = 0;
  // Whether a function of Python has failed since, after which values mean nothing; rethrow() throws its exception, with the GIL.
  virtual bool failed() const { return false; }
  virtual void rethrow() {}
};

}  // namespace lope::python
