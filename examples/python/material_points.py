#!/usr/bin/env python3
"""A ball of snow falls on the ground; where its particles are, and how much of it was packed.

Sample run: python3 material_points.py --seconds 0.3
"""
import argparse

import numpy as np

import lope

arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
arguments.add_argument("--seconds", type=float, default=0.3)
seconds = arguments.parse_args().seconds

scene = lope.Scene({
    "time": {"step": "1/50 s", "duration": seconds},
    "mpm": {"cell": "3 cm"},
    "solver": {"relative_accuracy": 1e-2},
    "body": [{
        "name": "ball",
        "kind": "mpm",
        "shape": {"sphere": {"center": [0, 0.25, 0], "radius": 0.1}},
        "material": "snow",
        "velocity": [0, -2, 0],
    }],
    "obstacle": [{"name": "ground", "shape": {"half_space": {"point": [0, 0, 0], "normal": [0, 1, 0]}}, "boundary": "sticky"}],
}, name="snow")

simulation = lope.Simulation(scene)
ball = simulation["points"]  # all material points are one body
print(f"{len(ball.positions)} particles, arrays: {', '.join(ball.arrays())}")
while simulation.time < seconds - 1e-9:
    simulation.step()
    if simulation.steps % 5 == 0:
        height = ball.positions[:, 1]
        print(f"t = {simulation.time:.2f} s   height {height.min():.3f} to {height.max():.3f} m   "
              f"fastest {np.linalg.norm(ball.velocities, axis=1).max():.2f} m/s")
