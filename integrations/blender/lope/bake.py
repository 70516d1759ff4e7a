"""The program, as a process of its own: progress and cancel. Needs nothing of Blender."""

import json
import os
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path

import numpy


class ProgramError(RuntimeError):
    """What the program said when it failed, or that it is not there."""


def find_program(wanted=""):
    """The program that the preferences name, $LOPE, or `lope` on the path."""
    for candidate in (wanted, os.environ.get("LOPE", ""), "lope"):
        found = shutil.which(os.path.expanduser(candidate)) if candidate else None
        if found:
            return found
    raise ProgramError("the program `lope` is not found: say where it is in the add-on's preferences")


def last_words(text):
    lines = [line for line in text.strip().splitlines() if line.strip()]
    return lines[-1] if lines else "it said nothing"


def fill(program, surface, target, edge=0.0):
    """`lope mesh`: elements in a closed surface. Gives their vertices, and the numbers of those on the surface."""
    command = [program, "mesh", str(surface), "-o", str(target)]
    if edge > 0:
        command += ["--edge", repr(edge)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise ProgramError(f"lope mesh: {last_words(done.stderr)}")
    vertices, cells = read_medit(target)
    faces = numpy.sort(numpy.concatenate([cells[:, corners] for corners in ((0, 1, 2), (0, 1, 3), (0, 2, 3), (1, 2, 3))]), axis=1)
    once, times = numpy.unique(faces, axis=0, return_counts=True)
    return vertices, numpy.unique(once[times == 1])


def read_medit(path):
    """Vertices and tetrahedra of a text file of MEDIT."""
    words = iter(Path(path).read_text().split())
    vertices, cells = numpy.empty((0, 3)), numpy.empty((0, 4), int)
    for word in words:
        if word == "Vertices":
            count = int(next(words))
            vertices = numpy.array([[float(next(words)) for _ in range(4)][:3] for _ in range(count)])
        elif word == "Tetrahedra":
            count = int(next(words))
            cells = numpy.array([[int(next(words)) for _ in range(5)][:4] for _ in range(count)]) - 1
    return vertices, cells


class Bake:
    """A run that goes on. `done` counts steps, of `steps` where that is known."""

    def __init__(self, program, scene, directory):
        self.directory = Path(directory)
        self.done, self.steps, self._read, self._asked = 0, 0, 0, False
        self._errors = tempfile.TemporaryFile("w+")
        self._process = subprocess.Popen(
            [program, "run", str(scene), "-o", str(directory), "--overwrite", "--live", "--quiet"],
            stdout=subprocess.DEVNULL, stderr=self._errors, stdin=subprocess.DEVNULL, cwd=Path(scene).parent)

    def running(self):
        self._look()
        return self._process.poll() is None

    def progress(self):
        return self.done / self.steps if self.steps else 0.0

    def stop(self):
        """Asks it to end after the step that goes on; asked once more it ends at once."""
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGKILL if self._asked else signal.SIGINT)
        self._asked = True

    def cancel(self, patience=60.0):
        """Stops, and waits for the end."""
        self.stop()
        try:
            self._process.wait(patience)
        except subprocess.TimeoutExpired:
            self.stop()
            self._process.wait()

    def wait(self):
        self._process.wait()

    def outcome(self):
        """None where all went well, a warning where a step missed its accuracy. Fails with the program's words otherwise."""
        self._look()
        self._errors.seek(0)
        words = self._errors.read()
        if self._process.returncode == 0:
            return None
        if self._process.returncode == 2:
            return last_words(words)
        raise ProgramError(last_words(words))

    def _look(self):
        """The statistics count once this run writes them: before that they are of the run that it replaces."""
        try:
            with open(self.directory / "live.jsonl", "rb") as file:
                self.steps = json.loads(file.readline())["steps"]
        except (OSError, ValueError, KeyError):
            pass
        if not self.steps:
            return
        try:
            with open(self.directory / "stats.jsonl", "rb") as file:
                file.seek(self._read)
                for line in file:
                    if not line.endswith(b"\n"):
                        break
                    self._read += len(line)
                    self.done = json.loads(line)["step"]
        except (OSError, ValueError, KeyError):
            pass
