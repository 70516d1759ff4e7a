#!/usr/bin/env python3
"""A silk flag in a wind that Python makes: gusts are a force on its nodes, beside the scene's own air.

Sample run: python3 cloth.py --seconds 1
"""
import argparse

import numpy as np

import lope

arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
arguments.add_argument("--seconds", type=float, default=1.0)
seconds = arguments.parse_args().seconds

scene = lope.Scene({
    "time": {"step": "1/60 s", "duration": seconds},
    "body": [{
        "name": "flag",
        "kind": "cloth",
        "shape": {"rectangle": {"size": [0.6, 0.4]}},
        "edge": "4 cm",
        "material": "silk",
        "air": {"drag": 2, "wind": [5, 0, 1]},
        "handle": [{"name": "pole", "where": {"side": "x-min", "width": "1 mm"}, "pin": True}],
    }],
}, name="flag")
masses = lope.Simulation(scene)["flag"].masses


def gusts(time, x):
    """Accelerates the flag to either side, a wave that runs along it."""
    force = np.zeros_like(x)
    force[:, 2] = masses * 8 * np.sin(2 * np.pi * (2 * time - x[:, 0] / 0.4))
    return force


calm, gusty = lope.Simulation(scene), lope.Simulation(scene, forces={"flag": gusts})
while calm.time < seconds - 1e-9:
    calm.step()
    gusty.step()
    if calm.steps % 10 == 0:
        depths = [np.ptp(simulation["flag"].positions[:, 2]) for simulation in (calm, gusty)]
        print(f"t = {calm.time:.2f} s   across the wind: calm {depths[0]:.3f} m, gusts {depths[1]:.3f} m")
