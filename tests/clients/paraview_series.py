"""Exports opened in ParaView: the .pvd index with its files, at two times.

    pvpython paraview_series.py FOLDER
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from checks import bounds, expected, failures, finish, near, same  # noqa: E402
from paraview.simple import OpenDataFile, UpdatePipeline  # noqa: E402
from paraview import servermanager, vtk  # noqa: E402

folder = Path(sys.argv[1])
checked = 0


def blocks(data):
    """Name and data of each."""
    if not data.IsA("vtkCompositeDataSet"):
        return {"": data}
    found = {}
    for number in range(data.GetNumberOfBlocks()):
        about, block = data.GetMetaData(number), data.GetBlock(number)
        named = about is not None and about.Has(vtk.vtkCompositeDataSet.NAME())
        found[about.Get(vtk.vtkCompositeDataSet.NAME()) if named else None] = block.GetBlock(0) if block.IsA("vtkMultiBlockDataSet") else block
    return found


def check_range(where, array, wanted):
    if array is None:
        failures.append(f"{where}: not there")
        return
    low, high = wanted["min"], wanted["max"]
    if not isinstance(low, list):
        low, high = [low], [high]
    for k in range(len(low)):
        near(f"{where}[{k}]", array.GetRange(k), (low[k], high[k]))


def check_block(where, block, thing, wanted):
    global checked
    checked += 1
    box = block.GetBounds()
    solid = wanted.get("tetrahedra", 0)
    whole = wanted["all"] if solid else wanted
    same(f"{where}: points", block.GetNumberOfPoints(), wanted["all"]["count"] if "all" in wanted else wanted["count"])
    same(f"{where}: cells", block.GetNumberOfCells(), solid or wanted.get("triangles", wanted["count"]))
    bounds(where, (box[::2], box[1::2]), whole)
    for name, values in wanted["fields"].items():
        array = block.GetPointData().GetArray(name)
        if solid:  # of inside vertices, too
            same(f"{where}: {name}", array is not None and array.GetNumberOfComponents(), 3)
        else:
            check_range(f"{where}: {name}", array, values)
    if solid:
        stress = block.GetCellData().GetArray("stress")
        same(f"{where}: stress", stress is not None and stress.GetNumberOfComponents(), 6)


for run, data in expected(folder).items():
    reader = OpenDataFile(str(folder / run / "vtu" / f"{run}.pvd"))
    same(f"{run}: times", len(reader.TimestepValues), len(data["numbers"]))
    for number, frame in data["frames"].items():
        UpdatePipeline(frame["time"], reader)
        found = blocks(servermanager.Fetch(reader))
        wanted = {}
        for name, thing in frame["things"].items():
            both = "surface" in thing and "points" in thing
            if "surface" in thing:
                wanted[name + "_surface" if both else name] = (thing, thing["surface"])
            if "points" in thing:
                wanted[name] = (thing, thing["points"])
        if len(wanted) == 1 and list(found) == [""]:  # one body is no collection of blocks
            found = dict(zip(wanted, found.values()))
        same(f"{run} {number}: blocks", sorted(map(str, found)), sorted(wanted))
        for name in set(found) & set(wanted):
            check_block(f"{run} {number} {name}", found[name], *wanted[name])
finish("ParaView", checked)
