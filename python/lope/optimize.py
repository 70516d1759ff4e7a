"""The library's minimisers and complementarity solvers on problems from elsewhere."""
from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Callable, Optional, Sequence, Union

import numpy as np

from . import _lope

Function = Callable[..., Any]


@dataclass
class MinimizeResult:
    """What became of a minimisation."""
    x: np.ndarray  # the best point that was found
    value: float
    gradient: np.ndarray
    converged: bool
    outcome: str  # "converged", "iteration limit", "line search stalled", "interrupted", "failed"
    reason: str
    iterations: int
    linear_iterations: int
    measure: float  # both sides of the stopping test at the last iterate
    tolerance: float
    history: list[dict[str, Any]] = field(repr=False)


@dataclass
class LcpResult:
    """What became of a complementarity problem."""
    x: np.ndarray
    converged: bool
    outcome: str
    reason: str
    iterations: int
    inner_iterations: int
    residual: float  # the largest of a row, absolute
    objective: float  # x.A.x/2 + b.x
    seconds: float
    largest_shift: float  # of b, where parts of the matrix are singular and would have no solution
    history: list[dict[str, Any]] = field(repr=False)


def _projected(matrix: np.ndarray) -> np.ndarray:
    """The nearest positive semi-definite matrix, its eigenvalues a little above 0."""
    values, vectors = np.linalg.eigh(matrix)
    values = np.maximum(values, 1e-10 * np.abs(values).max(initial=0.0))
    return (vectors * values) @ vectors.T


def _eigenvalue_projection(hess: Function) -> Function:
    """Of what `hess` returns, where that is dense; sparse matrices are left to the library."""
    def projected(x: np.ndarray) -> Any:
        matrix = hess(x)
        return matrix if hasattr(matrix, "tocsr") else _projected(np.asarray(matrix, dtype=float))
    return projected


def objective(f: Function, grad: Function, hess: Optional[Function] = None, *, size: int,
              hessp: Optional[Function] = None, projected: Optional[Function] = None, convex: bool = False,
              largest_step: Optional[Function] = None, block_size: int = 1, fixed: Any = None, length: float = 1.0,
              force: float = 1.0, noise: float = 1e-14, hierarchy: Sequence[Any] = (),
              laplacian: Any = None) -> _lope.Objective:
    """A function of `size` unknowns as something that the library can minimise.

    f(x): a number; nan or inf where it is not defined. grad(x): an array of its size. Second derivatives, one of these or none:
    hess(x), a matrix, dense or of scipy.sparse, or hessp(x, d), its product with d. Without either, products are differences of grad.

    projected(x): a positive definite matrix near hess(x), for methods that need one. Without it a dense matrix has its
    negative eigenvalues raised, and a sparse one that is not positive definite its diagonal. convex: hess always is.
    largest_step(x, d): the largest a for which f is defined on x + [0, a] d. block_size: unknowns of a node, 1, 2 or 3. fixed: a
    flag per node that must not move. length, force: the size of the problem in x and of the gradient of a node, for tests that are
    relative to them. noise: the rounding error of f, as a part of it. hierarchy: prolongations between the nodes and ever coarser
    levels, finest first, for multigrid methods. laplacian: a matrix of the nodes that is a rough model of hess, for `lbfgs-pd`.
    """
    if hess is not None and hessp is not None:
        raise _lope.InputError("give hess or hessp, not both")
    return _lope._objective(size, f, grad, hess, hessp, projected, largest_step, convex, block_size, fixed, length, force,
                            noise, list(hierarchy), laplacian)


def minimize(f: Union[Function, _lope.Objective], grad: Optional[Function] = None, hess: Optional[Function] = None,
             x0: Any = None, *, method: str = "auto", test: str = "gradient", tolerance: float = 1e-8,
             max_iterations: int = 500, callback: Optional[Callable[[dict[str, Any]], Any]] = None, reference: Any = None,
             **options: Any) -> MinimizeResult:
    """Minimises a function, or an Objective (then grad, hess and options must be left out), from x0.

    method: one of lope.methods(). "auto" without hess is newton-pcg-mf, which needs no matrix. test: "gradient", its 2-norm; or "displacement",
    the estimated distance of the farthest node from the solution; or "characteristic" (the gradients of the nodes relative to
    `force`). tolerance: of the test, absolute. callback(iteration): called with a dict for every iteration; if it
    returns True the minimisation ends. reference: where models are made that are made once (dot-printed); x0 by default.
    options: those of lope.objective.

    Exceptions of the functions go through. What did not converge says so in the result.
    """
    if x0 is None:
        raise TypeError("minimize() needs x0, the point to start from")
    x0 = np.asarray(x0, dtype=float)
    if isinstance(f, _lope.Objective):
        if grad is not None or hess is not None or options:
            raise TypeError("an Objective has its own derivatives and options")
        target = f
    else:
        if grad is None:
            raise TypeError("minimize() needs grad, the gradient of f")
        if hess is not None and not options.get("convex") and options.get("projected") is None:
            if not hasattr(hess(x0.ravel().copy()), "tocsr"):
                options["projected"] = _eigenvalue_projection(hess)
        if hess is None and method == "auto":
            method = "newton-pcg-mf"
        target = objective(f, grad, hess, size=x0.size, **options)
    found = _lope._minimize(target, x0.ravel(), method, test, tolerance, max_iterations, callback, reference)
    found["x"] = found["x"].reshape(x0.shape)
    found["gradient"] = found["gradient"].reshape(x0.shape)
    return MinimizeResult(**found)


def solve_lcp(A: Any, b: Any, bounded: Any = None, *, cells: Any = None, method: str = "auto", x0: Any = None,
              tolerance: float = 1e-6, max_iterations: int = 0,
              callback: Optional[Callable[[dict[str, Any]], Any]] = None) -> LcpResult:
    """Solves a mixed complementarity problem with a symmetric positive (semi-)definite matrix:

        0 <= x_i,  (A x + b)_i >= 0,  one of them 0     where bounded
        (A x + b)_i = 0                                 elsewhere

    which is to minimise x.A.x/2 + b.x with x >= 0 where bounded. A: dense or of scipy.sparse. bounded: flags of the rows; none by
    default. cells: a row of 2 or 3 whole numbers for every row of A, its cell in a grid: where A couples neighbours only, by entries that
    are not positive, and no row has a negative sum, the multigrid of the liquid's pressure solves it. Otherwise
    method: one of lope.lcp_methods(). tolerance: of the largest residual |min(x, A x + b)| or |A x + b| of a row, absolute.
    """
    return LcpResult(**_lope._solve_lcp(A, b, bounded, cells, method, x0, tolerance, max_iterations, callback))
