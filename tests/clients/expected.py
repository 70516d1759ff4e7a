"""What clients must find in the exports: counts, bounds and ranges of fields of two frames of each run, from the frames themselves.

    expected.py SOURCES FOLDER      writes FOLDER/expected.json
"""

import json
import sys
from pathlib import Path

import numpy

sources, folder = Path(sys.argv[1]), Path(sys.argv[2])
sys.path.insert(0, str(sources / "integrations/blender/lope"))
import frames  # noqa: E402


def numbers(values):
    values = numpy.asarray(values, float)
    return {"count": len(values), "min": values.min(axis=0).tolist(), "max": values.max(axis=0).tolist()}


def about(thing):
    result = {}
    used, triangles = thing.surface()
    if len(used):
        result["surface"] = {"triangles": len(triangles), "all": numbers(thing.positions), **numbers(thing.positions[used]),
                             "fields": {name: numbers(values[used]) for name, values in thing.fields.items()
                                        if name == "velocity"},
                             "texture": numbers(thing.texture) if len(thing.texture) else None,
                             "tetrahedra": len(thing.tetrahedra)}
    if len(thing.points):
        result["points"] = {**numbers(thing.points), "radius": thing.radius,
                            "fields": {name: numbers(values) for name, values in thing.point_fields.items()}}
    result["color"], result["material"] = thing.color.ravel().tolist(), thing.material
    return result


runs = {}
for path in sorted(folder.glob("*/frames")):
    run = frames.Run(path.parent)
    chosen = [run.numbers[0], run.numbers[-1]]
    runs[path.parent.name] = {"rate": run.rate(), "numbers": run.numbers, "frames": {
        number: {"time": run.frame(number).time, "things": {thing.name: about(thing) for thing in run.read(number)}}
        for number in chosen}}
(folder / "expected.json").write_text(json.dumps(runs, indent=1))
