"""The add-on in Blender without a window: runs come as objects that follow the frame slider, objects go out as scenes that are computed,
and what cannot be done is said.

    blender --background --factory-startup --python blender_addon.py -- RUNS SOURCES LOPE RESULTS
"""

import math
import shutil
import sys
import time
import tomllib
from pathlib import Path

import bmesh
import bpy
import numpy

runs, sources, program, results = (Path(argument) for argument in sys.argv[sys.argv.index("--") + 1:])
sys.path[:0] = [str(Path(__file__).parent), str(sources / "integrations/blender")]
from checks import bounds, expected, failures, finish, near, same, z_up  # noqa: E402

checked = 0
shutil.rmtree(results, ignore_errors=True)
results.mkdir(parents=True)


def empty():
    bpy.ops.wm.read_factory_settings(use_empty=True)
    import lope
    if not hasattr(bpy.types.Scene, "lope"):
        lope.register()


def fresh():
    empty()
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end, scene.render.fps = 1, 6, 24
    return scene


def coordinates(mesh):
    x = numpy.empty(3 * len(mesh.vertices), numpy.float32)
    mesh.vertices.foreach_get("co", x)
    return x.reshape(-1, 3)


def vectors(mesh, name):
    attribute = mesh.attributes[name]
    values = numpy.empty(3 * len(attribute.data), numpy.float32)
    attribute.data.foreach_get("vector", values)
    return values.reshape(-1, 3)


def check_import():
    """Counts, bounds, velocities and colours at two frames of the slider."""
    global checked
    for run, data in expected(runs).items():
        empty()
        same(f"{run}: import", bpy.ops.import_scene.lope(filepath=str(runs / run / "scene.toml"), start=10, all_points=True), {"FINISHED"})
        scene = bpy.context.scene
        same(f"{run}: first frame", scene.frame_start, 10)
        same(f"{run}: last frame", scene.frame_end, 10 + data["numbers"][-1])
        near(f"{run}: rate", scene.render.fps / scene.render.fps_base, data["rate"], 1e-6)
        for number, frame in reversed(data["frames"].items()):
            scene.frame_set(10 + int(number))
            for name, thing in frame["things"].items():
                for part in ("surface", "points"):
                    if part not in thing:
                        continue
                    checked += 1
                    where, wanted = f"{run} {number} {name} {part}", thing[part]
                    both = "surface" in thing and "points" in thing
                    mesh = bpy.data.objects[name + " points" if both and part == "points" else name].data
                    x = coordinates(mesh)
                    same(f"{where}: vertices", len(x), wanted["count"])
                    same(f"{where}: triangles", len(mesh.polygons), wanted.get("triangles", 0))
                    bounds(where, (x.min(axis=0), x.max(axis=0)), wanted, z_up)
                    if "velocity" in wanted["fields"]:
                        v = vectors(mesh, "velocity")
                        bounds(f"{where}: velocity", (v.min(axis=0), v.max(axis=0)), wanted["fields"]["velocity"], z_up)
                    if wanted.get("texture"):
                        uv = numpy.array([corner.uv for corner in mesh.uv_layers[0].data])
                        bounds(f"{where}: UV", (uv.min(axis=0), uv.max(axis=0)), wanted["texture"])
                    color = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in thing["color"]]
                    material = mesh.materials[0]
                    near(f"{where}: colour", material.diffuse_color[:3], color, 1e-5)
                    if part == "surface":  # water and glass are seen through
                        same(f"{where}: clear", material.blend_method == "BLEND", thing["material"] in ("water", "glass"))
                    if part == "surface" and not thing["material"]:
                        shader = material.node_tree.nodes["Principled BSDF"]
                        near(f"{where}: colour", shader.inputs["Base Color"].default_value[:3], color, 1e-5)


def check_saved():
    """A file that is opened again shows its frame, and follows the slider."""
    empty()
    bpy.ops.import_scene.lope(filepath=str(runs / "mixed"))
    bpy.context.scene.frame_set(5)
    before = coordinates(bpy.data.objects["sheet"].data)
    bpy.ops.wm.save_as_mainfile(filepath=str(results / "saved.blend"))
    empty()
    bpy.ops.wm.open_mainfile(filepath=str(results / "saved.blend"))
    same("saved file", numpy.array_equal(coordinates(bpy.data.objects["sheet"].data), before), True)
    bpy.context.scene.frame_set(2)
    same("saved file, another frame", numpy.array_equal(coordinates(bpy.data.objects["sheet"].data), before), False)


def refused(what, operator, words, **arguments):
    try:
        operator(**arguments)
        failures.append(f"{what}: not refused")
    except RuntimeError as problem:
        if words not in str(problem):
            failures.append(f"{what}: '{problem}' does not say '{words}'")


def check_damaged():
    """Pieces of a frame, and bytes changed at random, are refused by the reader with the name of the file."""
    from lope.frames import Frame, FrameError
    bytes_of = (runs / "mixed/frames/frame_000001.lope").read_bytes()
    damaged = results / "damaged.lope"
    random = numpy.random.default_rng(1)
    refusals = 0
    for k in range(200):
        changed = bytearray(bytes_of)
        if k % 2:
            del changed[int(random.integers(len(changed))):]
        else:
            for place in random.integers(0, 1200, 3):
                changed[place] = int(random.integers(256))
        damaged.write_bytes(changed)
        try:
            Frame(damaged)
        except FrameError as problem:
            refusals += 1
            same("damaged frame: its name", str(damaged) in str(problem), True)
    same("damaged frames: most are refused", refusals > 120, True)
    empty()
    refused("no run", bpy.ops.import_scene.lope, "is not of a run", filepath=str(results))


def sheet_mesh(cells, size):
    mesh = bpy.data.meshes.new("sheet")
    made = bmesh.new()
    bmesh.ops.create_grid(made, x_segments=cells, y_segments=cells, size=size / 2)
    made.to_mesh(mesh)
    made.free()
    return mesh


def add(name, mesh, location=(0, 0, 0), **settings):
    obj = bpy.data.objects.new(name, mesh)
    bpy.context.scene.collection.objects.link(obj)
    obj.location = location
    for key, value in settings.items():
        setattr(obj.lope, key, value)
    obj.select_set(True)
    return obj


def solid_mesh(make, **arguments):
    mesh = bpy.data.meshes.new("solid")
    made = bmesh.new()
    make(made, **arguments)
    made.to_mesh(mesh)
    made.free()
    return mesh


def pin(obj, chosen):
    obj.vertex_groups.new(name="held").add(chosen, 1.0, "REPLACE")
    obj.lope.pins = "held"


def check_bake():
    """A curtain on a bar that moves, a bar of jelly with one end held, a block that turns and rises, and a ground."""
    global checked
    scene = fresh()
    curtain = add("curtain", sheet_mesh(5, 0.8), (0, 0, 1.5), kind="CLOTH", material="cotton")
    curtain.rotation_euler = (math.pi / 2, 0, 0)
    top = [v.index for v in curtain.data.vertices if v.co.y > 0.399]
    pin(curtain, top)
    for frame, x in ((1, 0.0), (6, 0.25)):
        curtain.location.x = x
        curtain.keyframe_insert("location", frame=frame)
    jelly = add("jelly", solid_mesh(bmesh.ops.create_cube, size=0.3), (2, 0, 0.8), material="jelly", edge=0.1)
    pin(jelly, [v.index for v in jelly.data.vertices if v.co.x < 0])
    block = add("block", solid_mesh(bmesh.ops.create_cube, size=0.2), (-2, 0, 0.3), kind="OBSTACLE")
    for frame, z, angle in ((1, 0.3, 0.0), (6, 0.5, 1.0)):
        block.location.z, block.rotation_euler[1] = z, angle
        block.keyframe_insert("location", frame=frame)
        block.keyframe_insert("rotation_euler", frame=frame)
    add("ground", sheet_mesh(1, 8), kind="OBSTACLE", friction=0.5)
    scene.lope.directory = str(results / "bake")
    bpy.ops.wm.save_as_mainfile(filepath=str(results / "own.blend"))
    where_held = {}
    for frame in (1, 6):
        scene.frame_set(frame)
        where_held[frame] = numpy.array([curtain.matrix_world @ curtain.data.vertices[i].co for i in top])
    scene.frame_set(4)
    curtain_slides = numpy.ptp([where_held[1][:, 0], where_held[6][:, 0]], axis=0)
    near("the curtain's animation", curtain_slides, [0.25] * len(top))

    same("bake", bpy.ops.lope.bake(), {"FINISHED"})
    same("the frame stays", scene.frame_current, 4)
    written = tomllib.loads((results / "bake/own.toml").read_text())
    bodies, obstacles = ({item["name"]: item for item in written[key]} for key in ("body", "obstacle"))
    same("bodies", sorted(bodies), ["curtain", "jelly"])
    same("kinds", [bodies[name]["kind"] for name in sorted(bodies)], ["cloth", "solid"])
    same("ground", obstacles["ground"]["shape"]["half_space"]["normal"], [0, 1, 0])
    same("duration", (written["time"]["duration"], written["time"]["frame_rate"]), (5 / 24, 24))
    near("gravity", written["gravity"], [0, -9.81, 0], 1e-6)
    script = obstacles["block"]["script"]
    near("the block turns", abs(script["angle"][-1]), 1, 1e-5)
    near("the block rises", script["displacement"][-1], [0, 0.2, 0], 1e-5)
    near("about its middle", script["center"], [-2, 0.3, 0], 1e-5)
    same("pins of the cloth", bodies["curtain"]["handle"][0]["where"]["vertices"], sorted(top))

    results_of = {obj["lope_name"]: obj for obj in scene.objects if obj.get("lope_run")}
    same("what came back", sorted(results_of), ["block", "curtain", "jelly"])
    for frame, held in where_held.items():
        scene.frame_set(frame)
        x = coordinates(results_of["curtain"].data)
        away = max(numpy.linalg.norm(x - place, axis=1).min() for place in held)
        same(f"frame {frame}: the pins follow the curtain ({away:.1e} m)", bool(away < 1e-4), True)
        block_now = numpy.array([block.matrix_world @ v.co for v in block.data.vertices])
        b = coordinates(results_of["block"].data)
        bounds(f"frame {frame}: the block", (b.min(axis=0), b.max(axis=0)),
               {"min": block_now.min(axis=0).tolist(), "max": block_now.max(axis=0).tolist()}, tolerance=1e-4)
        checked += 2
    jelly_now = coordinates(results_of["jelly"].data)
    near("the jelly is held", jelly_now[:, 0].min(), 1.85, 1e-3)
    same("the jelly sags", bool(jelly_now[:, 2].min() < 0.649), True)
    same("the sources are hidden", (curtain.hide_get(), curtain.hide_render), (True, True))
    # A second bake replaces the first.
    for obj in scene.objects:
        obj.select_set(False)
    jelly.hide_set(False)
    jelly.select_set(True)
    same("bake again", bpy.ops.lope.bake(), {"FINISHED"})
    same("no second results", sum(1 for obj in scene.objects if obj.get("lope_name") == "jelly"), 1)


def check_export():
    """The scene file alone, of a liquid in a tank; the program finds nothing wrong with it."""
    fresh().lope.resolution = 12
    add("water", solid_mesh(bmesh.ops.create_cube, size=0.5), (0, 0, 0.25), kind="LIQUID")
    add("tank", solid_mesh(bmesh.ops.create_cube, size=1.0), (0, 0, 0.5), kind="OBSTACLE", container=True)
    add("snow", solid_mesh(bmesh.ops.create_icosphere, subdivisions=3, radius=0.1), (0, 0, 0.8), kind="MPM", material="snow",
        velocity=(0, 1, -2))
    bpy.data.objects["snow"].select_set(False)
    path = results / "liquid" / "tank.toml"
    path.parent.mkdir()
    same("export", bpy.ops.export_scene.lope(filepath=str(path)), {"FINISHED"})
    import subprocess
    done = subprocess.run([str(program), "check", str(path)], capture_output=True, text=True, check=False)
    same(f"lope check: {done.stdout[-300:]}{done.stderr[-300:]}", done.returncode, 0)
    for obj in bpy.data.objects:
        obj.select_set(obj.name == "snow")
    same("export of snow", bpy.ops.export_scene.lope(filepath=str(path.with_name("snow.toml"))), {"FINISHED"})
    done = subprocess.run([str(program), "check", str(path.with_name("snow.toml"))], capture_output=True, text=True, check=False)
    same(f"lope check: {done.stdout[-300:]}{done.stderr[-300:]}", done.returncode, 0)
    body = tomllib.loads(path.with_name("snow.toml").read_text())["body"][0]
    near("velocity", body["velocity"], [0, -2, -1])


def check_refusals():
    scene = fresh()
    target = str(results / "refused.toml")
    refused("nothing selected", bpy.ops.export_scene.lope, "select the meshes", filepath=target)
    add("open", sheet_mesh(2, 1), kind="SOLID")
    refused("an open solid", bpy.ops.export_scene.lope, "'open' is not closed", filepath=target)
    scene = fresh()
    turner = add("turner", solid_mesh(bmesh.ops.create_cube, size=1), kind="OBSTACLE")
    for frame, turn in ((1, (0, 0, 0)), (3, (1, 0, 0)), (6, (1, 1, 0))):
        turner.rotation_euler = turn
        turner.keyframe_insert("rotation_euler", frame=frame)
    refused("two axes", bpy.ops.export_scene.lope, "turns about an axis that changes", filepath=target)
    for name in [obj.name for obj in scene.objects]:
        bpy.data.objects.remove(bpy.data.objects[name])
    add("cloth", sheet_mesh(4, 1), kind="CLOTH", pins="nothing")
    refused("no such group", bpy.ops.export_scene.lope, "no vertex group 'nothing'", filepath=target)
    bpy.data.objects["cloth"].lope.pins = ""
    bpy.data.objects["cloth"].lope.material = "granite"
    scene.lope.directory = str(results / "granite")
    refused("an unknown material", bpy.ops.lope.bake, "granite")
    same("no file of what was refused", Path(target).exists(), False)


def check_cancel():
    """A run that would take long is stopped: what is done stays, and can be shown."""
    import lope.bake
    fresh()
    long = results / "long"
    long.mkdir()
    (long / "long.toml").write_text((runs / "mixed.toml").read_text().replace('"0.25 s"', '"2000 s"'))
    bake = lope.bake.Bake(str(program), long / "long.toml", long / "run")
    deadline = time.monotonic() + 120
    while bake.running() and bake.done < 3 and time.monotonic() < deadline:
        time.sleep(0.05)
    same("progress", bake.running() and bake.done >= 3 and bake.steps == 48000, True)
    bake.cancel()
    same("stopped", bake.running(), False)
    try:
        bake.outcome()
        failures.append("cancel: no word of it")
    except lope.bake.ProgramError:
        pass
    bpy.ops.import_scene.lope(filepath=str(long / "run"))
    same("frames of a run that was stopped", bpy.context.scene.frame_end >= 3, True)
    try:
        lope.bake.find_program("/no/such/lope")
        same("$LOPE", True, True)
    except lope.bake.ProgramError as problem:
        failures.append(str(problem))


import os  # noqa: E402
os.environ["LOPE"] = str(program)
for check in (check_import, check_saved, check_damaged, check_bake, check_export, check_refusals, check_cancel):
    began = time.monotonic(), time.process_time()
    check()
    print(f"{check.__name__}: {time.monotonic() - began[0]:.1f} s, {time.process_time() - began[1]:.1f} s of Blender", flush=True)
finish("The add-on in Blender " + bpy.app.version_string, checked)
