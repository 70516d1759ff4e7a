"""Lope: simulation in long strides.

    import lope
    scene = lope.load_scene("beam.toml")
    simulation = lope.Simulation(scene)
    while simulation.time < scene.duration:
        simulation.step()
        print(simulation.time, simulation["body"].positions.min(axis=0))

Errors are lope.Error: InputError (a ValueError), ResourceError (an OSError), StepError (a RuntimeError). Messages of the library go to the
logger "lope". docs/python.md has the rest.
"""
from ._lope import (Body, Drawing, Energy, Error, Frame, Frames, InputError, Objective, Points, ResourceError, Scene,
                    Simulation, State, StepError, Surface, Volume, __version__, lcp_methods, methods, run, set_threads,
                    thread_count)
from .optimize import LcpResult, MinimizeResult, minimize, objective, solve_lcp

load_scene = Scene.load

__all__ = ["Body", "Drawing", "Energy", "Error", "Frame", "Frames", "InputError", "LcpResult", "MinimizeResult",
           "Objective", "Points", "ResourceError", "Scene", "Simulation", "State", "StepError", "Surface", "Volume",
           "__version__", "lcp_methods", "load_scene", "methods", "minimize", "objective", "run", "set_threads",
           "solve_lcp", "thread_count"]
