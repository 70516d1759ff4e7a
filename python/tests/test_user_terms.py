"""Forces, motions and energies that are functions of Python, against what the library can do itself."""
import numpy as np
import pytest
import scipy.sparse

import lope
from conftest import bar


def test_a_force_equal_to_the_weight_lets_a_body_float():
    scene = lope.Scene(bar(handle=[]))
    masses = lope.Simulation(scene)["bar"].masses

    def lift(time, x):
        force = np.zeros_like(x)
        force[:, 1] = 9.80665 * masses  # the default of scenes
        return force

    floating = lope.Simulation(scene, forces={"bar": lift})
    start = floating["bar"].positions
    for _ in range(5):
        floating.step()
    assert np.abs(floating["bar"].positions - start).max() < 1e-8
    twice = lope.Simulation(scene, forces={"bar": [lift, lift]})
    twice.step()
    assert np.allclose(twice["bar"].velocities[:, 1], 9.81 * 0.025, rtol=1e-3)


def test_a_motion_leads_the_vertices_of_its_handle():
    turn = {"name": "end", "where": {"side": "x-max"}, "pin": True}
    scene = bar()
    scene["body"][0]["handle"].append(turn)
    written = bar()
    written["body"][0]["handle"].append({**turn, "pin": False, "move": {"velocity": [0, 0.2, 0]}})
    del written["body"][0]["handle"][1]["pin"]
    mine = lope.Simulation(lope.Scene(scene), motions={("bar", "end"): lambda t, start: start + [0, 0.2 * t, 0]})
    theirs = lope.Simulation(lope.Scene(written))
    for _ in range(3):
        mine.step()
        theirs.step()
    assert np.array_equal(mine["bar"].positions, theirs["bar"].positions)


def springs(nodes, anchors, stiffness):
    """Springs from some nodes to fixed places."""
    def value(x):
        return 0.5 * stiffness * ((x[nodes] - anchors) ** 2).sum()

    def gradient(x):
        g = np.zeros_like(x)
        g[nodes] = stiffness * (x[nodes] - anchors)
        return g

    def hessian(x):
        diagonal = np.zeros_like(x)
        diagonal[nodes] = stiffness
        return scipy.sparse.diags(diagonal.ravel())

    return lope.Energy(value, gradient, hessian, convex=True)


@pytest.mark.parametrize("scheme", ["backward-euler", "bdf-2", "trapezoid"])
def test_springs_carry_the_weight_of_a_body(scheme):
    """A body that hangs on springs of equal stiffness per mass swings as a point does."""
    scene = bar(handle=[])
    scene["time"].update(step="2 ms", scheme=scheme)
    plain = lope.Simulation(lope.Scene(scene))
    start, masses = np.array(plain["bar"].positions), plain["bar"].masses
    square = 400.0  # of the frequency, 1/s^2

    def value(x):
        return 0.5 * square * (masses[:, None] * (x - start) ** 2).sum()

    energy = lope.Energy(value, lambda x: square * masses[:, None] * (x - start),
                         lambda x: scipy.sparse.diags(square * np.repeat(masses, 3)), convex=True)
    simulation = lope.Simulation(lope.Scene(scene), energies={"bar": energy})
    while simulation.time < 0.1:
        assert simulation.step()["converged"]
    drop = start - simulation["bar"].positions
    exact = 9.81 / square * (1 - np.cos(np.sqrt(square) * simulation.time))
    assert drop[:, 1].mean() == pytest.approx(exact, rel=0.05 if scheme == "backward-euler" else 0.005)
    assert np.ptp(drop[:, 1]) < 1e-4


def test_energies_couple_nodes_that_no_element_couples():
    """A spring between the two ends of a free bar pulls them together; momentum stays zero."""
    scene = bar(handle=[])
    scene["gravity"] = [0, 0, 0]
    start = np.array(lope.Simulation(lope.Scene(scene))["bar"].positions)
    i, j = int(start[:, 0].argmin()), int(start[:, 0].argmax())

    def value(x):
        return 0.5 * 50 * ((x[i] - x[j]) ** 2).sum()

    def gradient(x):
        g = np.zeros_like(x)
        g[i] = 50 * (x[i] - x[j])
        g[j] = -g[i]
        return g

    def hessian(x):
        n = x.size
        rows, values = [], []
        for k in range(3):
            a, b = 3 * i + k, 3 * j + k
            rows += [(a, a), (b, b), (a, b), (b, a)]
            values += [50, 50, -50, -50]
        return scipy.sparse.coo_matrix((values, np.transpose(rows)), shape=(n, n))

    simulation = lope.Simulation(lope.Scene(scene), energies={"bar": lope.Energy(value, gradient, hessian)})
    objective, x, _ = simulation.step_problem()
    assert max(objective.check_derivatives(x).values()) < 1e-5
    for _ in range(3):
        assert simulation.step()["converged"]
    body = simulation["bar"]
    assert np.linalg.norm(body.positions[i] - body.positions[j]) < np.linalg.norm(start[i] - start[j]) - 1e-3
    assert np.abs((body.masses[:, None] * body.velocities).sum(axis=0)).max() < 1e-3


@pytest.mark.parametrize("what", ["forces", "motions", "energies"])
def test_their_exceptions_leave_the_state_alone(beam, what):
    calls = []

    def fail(*arguments):
        calls.append(1)
        raise LookupError("mine")

    given = {"forces": {"bar": fail}, "motions": {("bar", "wall"): fail},
             "energies": {"bar": lope.Energy(fail, fail, fail)}}[what]
    simulation = lope.Simulation(beam, **{what: given})
    before = simulation["bar"].positions.tobytes()
    with pytest.raises(LookupError, match="mine"):
        simulation.step()
    assert simulation.steps == 0 and simulation["bar"].positions.tobytes() == before and len(calls) == 1


def test_what_they_return_is_looked_at(beam):
    with pytest.raises(lope.InputError, match="a force has 3 numbers, not"):
        lope.Simulation(beam, forces={"bar": lambda t, x: np.zeros(3)}).step()
    with pytest.raises(TypeError, match="array of numbers"):
        lope.Simulation(beam, forces={"bar": lambda t, x: "strong"}).step()
    flat = lope.Energy(lambda x: -1.0, np.zeros_like, lambda x: scipy.sparse.identity(x.size))
    with pytest.raises(lope.InputError, match="lower bound"):
        lope.Simulation(beam, energies={"bar": flat}).step()
    with pytest.raises(lope.InputError, match="no body 'baz'.*bar"):
        lope.Simulation(beam, forces={"baz": lambda t, x: x})
    with pytest.raises(lope.InputError, match="no handle 'door'"):
        lope.Simulation(beam, motions={("bar", "door"): lambda t, x: x})


@pytest.mark.parametrize("which", ["value", "gradient", "hessian"])
def test_exceptions_of_energies_come_out_of_step_problems(beam, which):
    """Every time that the functions are called, whatever was known of the point before."""
    failing = []

    def function(name, result):
        def call(x):
            if name in failing:
                raise LookupError("mine")
            return result(x)
        return call

    energy = lope.Energy(function("value", lambda x: 0.5 * (x ** 2).sum()), function("gradient", lambda x: x),
                         function("hessian", lambda x: scipy.sparse.identity(x.size)), convex=True)
    simulation = lope.Simulation(beam, energies={"bar": energy})
    objective, start, _ = simulation.step_problem()
    x = start + 1e-3
    expected = objective.value(start), objective.gradient(start), objective.hessian(start).toarray()
    objective.value(x)
    failing.append(which)
    asked = {"value": objective.value, "gradient": objective.gradient, "hessian": objective.hessian}[which]
    for _ in range(2):
        with pytest.raises(LookupError, match="mine"):
            asked(start)
        with pytest.raises(LookupError, match="mine"):
            objective.check_derivatives(start)
        with pytest.raises(LookupError, match="mine"):
            lope.minimize(objective, x0=start, method="newton")
    failing.clear()
    assert objective.value(start) == expected[0]
    assert np.array_equal(objective.gradient(start), expected[1])
    assert np.array_equal(objective.hessian(start).toarray(), expected[2])


def test_exceptions_end_a_minimisation(beam):
    calls = []

    def fail(x):
        calls.append(1)
        raise LookupError("mine")

    energy = lope.Energy(lambda x: 0.5 * (x ** 2).sum(), lambda x: x, fail)
    objective, start, _ = lope.Simulation(beam, energies={"bar": energy}).step_problem()
    iterations = []
    with pytest.raises(LookupError, match="mine"):
        lope.minimize(objective, x0=start, tolerance=0, max_iterations=50, callback=iterations.append)
    assert len(calls) == 1 and len(iterations) < 5
