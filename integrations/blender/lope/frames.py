"""Frames of a run, read with NumPy alone (docs/formats.md, "Frames"). Needs nothing of Blender.

    run = Run("runs/flagship")
    for number in run.numbers:
        for thing in run.read(number):
            thing.name, thing.positions, thing.fields["velocity"]
"""

import json
import re
import struct
from pathlib import Path

import numpy

MAGIC = b"LOPEFRM\x01"
TYPES = {"f32": "<f4", "f64": "<f8", "i32": "<i4", "i64": "<i8", "u8": "u1"}


class FrameError(ValueError):
    """A file that is no frame, or a damaged one."""


class Frame:
    """One file: time, free text by key, arrays by name."""

    def __init__(self, path):
        data = Path(path).read_bytes()
        if data[:8] != MAGIC or len(data) < 16:
            raise FrameError(f"{path}: not a frame of Lope")
        (length,) = struct.unpack_from("<Q", data, 8)
        if length > len(data) - 16:
            raise FrameError(f"{path}: the file is truncated")
        try:
            header = json.loads(data[16:16 + length].decode())
            if header["version"] != 1:
                raise FrameError(f"{path}: version {header['version']} is not known; this add-on reads 1")
            self.number, self.time = header["frame"], header["time"]
            self.words = header.get("metadata", {})
            self.arrays = {entry["name"]: self._array(data, 16 + length, entry) for entry in header["arrays"]}
        except FrameError:
            raise
        except (KeyError, TypeError, ValueError, OverflowError) as problem:
            raise FrameError(f"{path}: the header or an array is damaged ({problem})") from problem

    @staticmethod
    def _array(data, begin, entry):
        shape = [int(extent) for extent in entry["shape"]]
        if min(shape, default=1) < 0 or entry["offset"] < 0:
            raise ValueError(f"array '{entry['name']}'")
        count = 1
        for extent in shape:
            count *= extent
        return numpy.frombuffer(data, TYPES[entry["type"]], count, begin + entry["offset"]).reshape(shape)


class Thing:
    """What there is to see of a body or an obstacle in a frame. Arrays may be empty; y is up, metres."""

    def __init__(self, name, frames):
        self.name = name
        self._frames = frames
        self.color = self._array("/color", 3)
        self.material = self._word("/material")
        self.backdrop = self._word("/backdrop") == "true"
        self.cut = self._word("/cut") == "true"
        self.radius = float(self._word("/points/radius") or 0)
        self.palette = self._array("/points/palette", 3).reshape(-1, 3)
        self.triangles = self._array("/triangles", 3, numpy.int32)
        self.tetrahedra = self._array("/tetrahedra", 4, numpy.int32)
        self.texture = self._array("/material_coordinates", 6).reshape(-1, 2)
        self.positions = self._array("/position", 3)
        out = self._array("/out_of_walls", 3)
        if len(out) == len(self.positions):
            self.positions = self.positions + out
        self.fields = self._fields("/vertex/")
        self.points = self._array("/points/position", 3)
        self.point_fields = self._fields("/points/field/")
        for what, count in ((self.triangles, len(self.positions)), (self.tetrahedra, len(self.positions))):
            if what.size and (what.min() < 0 or what.max() >= count):
                raise FrameError(f"'{name}': the triangles or tetrahedra do not fit the vertices")
        self._average_elements()

    def _array(self, key, columns, kind=numpy.float32):
        for frame in self._frames:
            found = frame.arrays.get(self.name + key)
            if found is not None:
                return found
        return numpy.empty((0, columns), kind)

    def _word(self, key):
        return next((frame.words[self.name + key] for frame in self._frames if self.name + key in frame.words), "")

    def _fields(self, place):
        prefix = self.name + place
        return {name[len(prefix):]: values for frame in self._frames for name, values in frame.arrays.items()
                if name.startswith(prefix)}

    def _average_elements(self):
        """Elements' values, as means around each vertex; stress by its von Mises value."""
        corners = self.tetrahedra if len(self.tetrahedra) else self.triangles
        count = numpy.bincount(corners.ravel(), minlength=len(self.positions))
        for name, values in self._fields("/element/").items():
            if values.ndim == 2 and values.shape[1] == 6:
                name, values = "von_mises", von_mises(values)
            if values.ndim != 1 or len(values) != len(corners) or name in self.fields:
                continue
            total = numpy.bincount(corners.ravel(), numpy.repeat(values, corners.shape[1]), len(self.positions))
            self.fields[name] = (total / numpy.maximum(count, 1)).astype(numpy.float32)

    def surface(self):
        """The vertices that the surface uses, and its triangles numbered by them."""
        if len(self.triangles) == 0:
            return numpy.empty(0, numpy.int32), self.triangles
        used, numbered = numpy.unique(self.triangles, return_inverse=True)
        return used, numbered.reshape(-1, 3).astype(numpy.int32)

    def loose_points(self):
        """Which points the surface does not show: those of parts that no triangle belongs to."""
        everything = numpy.arange(len(self.points))
        if len(self.triangles) == 0:
            return everything
        shown, parts = self._fields("/element/").get("part"), self.point_fields.get("part")
        if shown is None or parts is None:
            return everything[:0]
        return everything[~numpy.isin(parts, shown)]


def von_mises(stress):
    xx, yy, zz, xy, yz, zx = stress.T
    square = 0.5 * ((xx - yy) ** 2 + (yy - zz) ** 2 + (zz - xx) ** 2) + 3 * (xy ** 2 + yz ** 2 + zx ** 2)
    return numpy.sqrt(square)


class Run:
    """The frames of a run, finished or going on."""

    def __init__(self, directory):
        self.directory = Path(directory)
        self.topology = Frame(self.directory / "frames" / "topology.lope")
        self.names = [name[:-len("/color")] for name in self.topology.arrays
                      if name.endswith("/color") and name[:-len("/color")] + "/dimension" in self.topology.words]
        self.numbers = []
        self.look_again()

    def look_again(self):
        """Finds the frames that are there."""
        found = (re.fullmatch(r"frame_(\d{6,})\.lope", path.name) for path in (self.directory / "frames").iterdir())
        self.numbers = sorted(int(match[1]) for match in found if match)

    def frame(self, number):
        return Frame(self.directory / "frames" / f"frame_{number:06d}.lope")

    def read(self, number):
        """All things in a frame."""
        frame = self.frame(number)
        return [Thing(name, (frame, self.topology)) for name in self.names]

    def rate(self):
        """Frames per second, or None where there is one frame."""
        if len(self.numbers) < 2:
            return None
        first, last = self.numbers[0], self.numbers[-1]
        time = self.frame(last).time - self.frame(first).time
        return (last - first) / time if time > 0 else None


def run_directory(path):
    """The run that a file or a folder belongs to, or None."""
    path = Path(path)
    for folder in (path, *path.parents):
        if (folder / "frames" / "topology.lope").is_file():
            return folder
    return None
