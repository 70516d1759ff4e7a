"""Steps, arrays without copies, callbacks, checkpoints."""
import gc
import threading

import numpy as np
import pytest

import lope
from conftest import bar


def bits(simulation):
    return {body.name: {name: array.tobytes() for name, array in body.arrays().items()} for body in simulation.bodies}


def test_a_step_moves_the_bar_and_says_how(simulation):
    before = np.array(simulation["bar"].positions)
    report = simulation.step()
    body = simulation["bar"]
    assert report["converged"] and report["step"] == 1 and simulation.time == pytest.approx(0.025)
    assert body.positions.shape == before.shape and body.positions.shape[1] == 3
    assert (body.positions[:, 1] - before[:, 1]).min() < -1e-4
    assert np.allclose(body.velocities, (body.positions - before) / 0.025)  # backward Euler
    (island,) = report["islands"]
    assert island["bodies"] == ["bar"] and island["measure"] <= island["tolerance"]
    assert report["bodies"]["bar"]["kinetic"] == pytest.approx(0.5 * (body.masses[:, None] * body.velocities**2).sum())


def test_arrays_are_views_that_outlive_the_state_they_show(simulation):
    body = simulation["bar"]
    x, again = body.positions, body.positions
    assert not x.flags.writeable and not x.flags.owndata and np.shares_memory(x, again)
    with pytest.raises(ValueError):
        x[0, 0] = 1
    held = x.copy()
    for _ in range(3):
        simulation.step()
        assert not np.shares_memory(x, body.positions)
        assert (x == held).all()
    last = body.velocities
    copy = last.copy()
    del simulation, body, again
    gc.collect()
    trash = [np.full_like(copy, 7) for _ in range(50)]
    assert (last == copy).all() and (x == held).all() and len(trash) == 50


def test_views_change_no_bits(beam):
    watched, alone = lope.Simulation(beam), lope.Simulation(beam)
    views = []
    for _ in range(4):
        views.append(watched["bar"].arrays())
        watched.step()
        alone.step()
    assert bits(watched) == bits(alone)
    assert watched.take_back() and alone.take_back()
    watched.step()
    alone.step()
    assert bits(watched) == bits(alone)


def test_steps_are_taken_back_restored_saved_and_loaded(beam, tmp_path):
    simulation = lope.Simulation(beam)
    simulation.step()
    state, first = simulation.state(), bits(simulation)
    simulation.save(tmp_path / "one.h5")
    simulation.step()
    second = bits(simulation)
    assert simulation.take_back() and bits(simulation) == first and not simulation.take_back()
    simulation.step()
    assert bits(simulation) == second
    simulation.restore(state)
    assert bits(simulation) == first and simulation.steps == 1
    other = lope.Simulation(beam)
    other.load(tmp_path / "one.h5")
    assert bits(other) == first
    other.step()
    assert bits(other) == second
    with pytest.raises(lope.InputError, match="vertices in the saved state"):
        lope.Simulation(lope.Scene(bar(edge=0.1))).restore(state)
    with pytest.raises(lope.Error, match="two.h5"):
        other.load(tmp_path / "two.h5")
    with pytest.raises(lope.ResourceError):
        other.save(tmp_path / "no" / "folder" / "three.h5")


def test_callbacks_see_iterations_and_may_stop(simulation):
    seen = []

    def look(iteration):
        seen.append((iteration["number"], iteration["measure"]))
        positions = simulation["bar"].positions  # a copy of the state before the step
        assert positions.shape == iteration["x"].reshape(-1, 3).shape
        with pytest.raises(RuntimeError, match="in the middle"):
            simulation.step()
        with pytest.raises(RuntimeError, match="in the middle"):
            simulation["bar"].field("von_mises")

    simulation.on_iteration = look
    simulation.step()
    assert [number for number, _ in seen] == list(range(len(seen))) and len(seen) > 1
    before = bits(simulation)
    simulation.on_iteration = lambda iteration: simulation.request_stop()
    report = simulation.step()
    assert report["interrupted"] and not report["accepted"] and bits(simulation) == before
    simulation.on_iteration = None
    assert simulation.step()["accepted"]


def test_an_exception_in_a_callback_ends_the_step_cleanly(simulation):
    before = bits(simulation)

    def fail(iteration):
        raise KeyError("my own")

    simulation.on_iteration = fail
    for _ in range(2):
        with pytest.raises(KeyError, match="my own"):
            simulation.step()
        assert bits(simulation) == before and simulation.steps == 0
    simulation.on_iteration = None
    assert simulation.step()["converged"]


def test_the_gil_is_free_during_steps_and_other_threads_are_kept_out():
    simulation = lope.Simulation(lope.Scene(bar(edge=0.02)))
    inside, errors = threading.Event(), []

    def watch():
        inside.wait(60)
        for read in (lambda: simulation["bar"].positions, simulation.step):
            try:
                read()
            except RuntimeError as error:
                errors.append(str(error))
        simulation.request_stop()

    watcher = threading.Thread(target=watch)
    watcher.start()

    def wait_for_the_watcher(iteration):
        inside.set()
        watcher.join(60)

    simulation.on_iteration = wait_for_the_watcher
    report = simulation.step()
    assert report["interrupted"] and len(errors) == 2 and all("in the middle" in error for error in errors)


def test_a_step_that_cannot_be_taken_is_an_exception(simulation):
    simulation.step()
    before = bits(simulation)
    for h in (0, -1, float("nan")):
        with pytest.raises(lope.InputError, match="positive"):
            simulation.step(h)
    assert bits(simulation) == before


def test_unknown_names_are_told_with_those_there_are(simulation):
    with pytest.raises(KeyError, match="bar"):
        simulation["barr"]
    with pytest.raises(KeyError, match="von_mises"):
        simulation["bar"].field("pressure")
    with pytest.raises(KeyError, match="previous_x"):
        simulation["bar"].array("y")
    with pytest.raises(lope.InputError, match="lope.methods"):
        simulation.use_method("newtonn")


def test_fields_and_drawings_fit_the_mesh(simulation):
    simulation.step()
    body = simulation["bar"]
    drawing = body.draw(["von_mises", "velocity"])
    surface = drawing.surface
    assert drawing.points is None and drawing.volume is None
    assert np.allclose(surface.positions, body.positions, atol=1e-6)
    stress = body.field("von_mises")
    assert stress.shape == (len(surface.tetrahedra),) and (stress > 0).any()
    assert np.allclose(surface.element_fields["von_mises"], stress, rtol=1e-5)
    assert np.allclose(surface.vertex_fields["velocity"], body.velocities, atol=1e-5)
    assert drawing.units["von_mises"] == "Pa"
    assert body.fields()["velocity"].shape == body.positions.shape
    kept = surface.triangles
    del drawing, surface
    gc.collect()
    assert kept.max() == len(body.positions) - 1 or kept.max() < len(body.positions)
    assert body.report()["elastic"] > 0


@pytest.mark.parametrize("kind, scene", [
    ("cloth", {"body": [{"name": "b", "kind": "cloth", "shape": {"rectangle": {"size": [0.3, 0.2]}}, "edge": 0.05,
                         "material": "silk"}]}),
    ("mpm", {"mpm": {"cell": 0.05}, "body": [{"name": "b", "kind": "mpm", "shape": {"sphere": {"radius": 0.1}},
                                              "material": "snow"}]}),
    ("liquid", {"liquid": {"cell": 0.05}, "body": [{"name": "b", "kind": "liquid",
                                                    "shape": {"box": {"size": [0.3, 0.3, 0.3]}}}]}),
])
def test_every_kind_of_matter_falls_freely(kind, scene):
    simulation = lope.Simulation(lope.Scene({"time": {"step": "5 ms", "duration": "1 s"}, **scene}))
    (body,) = simulation.bodies
    assert body.kind == kind and body.positions.shape == body.velocities.shape
    held = body.positions
    start = held.copy()
    simulation.step()
    simulation.step()
    assert (held == start).all()
    assert body.velocities.mean(axis=0)[1] == pytest.approx(-9.81 * 0.01, rel=0.02)


def test_a_run_writes_frames_and_may_be_stopped_and_resumed(beam, tmp_path):
    seen = []

    def until_ten(progress):
        seen.append(progress["step"])
        return progress["step"] == 10

    summary = lope.run(beam, tmp_path / "run", on_step=until_ten)
    assert summary["interrupted"] and summary["last_step"] == 10 and seen == list(range(1, 11))
    with pytest.raises(lope.InputError):
        lope.run(beam, tmp_path / "run")

    def fail(progress):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        lope.run(beam, tmp_path / "run", resume=True, on_step=fail)
    summary = lope.run(beam, tmp_path / "run", resume=True)
    assert summary["last_step"] == 40 and summary["unconverged_steps"] == []
    frames = lope.Frames(tmp_path / "run")
    assert len(frames) == summary["frames"] and frames.names == ["bar"]
    alone = lope.Simulation(beam)
    while alone.steps < 40:
        alone.step()
    last = frames[-1]
    assert last.time == pytest.approx(1.0)
    assert np.allclose(last["bar"].surface.positions, alone["bar"].positions, atol=1e-6)
    with pytest.raises(IndexError):
        frames[len(frames)]
    loaded = lope.Simulation(beam)
    loaded.load(tmp_path / "run" / "checkpoint.h5")
    assert bits(loaded) == bits(alone)
