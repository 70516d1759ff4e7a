// Matrices of Python, dense or SciPy's sparse ones, and those of the library.
#pragma once

#include <lope/linalg/block_matrix.h>
#include <lope/linalg/csr_matrix.h>

#include "common.h"

namespace lope::python {

// From anything that numpy.asarray or scipy.sparse.csr_matrix takes; `name` stands in messages. Entries at the same place are added.
linalg::CsrMatrix csr_of(const py::object& matrix, const char* name);
// As scipy.sparse.csr_matrix, with copies of the arrays.
py::object to_scipy(const linalg::CsrMatrix& matrix);
linalg::CsrMatrix csr_of(const linalg::BlockMatrix& matrix);

// A second derivative: square, of this size, finite, symmetric up to rounding, or an InputError says why not.
// All of its diagonal has entries.
linalg::CsrMatrix hessian_of(const py::object& matrix, std::size_t size, const char* name);

// Makes a symmetric matrix with entries on its whole diagonal positive definite (Gershgorin): each diagonal entry is raised to at least
// the sum of the sizes of the others in its row.
void make_dominant(linalg::CsrMatrix& matrix);

}  // namespace lope::python
