"""The minimisers on functions of Python, and the complementarity solvers on matrices of SciPy."""
import re

import numpy as np
import pytest
import scipy.optimize
import scipy.sparse as sparse

import lope


class Rosenbrock:
    """The generalised one, which has one minimum at (1, ..., 1) for n <= 3."""
    f = staticmethod(scipy.optimize.rosen)
    grad = staticmethod(scipy.optimize.rosen_der)
    hess = staticmethod(scipy.optimize.rosen_hess)
    hessp = staticmethod(scipy.optimize.rosen_hess_prod)


def membrane(n):
    """A membrane over n x n cells under load, with a stiffening spring in each: convex, with its five-point stencil."""
    one = sparse.diags([-np.ones(n - 1), 2 * np.ones(n), -np.ones(n - 1)], [-1, 0, 1])
    stencil = (sparse.kron(one, sparse.identity(n)) + sparse.kron(sparse.identity(n), one)).tocsr()
    load = np.ones(n * n)
    return (lambda x: 0.5 * x @ stencil @ x + 0.25 * (x**4).sum() - load @ x,
            lambda x: stencil @ x + x**3 - load,
            lambda x: stencil + sparse.diags(3 * x**2), stencil)


def prolongation(n):
    """From n/2 x n/2 cells to n x n: each takes the value of the one it lies in."""
    one = sparse.kron(sparse.identity(n // 2), np.ones((2, 1)))
    return sparse.kron(one, one).tocsr()


NEEDS_A_SPLIT = {"admm-pd"}
# They search along directions by values alone, whose rounding hides what is left of smaller gradients.
ENDS_EARLY = {"lbfgs-pd", "dot-printed"}


@pytest.mark.parametrize("method", [m["name"] for m in lope.methods() if m["name"] not in NEEDS_A_SPLIT])
def test_every_method_finds_the_minimum(method):
    n = 16
    f, grad, hess, stencil = membrane(n)
    exact = scipy.optimize.minimize(f, np.zeros(n * n), jac=grad, hess=lambda x: hess(x).toarray(), method="trust-exact",
                                    options={"gtol": 1e-12}).x
    tolerance = 1e-5 if method in ENDS_EARLY else 1e-7
    result = lope.minimize(f, grad, hess, np.zeros(n * n), method=method, tolerance=tolerance, convex=True, laplacian=stencil,
                           hierarchy=[prolongation(16), prolongation(8)], max_iterations=2000)
    assert result.converged, result.reason
    assert np.abs(result.x - exact).max() < 10 * tolerance
    assert np.linalg.norm(result.gradient) <= tolerance and result.value == pytest.approx(f(exact), abs=1e-9)
    assert [row["number"] for row in result.history] == list(range(len(result.history)))


def test_a_method_without_what_it_needs_says_so():
    f, grad, hess, _ = membrane(4)
    for method, word in [("admm-pd", "inertia and elasticity only"), ("hot", "hierarchy"), ("lbfgs-pd", "scalar model")]:
        result = lope.minimize(f, grad, hess, np.zeros(16), method=method)
        assert not result.converged and result.outcome == "failed"
        assert re.search(word, result.reason), result.reason
    with pytest.raises(lope.InputError, match="needs the matrix"):
        lope.minimize(f, grad, None, np.zeros(16), method="newton")
    with pytest.raises(lope.InputError, match="lope.methods"):
        lope.minimize(f, grad, hess, np.zeros(16), method="bfgs")


@pytest.mark.parametrize("start", [[-1.2, 1.0], [0.0, 3.0, -2.0]])
@pytest.mark.parametrize("derivative", ["hess", "sparse", "hessp", "none"])
def test_what_is_not_convex_is_minimised_too(start, derivative):
    given = {"hess": {"hess": Rosenbrock.hess}, "sparse": {"hess": lambda x: sparse.csr_matrix(Rosenbrock.hess(x))},
             "hessp": {"hessp": Rosenbrock.hessp}, "none": {}}[derivative]
    result = lope.minimize(Rosenbrock.f, Rosenbrock.grad, x0=start, tolerance=1e-6, **given)
    assert result.converged, result.reason
    assert np.abs(result.x - 1).max() < 1e-5


def test_the_displacement_test_bounds_the_error():
    f, grad, hess, _ = membrane(8)
    exact = lope.minimize(f, grad, hess, np.zeros(64), tolerance=1e-12, convex=True).x
    for tolerance in (1e-2, 1e-4, 1e-6):
        result = lope.minimize(f, grad, hess, np.zeros(64), test="displacement", tolerance=tolerance, convex=True)
        assert result.converged and np.abs(result.x - exact).max() <= tolerance


def test_fixed_nodes_stay_and_blocks_hold_together():
    f, grad, hess, _ = membrane(8)
    x0 = np.linspace(0, 1, 64)
    fixed = np.zeros(32, bool)
    fixed[[3, 20]] = True
    result = lope.minimize(f, grad, hess, x0, block_size=2, fixed=fixed, convex=True)
    held = np.repeat(fixed, 2)
    assert result.converged and (result.x[held] == x0[held]).all()
    assert np.abs(grad(result.x)[~held]).max() < 1e-8 < np.abs(grad(result.x)[held]).max()


def test_a_barrier_bounds_the_steps():
    """sum(x - log x) is defined for x > 0 only."""
    def largest_step(x, d):
        down = d < 0
        return 0.99 * (x[down] / -d[down]).min() if down.any() else np.inf

    result = lope.minimize(lambda x: (x - np.log(x)).sum(), lambda x: 1 - 1 / x, lambda x: np.diag(1 / x**2), [0.01, 5, 30],
                           largest_step=largest_step)
    assert result.converged and np.allclose(result.x, 1)


def test_callbacks_stop_and_raise():
    f, grad, hess, _ = membrane(8)
    seen = []
    result = lope.minimize(f, grad, hess, np.ones(64), callback=lambda i: seen.append(i["x"]) or i["number"] == 1)
    assert result.outcome == "interrupted" and len(seen) >= 2 and (seen[0] == 1).all()
    calls = []

    def fail(x):
        calls.append(1)
        if len(calls) == 3:
            raise ArithmeticError("third")
        return grad(x)

    with pytest.raises(ArithmeticError, match="third"):
        lope.minimize(f, fail, hess, np.ones(64))
    with pytest.raises(lope.InputError, match="the gradient has 2 numbers, not 64"):
        lope.minimize(f, lambda x: x[:2], hess, np.ones(64))
    with pytest.raises(lope.InputError, match="not symmetric"):
        lope.minimize(f, grad, lambda x: sparse.csr_matrix(np.triu(np.ones((64, 64)))), np.ones(64))
    with pytest.raises(lope.InputError, match="3 x 3, not 64 x 64"):
        lope.minimize(f, grad, lambda x: np.identity(3), np.ones(64))


def test_an_objective_is_used_by_one_at_a_time():
    f, grad, hess, _ = membrane(4)
    target = lope.objective(f, grad, hess, size=16)
    with pytest.raises(RuntimeError, match="is being"):
        lope.minimize(target, x0=np.zeros(16), callback=lambda i: target.value(i["x"]))
    assert lope.minimize(target, x0=np.zeros(16)).converged and target.value(np.zeros(16)) == 0


def test_derivatives_are_checked():
    f, grad, hess, _ = membrane(4)
    x = np.random.default_rng(1).normal(size=16)
    assert max(lope.objective(f, grad, hess, size=16).check_derivatives(x).values()) < 1e-6
    wrong = lope.objective(f, lambda x: 1.01 * grad(x), hess, size=16).check_derivatives(x)
    assert wrong["gradient"] > 1e-3 and wrong["hessian"] > 1e-3


def test_the_step_of_a_simulation_is_an_objective(simulation):
    objective, start, reference = simulation.step_problem()
    assert objective.size == start.size and objective.block_size == 3 and objective.fixed.any()
    assert max(objective.check_derivatives(start + 1e-3 * np.sin(np.arange(start.size))).values()) < 1e-5
    answers = [lope.minimize(objective, x0=start, method=m, tolerance=1e-9, reference=reference)
               for m in ("newton", "lbfgs-h", "admm-pd")]
    assert answers[0].converged and answers[1].converged
    assert np.abs(answers[0].x - answers[1].x).max() < 1e-7
    # One's own Newton method.
    x = start.copy()
    free = np.repeat(~objective.fixed, 3)
    for _ in range(20):
        step = sparse.linalg.spsolve(objective.hessian(x, projected=True)[free][:, free].tocsc(), -objective.gradient(x)[free])
        x[free] += step
    assert np.abs(x - answers[0].x).max() < 1e-7
    assert np.allclose(objective.hessian(x) @ reference * np.repeat(~objective.fixed, 3),
                       objective.hessian_times(x, reference * free) * free + (objective.hessian(x) @ (reference * ~free)) * free,
                       atol=1e-4)
    simulation.step()
    assert np.abs(simulation["bar"].positions.ravel() - x).max() < 1e-4 * 0.4
    with pytest.raises(RuntimeError, match="has gone on"):
        objective.value(x)


def poisson(n, dimension=2):
    one = sparse.diags([-np.ones(n - 1), 2 * np.ones(n), -np.ones(n - 1)], [-1, 0, 1])
    unit = sparse.identity(n)
    parts = [[one if a == b else unit for b in range(dimension)] for a in range(dimension)]
    matrix = 0
    for part in parts:
        term = part[0]
        for factor in part[1:]:
            term = sparse.kron(term, factor)
        matrix = matrix + term
    cells = np.stack(np.meshgrid(*[np.arange(n)] * dimension, indexing="ij"), -1).reshape(-1, dimension)
    return matrix.tocsr(), cells


def obstacle_problem(n, dimension=2, seed=3):
    A, cells = poisson(n, dimension)
    b = np.random.default_rng(seed).normal(size=n**dimension)
    bounded = cells[:, 0] < n // 2
    return A, b, bounded, cells


def residual(A, b, bounded, x):
    w = A @ x + b
    return np.abs(np.where(bounded, np.minimum(x, w), w)).max()


LINEAR = {"linear-amg", "linear-ic"}


@pytest.mark.parametrize("method", [m["name"] for m in lope.lcp_methods() if m["name"] not in LINEAR])
def test_every_lcp_method_solves_it(method):
    A, b, bounded, _ = obstacle_problem(16)
    result = lope.solve_lcp(A, b, bounded, method=method, tolerance=1e-8, max_iterations=20000)
    assert result.converged, result.reason
    assert residual(A, b, bounded, result.x) <= 1e-8
    assert result.objective == pytest.approx(0.5 * result.x @ A @ result.x + b @ result.x)
    dense = lope.solve_lcp(A.toarray(), b, bounded, tolerance=1e-8)
    assert np.abs(dense.x - result.x).max() < 1e-6


@pytest.mark.parametrize("scale", [1.0, 1e-4, 3e5])
@pytest.mark.parametrize("dimension, n", [(2, 40), (3, 12)])
def test_cells_let_the_grids_multigrid_solve_it(dimension, n, scale):
    A, b, bounded, cells = obstacle_problem(n, dimension)
    tolerance = 1e-9 * scale
    shuffle = np.random.default_rng(5).permutation(len(b))
    A, b, bounded, cells = scale * A[shuffle][:, shuffle], scale * b[shuffle], bounded[shuffle], cells[shuffle]
    result = lope.solve_lcp(A, b, bounded, cells=cells - 1000, tolerance=tolerance)
    assert result.converged, result.reason
    assert residual(A, b, bounded, result.x) <= tolerance
    reference = lope.solve_lcp(A, b, bounded, method="mprgp-ic", tolerance=tolerance, max_iterations=100000)
    assert reference.converged and np.abs(result.x - reference.x).max() < 1e-6 * np.abs(reference.x).max()
    assert 0 < (result.x[bounded] == 0).sum() < bounded.sum()


def test_the_work_of_the_grids_multigrid_grows_with_the_rows_only():
    iterations = []
    for n in (32, 64, 128):
        A, b, bounded, cells = obstacle_problem(n)
        result = lope.solve_lcp(A, b, bounded, cells=cells, tolerance=1e-5)
        assert result.converged
        iterations.append(result.iterations)
    assert max(iterations) <= 25


@pytest.mark.parametrize("spoil, words", [
    (lambda A, c: (A, c[::-1] // 2), "same cell"),
    (lambda A, c: (A, c * [2, 1]), "not next to"),
    (lambda A, c: (2 * sparse.diags(A.diagonal()) - A, c), "must not be positive"),
    (lambda A, c: (A - sparse.identity(A.shape[0]), c), "sum of row 8 is -1"),
    (lambda A, c: (A, c[:-1]), "cells for"),
    (lambda A, c: (A, c[:, 0]), "2 or 3"),
    (lambda A, c: (A, c * [1, 1] + np.eye(1, len(c), 5, dtype=int).T * 2**25), "apart|not next to"),
])
def test_what_is_no_grid_is_refused(spoil, words):
    A, cells = poisson(6)
    A, cells = spoil(A, cells)
    with pytest.raises(lope.InputError, match=words):
        lope.solve_lcp(A, np.ones(36), cells=cells)


def test_singular_parts_are_made_solvable():
    A = sparse.csr_matrix(np.array([[1.0, -1.0], [-1.0, 1.0]]))
    for cells in (None, [[0, 0], [1, 0]]):
        result = lope.solve_lcp(A, [1.0, 0.5], cells=cells)
        assert result.converged and result.largest_shift == pytest.approx(0.75)
        assert result.x[0] - result.x[1] == pytest.approx(-0.25, abs=1e-6)


def test_wrong_problems_are_refused():
    A, cells = poisson(4)
    for arguments, words in [((A, np.ones(3)), "b has 3 numbers, not 16"), ((A - 100 * sparse.identity(16), np.ones(16)), "row"),
                             ((A, np.full(16, np.nan)), "finite|b"), ((A[:3], np.ones(3)), "square")]:
        with pytest.raises(lope.InputError, match=words):
            lope.solve_lcp(*arguments)
    with pytest.raises(ValueError, match="mine"):
        def fail(iteration):
            raise ValueError("mine")
        lope.solve_lcp(A, np.ones(16), callback=fail)
