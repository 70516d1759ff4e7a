#!/usr/bin/env python3
"""An energy of one's own: a rubber block in a magnetic field, with poles that attract its ends.

The field's energy is minimised together with the rubber's in every step, so that steps may be long: it is not a force that is taken from
the last step. Its derivatives are held against differences first. Two minimisers must agree on the result.

Sample run: python3 own_energy.py --steps 20
"""
import argparse

import numpy as np
import scipy.sparse as sparse

import lope

arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
arguments.add_argument("--steps", type=int, default=20)
steps = arguments.parse_args().steps

scene = lope.Scene({
    "gravity": [0, 0, 0],
    "time": {"step": "1/30 s", "duration": "1 s"},
    "body": [{"name": "block", "shape": {"box": {"size": [0.3, 0.1, 0.1]}}, "edge": "2.5 cm",
              "material": {"model": "stable-neo-hookean", "young": 2e4, "poisson": 0.4, "density": 1000},
              "damping": {"mass": 3}}],
}, name="magnet")
start = np.array(lope.Simulation(scene)["block"].positions)
left, right = (np.flatnonzero(np.isclose(start[:, 0], end)) for end in (start[:, 0].min(), start[:, 0].max()))
poles = [(left, np.array([-0.35, 0.1, 0.0])), (right, np.array([0.35, -0.1, 0.0]))]
width, depth = 0.15, 0.6  # metres; joules per node


def wells(x):
    """For every pole: its nodes, the ways from it to them, and exp(-r^2/(2 w^2))."""
    for nodes, pole in poles:
        way = x[nodes] - pole
        yield nodes, way, np.exp(-0.5 * (way**2).sum(axis=1) / width**2)


def value(x):
    """Gaussian wells, 0 at their bottom."""
    return depth * sum((1 - well).sum() for _, _, well in wells(x)) / len(left)


def gradient(x):
    g = np.zeros_like(x)
    for nodes, way, well in wells(x):
        g[nodes] += depth / len(left) / width**2 * well[:, None] * way
    return g


def blocks(x, second):
    """The matrix of the nodes' 3 x 3 blocks, which `second` gives for every well."""
    entries = np.zeros((len(x), 3, 3))
    for nodes, way, well in wells(x):
        entries[nodes] += depth / len(left) / width**2 * well[:, None, None] * second(way)
    return sparse.bsr_matrix((entries, np.arange(len(x)), np.arange(len(x) + 1)), shape=(x.size, x.size))


def hessian(x):
    return blocks(x, lambda way: np.eye(3) - way[:, :, None] * way[:, None, :] / width**2)


def projected(x):
    """Along the way to the pole the energy may be concave: nothing is left of that."""
    def second(way):
        square = (way**2).sum(axis=1)
        along = np.minimum(1 / np.maximum(square, 1e-300), 1 / width**2)
        return np.eye(3) - along[:, None, None] * way[:, :, None] * way[:, None, :]
    return blocks(x, second)


magnet = lope.Energy(value, gradient, hessian, projected=projected)
simulations = {method: lope.Simulation(scene, energies={"block": magnet}, method=method) for method in ("newton", "lbfgs-h")}
objective, x, _ = simulations["newton"].step_problem()
print("errors of the derivatives:", {name: float(f"{error:.1e}") for name, error in objective.check_derivatives(x).items()})
for step in range(1, steps + 1):
    iterations = {method: sum(island["iterations"] for island in simulation.step()["islands"])
                  for method, simulation in simulations.items()}
    if step % 5 == 0:
        block = simulations["newton"]["block"].positions
        print(f"step {step:3d}   {np.ptp(block[:, 0]):.4f} m long, iterations {iterations}")
apart = np.abs(simulations["newton"]["block"].positions - simulations["lbfgs-h"]["block"].positions).max()
print(f"the two methods are {1e3 * apart:.4f} mm apart; the accuracy is that of 1e-4 of the size, per step")
