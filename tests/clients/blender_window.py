"""Baking as users do it, in a window: progress while Blender goes on, Esc stops and keeps what is done.

    xvfb-run blender --factory-startup --enable-event-simulate --window-geometry 0 0 320 240 --python blender_window.py --
        SOURCES LOPE RESULTS
"""

import os
import shutil
import sys
import time
import traceback
from pathlib import Path

import bmesh
import bpy

sources, program, results = (Path(argument) for argument in sys.argv[sys.argv.index("--") + 1:])
sys.path[:0] = [str(Path(__file__).parent), str(sources / "integrations/blender")]
os.environ["LOPE"] = str(program)
from checks import failures, same  # noqa: E402
import lope  # noqa: E402

shutil.rmtree(results, ignore_errors=True)
lope.register()
began = time.monotonic()


def ball(frames):
    """A ball of jelly that falls, in a scene of its own."""
    for obj in list(bpy.data.objects):
        bpy.data.objects.remove(obj)
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, frames
    mesh = bpy.data.meshes.new("ball")
    made = bmesh.new()
    bmesh.ops.create_icosphere(made, subdivisions=2, radius=0.2)
    made.to_mesh(mesh)
    made.free()
    obj = bpy.data.objects.new("ball", mesh)
    scene.collection.objects.link(obj)
    obj.location.z = 1
    obj.select_set(True)
    obj.lope.edge = 0.1
    scene.lope.directory = str(results / str(frames))


def result():
    return next((obj for obj in bpy.context.scene.objects if obj.get("lope_run")), None)


def start():
    window = bpy.context.window_manager.windows[0]
    with bpy.context.temp_override(window=window):
        same("started", bpy.ops.lope.bake("INVOKE_DEFAULT"), {"RUNNING_MODAL"})


def wait_for(condition, what):
    while not condition():
        if time.monotonic() - began > 800:
            raise TimeoutError(what)
        yield 0.2


def steps():
    """What happens, one after another; each number is a time to wait."""
    yield 1.0
    ball(6)
    start()
    same("Blender goes on meanwhile", result(), None)
    yield from wait_for(result, "a result")
    same("the source is hidden", bpy.data.objects["ball"].hide_get(), True)
    bpy.context.scene.frame_set(1)
    high = max(v.co.z for v in result().data.vertices)
    bpy.context.scene.frame_set(6)
    same("it falls", max(v.co.z for v in result().data.vertices) < high - 0.05, True)
    ball(2000)
    start()
    run = results / "2000" / "runs"
    yield from wait_for(lambda: len(list(run.glob("*/frames/frame_*"))) > 5, "frames")
    window = bpy.context.window_manager.windows[0]
    window.event_simulate(type="ESC", value="PRESS", x=100, y=100)
    window.event_simulate(type="ESC", value="RELEASE", x=100, y=100)
    yield from wait_for(result, "what was done before Esc")
    frames = len(list(run.glob("*/frames/frame_*")))
    yield 1.0
    same("it has stopped", len(list(run.glob("*/frames/frame_*"))), frames)


going = steps()


def tick():
    try:
        return next(going)
    except StopIteration:
        pass
    except Exception:  # whatever it is, Blender must end
        traceback.print_exc()
        failures.append("an exception")
    for failure in failures:
        print("FAILED:", failure)
    print(f"Baking in a window, Blender {bpy.app.version_string}: {len(failures)} differences", flush=True)
    os._exit(1 if failures else 0)


bpy.app.timers.register(tick, first_interval=1.0)
