#!/usr/bin/env python3
"""A rubber beam under its own weight: where its tip settles, beside what beam theory says.

Sample run: python3 solid.py --seconds 3
"""
import argparse

import numpy as np

import lope

arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
arguments.add_argument("--seconds", type=float, default=3.0)
seconds = arguments.parse_args().seconds

length, height, young, density = 0.5, 0.1, 1e6, 1000.0
scene = lope.Scene({
    "time": {"step": "25 ms", "duration": seconds},
    "body": [{
        "name": "beam",
        "shape": {"box": {"size": [length, height, height]}},
        "edge": height / 5,
        "material": {"model": "fixed-corotated", "young": young, "poisson": 0.3, "density": density},
        "damping": {"mass": 4},
        "handle": [{"where": {"side": "x-min"}, "pin": True}],
    }],
}, name="beam")

simulation = lope.Simulation(scene)
beam = simulation["beam"]
tip = np.argmax(beam.positions[:, 0])
start = beam.positions[tip, 1]
while simulation.time < seconds - 1e-9:
    report = simulation.step()
    if report["step"] % 20 == 0:
        iterations = sum(island["iterations"] for island in report["islands"])
        print(f"t = {simulation.time:.2f} s   tip {1e3 * (beam.positions[tip, 1] - start):7.2f} mm   {iterations} iterations")

load = density * 9.80665 * height**2
theory = load * length**4 / (8 * young * height**4 / 12)
print(f"the tip hangs {1e3 * (start - beam.positions[tip, 1]):.2f} mm low; a slender beam of small deflections: {1e3 * theory:.2f} mm")
print(f"largest stress {beam.field('von_mises').max() / 1e3:.1f} kPa")
