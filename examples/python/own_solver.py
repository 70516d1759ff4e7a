#!/usr/bin/env python3
"""A solver of one's own on a time step of the library, beside the library's: SciPy's L-BFGS and trust region, and a Newton method in ten
lines, all on the same objective, to the same gradient.

Sample run: python3 own_solver.py --tolerance 1e-4
"""
import argparse
import time

import numpy as np
import scipy.optimize
import scipy.sparse.linalg

import lope

arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
arguments.add_argument("--tolerance", type=float, default=1e-4, help="of the gradient's norm, newtons")
arguments.add_argument("--edge", type=float, default=0.04)
options = arguments.parse_args()

scene = lope.Scene({
    "time": {"step": "1/24 s", "duration": "1 s"},
    "body": [{"name": "bar", "shape": {"box": {"size": [1, 0.2, 0.2]}}, "edge": options.edge,
              "material": {"model": "fixed-corotated", "young": 1e5, "poisson": 0.4, "density": 1000},
              "handle": [{"where": {"side": "x-min"}, "pin": True},
                         {"where": {"side": "x-max"}, "rotate": {"axis": [1, 0, 0], "rate": "1 turn/s"}}]}],
}, name="twist")
simulation = lope.Simulation(scene)
for _ in range(5):
    simulation.step()
objective, start, reference = simulation.step_problem()
free = np.repeat(~objective.fixed, objective.block_size)
print(f"{free.sum()} unknowns; the gradient is to fall from {np.linalg.norm(objective.gradient(start)):.3g} N to {options.tolerance:g} N")


def newton(x):
    """Projected Newton with a direct solver and halved steps."""
    for iteration in range(100):
        g = objective.gradient(x)
        if np.linalg.norm(g) <= options.tolerance:
            break
        d = np.zeros_like(x)
        d[free] = -scipy.sparse.linalg.spsolve(objective.hessian(x, projected=True)[free][:, free].tocsc(), g[free])
        value, a = objective.value(x), 1.0
        while objective.value(x + a * d) > value + 1e-4 * a * (g @ d) and a > 1e-6:
            a /= 2
        x = x + a * d
    return x, iteration


def of_scipy(method, **more):
    def solve(x):
        whole = x.copy()

        def at(y):
            whole[free] = y
            return whole

        found = scipy.optimize.minimize(lambda y: objective.value(at(y)), x[free], jac=lambda y: objective.gradient(at(y))[free],
                                        method=method, **{key: value(at) if callable(value) else value for key, value in more.items()})
        return at(found.x).copy(), found.nit
    return solve


def product(at):
    def times(y, p):
        direction = np.zeros_like(start)
        direction[free] = p
        return objective.hessian_times(at(y), direction)[free]
    return times


def of_lope(method):
    def solve(x):
        found = lope.minimize(objective, x0=x, method=method, tolerance=options.tolerance, reference=reference)
        return found.x, found.iterations
    return solve


tight = options.tolerance / np.sqrt(free.sum())
solvers = {"newton of this file": newton,
           "L-BFGS-B of SciPy": of_scipy("L-BFGS-B", options={"gtol": tight, "ftol": 0, "maxiter": 5000, "maxfun": 10000}),
           "trust-ncg of SciPy": of_scipy("trust-ncg", hessp=product, options={"gtol": options.tolerance}),
           **{f"{method} of Lope": of_lope(method) for method in ("newton", "dot", "lbfgs-h", "newton-pcg")}}
answers = {}
for name, solve in solvers.items():
    clock = time.perf_counter()
    x, iterations = solve(start.copy())
    seconds = time.perf_counter() - clock
    answers[name] = x
    print(f"{name:22} {iterations:5d} iterations  {seconds:8.3f} s  gradient {np.linalg.norm(objective.gradient(x)):.1e} N")
best = min(answers.values(), key=lambda x: np.linalg.norm(objective.gradient(x)))
print(f"they are at most {max(np.abs(x - best).max() for x in answers.values()):.1e} m apart")
