#!/usr/bin/env python3
"""A column of water breaks in a tank: how far its front comes, and that no water is lost.

Sample run: python3 liquid.py --seconds 0.4
"""
import argparse

import lope

arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
arguments.add_argument("--seconds", type=float, default=0.4)
seconds = arguments.parse_args().seconds

scene = lope.Scene({
    "time": {"step": "1/40 s", "duration": seconds},
    "liquid": {"cell": "4 cm"},
    "body": [{
        "name": "water",
        "kind": "liquid",
        "shape": {"box": {"center": [0.2, 0.3, 0.15], "size": [0.4, 0.6, 0.3]}},
    }],
    "obstacle": [{
        "name": "tank",
        "shape": {"box": {"center": [0.6, 0.5, 0.15], "size": [1.2, 1.0, 0.3]}},
        "inside": True,
    }],
}, name="dam")

simulation = lope.Simulation(scene)
water = simulation["liquid"]  # all liquids are one body
particles = len(water.positions)
while simulation.time < seconds - 1e-9:
    simulation.step()
    if simulation.steps % 4 == 0:
        print(f"t = {simulation.time:.2f} s   front at {water.positions[:, 0].max():.3f} m   "
              f"kinetic {water.report()['kinetic']:.1f} J")
surface = water.draw().surface
print(f"{len(water.positions)} of {particles} particles; the surface has {len(surface.triangles)} triangles")
