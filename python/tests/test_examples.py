"""The examples run, shortened, and say what they should."""
import os
import pathlib
import re
import subprocess
import sys

import pytest

import lope

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples" / "python"
SHORT = {
    "solid.py": (["--seconds", "2.5"], r"tip hangs ([\d.]+) mm low.*: ([\d.]+) mm"),
    "cloth.py": (["--seconds", "0.2"], r"t = 0.17 s"),
    "material_points.py": (["--seconds", "0.1"], r"t = 0.10 s"),
    "liquid.py": (["--seconds", "0.1"], r"([\d]+) of ([\d]+) particles"),
    "own_energy.py": (["--steps", "5"], r"are ([\d.]+) mm apart"),
    "own_solver.py": (["--edge", "0.07"], r"at most ([\d.e-]+) m apart"),
}


def run(script):
    arguments, words = SHORT[script]
    environment = {**os.environ, "PYTHONPATH": str(pathlib.Path(lope.__file__).parents[1])}
    done = subprocess.run([sys.executable, str(EXAMPLES / script), *arguments], env=environment, capture_output=True, text=True,
                          timeout=300)
    assert done.returncode == 0, done.stderr
    found = re.search(words, done.stdout)
    assert found, done.stdout
    return [float(number) for number in found.groups()], done.stdout


def test_all_examples_are_known():
    assert {path.name for path in EXAMPLES.glob("*.py")} == set(SHORT)


@pytest.mark.parametrize("script", ["cloth.py", "material_points.py"])
def test_examples_run(script):
    run(script)


def test_the_beam_hangs_as_theory_says():
    (drop, theory), _ = run("solid.py")
    assert drop == pytest.approx(theory, rel=0.25)  # a beam five times as long as high, in a coarse mesh


def test_no_water_is_lost():
    (left, began), _ = run("liquid.py")
    assert left == began


def test_two_methods_agree_on_an_energy_of_ones_own():
    (apart,), text = run("own_energy.py")
    assert apart < 0.3
    assert all(float(error) < 1e-5 for error in re.findall(r": (\d\S*e-\d+)", text))


def test_all_solvers_find_the_same_step():
    (apart,), _ = run("own_solver.py")
    assert apart < 1e-4
