"""Scenes that the tests share: small, and quick to step."""
import pytest

import lope


def bar(**more):
    """A bar of rubber, held at one end."""
    body = {"name": "bar", "shape": {"box": {"size": [0.4, 0.1, 0.1]}}, "edge": 0.05, "material": "rubber",
            "handle": [{"name": "wall", "where": {"side": "x-min"}, "pin": True}]}
    body.update(more)
    return {"time": {"step": "25 ms", "duration": "1 s"}, "body": [body]}


@pytest.fixture
def beam():
    return lope.Scene(bar(), name="beam")


@pytest.fixture
def simulation(beam):
    return lope.Simulation(beam)
