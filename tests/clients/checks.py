"""What the clients' tests share: the expected numbers, and failures that say where they differ."""

import json
from pathlib import Path

failures = []


def expected(folder):
    return json.loads((Path(folder) / "expected.json").read_text())


def near(where, found, wanted, tolerance=2e-6):
    """Numbers, or lists of them, that agree to so much of the largest."""
    found = list(found) if hasattr(found, "__len__") else [found]
    wanted = list(wanted) if hasattr(wanted, "__len__") else [wanted]
    scale = max(1e-3, *(abs(w) for w in wanted))
    if len(found) != len(wanted) or not all(abs(f - w) <= tolerance * scale for f, w in zip(found, wanted)):
        failures.append(f"{where}: {found} instead of {wanted}")


def same(where, found, wanted):
    if found != wanted:
        failures.append(f"{where}: {found} instead of {wanted}")


def bounds(where, found, wanted, turn=lambda low, high: (low, high), tolerance=2e-6):
    """Lowest and highest corner; `turn` brings what is wanted into the axes of the client."""
    low, high = turn(wanted["min"], wanted["max"])
    near(f"{where}: lowest corner", found[0], low, tolerance)
    near(f"{where}: highest corner", found[1], high, tolerance)


def z_up(low, high):
    """Of bounds in Lope's axes (y up), in those where z is up: (x, -z, y)."""
    return [low[0], -high[2], low[1]], [high[0], -low[2], high[1]]


def finish(what, checked):
    for failure in failures:
        print("FAILED:", failure)
    print(f"{what}: {checked} files, {len(failures)} differences")
    if checked == 0 or failures:
        raise SystemExit(1)
