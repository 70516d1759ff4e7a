"""Scenes from dicts, text and files: the same schema, the same messages."""
import logging
import pathlib

import numpy as np
import pytest

import lope
from conftest import bar

TEXT = """
[time]
step = "25 ms"
duration = "1 s"

[[body]]
name = "bar"
shape = { box = { size = [0.4, 0.1, 0.1] } }
edge = 0.05
material = "rubber"

[[body.handle]]
name = "wall"
where = { side = "x-min" }
pin = true
"""


def test_a_dict_a_text_and_a_file_mean_the_same(tmp_path):
    path = tmp_path / "beam.toml"
    path.write_text(TEXT)
    scenes = [lope.Scene(bar(), name="beam"), lope.Scene.parse(TEXT, name="beam"), lope.load_scene(path)]
    assert scenes[0].resolved == scenes[1].resolved == scenes[2].resolved
    assert scenes[0].toml() == scenes[2].toml()
    assert lope.Scene.parse(scenes[0].toml()).resolved == scenes[0].resolved
    assert scenes[0].name == "beam" and scenes[0].dimension == 3 and scenes[0].step_length == 0.025


def test_values_may_be_numpys_and_paths(tmp_path):
    scene = lope.Scene(bar(shape={"box": {"size": np.array([0.4, 0.1, 0.1])}}, edge=np.float64(0.05)))
    assert scene.resolved["body"][0]["shape"]["box"]["size"] == [0.4, 0.1, 0.1]
    with pytest.raises(lope.InputError, match="missing.obj"):
        lope.Simulation(lope.Scene(bar(shape={"mesh": pathlib.Path("missing.obj")}), directory=tmp_path))


@pytest.mark.parametrize("change, words", [
    ({"edgee": 0.1}, ["scene['body'][0]['edgee']", "edge"]),
    ({"edge": "25 ms"}, ["scene['body'][0]['edge']", "is a time", "length"]),
    ({"material": "ruber"}, ["scene['body'][0]['material']", "rubber"]),
    ({"edge": -1}, ["body.0.edge"]),
    ({"shape": {}}, ["shape"]),
    ({"color": 1j}, ["scene['body'][0]['color']", "1j"]),
])
def test_what_is_wrong_is_said_with_its_place(change, words):
    with pytest.raises(lope.InputError) as caught:
        lope.Simulation(lope.Scene(bar(**change)))
    for word in words:
        assert word in str(caught.value)
    assert isinstance(caught.value, ValueError) and isinstance(caught.value, lope.Error)


def test_overrides_are_those_of_the_program():
    scene = lope.Scene(bar(), overrides=["time.step=10 ms", "body.bar.edge=0.1"])
    assert scene.step_length == 0.01 and scene.resolved["body"][0]["edge"] == 0.1
    with pytest.raises(lope.InputError, match="time.stepp"):
        lope.Scene(bar(), overrides=["time.stepp=1"])


def test_check_says_what_would_be_simulated():
    findings, text = lope.Scene(bar()).check()
    assert "bar" in text and all(severity in ("note", "warning", "error") for severity, _ in findings)


def test_the_log_is_pythons(caplog):
    scene = lope.Scene(bar(), overrides=["solver.max_iterations=1", "solver.accuracy=1e-12"])
    with caplog.at_level(logging.WARNING, logger="lope"):
        assert not lope.Simulation(scene).step()["converged"]
    assert "did not reach its accuracy" in caplog.text
