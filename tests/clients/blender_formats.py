"""Exports opened in Blender: OBJ, PLY, point caches on their meshes, glTF, OpenVDB.

    blender --background --factory-startup --python blender_formats.py -- FOLDER SOURCES
"""

import sys
from pathlib import Path

import bpy
import numpy

numpy.bool = bool  # Blender 3.4's glTF importer asks for a name that Debian's NumPy no longer has
folder = Path(sys.argv[sys.argv.index("--") + 1])
sys.path.insert(0, str(Path(__file__).parent))
from checks import bounds, expected, failures, finish, near, same, z_up  # noqa: E402

checked = 0
as_written = lambda low, high: (low, high)


def empty():
    bpy.ops.wm.read_factory_settings(use_empty=True)


def positions(obj):
    """Vertices in the world, as modifiers and shape keys leave them."""
    made = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
    mesh = made.to_mesh()
    x = numpy.empty(3 * len(mesh.vertices))
    mesh.vertices.foreach_get("co", x)
    made.to_mesh_clear()
    world = numpy.array(made.matrix_world)
    return x.reshape(-1, 3) @ world[:3, :3].T + world[:3, 3]


def check(where, obj, thing, turn):
    global checked
    checked += 1
    x = positions(obj)
    same(f"{where}: vertices", len(x), thing["count"])
    if len(x):
        bounds(where, (x.min(axis=0), x.max(axis=0)), thing, turn)
    if "triangles" in thing:
        same(f"{where}: triangles", len(obj.data.polygons), thing["triangles"])


def shown(thing):
    """What formats of surfaces hold of a thing: its surface, else its points."""
    return thing.get("surface") or thing["points"]


def check_obj(run, number, things):
    empty()
    bpy.ops.wm.obj_import(filepath=str(folder / run / "obj" / f"{run}_{int(number):06d}.obj"))
    same(f"{run} obj {number}: objects", sorted(o.name for o in bpy.data.objects), sorted(things))
    for name, thing in things.items():
        obj = bpy.data.objects[name]
        check(f"{run} obj {number} {name}", obj, shown(thing), z_up)
        texture = thing.get("surface", {}).get("texture")
        if texture:
            uv = numpy.empty(2 * len(obj.data.loops), numpy.float32)
            obj.data.uv_layers[0].data.foreach_get("uv", uv)
            uv = uv.reshape(-1, 2)
            bounds(f"{run} obj {number} {name}: UV", (uv.min(axis=0), uv.max(axis=0)), texture)


def check_ply(run, number, things, kind, turn):
    for name, thing in things.items():
        empty()
        bpy.ops.import_mesh.ply(filepath=str(folder / run / kind / f"{run}_{name}_{int(number):06d}.ply"))
        check(f"{run} {kind} {number} {name}", bpy.context.object, shown(thing), turn)


def check_caches(run, frames):
    """The mesh of the cache with Blender's modifier, at the frames of the scene."""
    for kind in ("pc2", "mdd"):
        for name, thing in next(iter(frames.values()))["things"].items():
            empty()
            base = folder / run / kind / f"{run}_{name}.obj"
            bpy.ops.wm.obj_import(filepath=str(base), forward_axis="Y", up_axis="Z")
            obj = bpy.context.selected_objects[0]
            cache = obj.modifiers.new("cache", "MESH_CACHE")
            cache.cache_format, cache.filepath = kind.upper(), str(base.with_suffix("." + kind))
            cache.frame_start = 0
            bpy.context.scene.render.fps = 24
            for number, frame in frames.items():
                bpy.context.scene.frame_set(int(number))
                check(f"{run} {kind} {number} {name}", obj, frame["things"][name]["surface"], as_written)


def check_gltf(run, data):
    """Shape keys and scales, played at the times of frames."""
    empty()
    rate = data["rate"]
    bpy.context.scene.render.fps = round(rate)
    bpy.ops.import_scene.gltf(filepath=str(folder / run / "gltf" / f"{run}.glb"))
    global checked
    for number, frame in data["frames"].items():
        # Blender plays what was imported from frame 0 of the scene on.
        bpy.context.scene.frame_set(round((frame["time"] - next(iter(data["frames"].values()))["time"]) * rate))
        for name, thing in frame["things"].items():
            node = bpy.data.objects[name]
            parts = [node] if node.type == "MESH" else [o for o in node.children if max(o.scale) > 0.5]
            where = f"{run} gltf {number} {name}"
            same(f"{where}: meshes that are shown", len(parts), 1)
            if len(parts) != 1:
                continue
            checked += 1
            x, wanted = positions(parts[0]), shown(thing)
            bounds(where, (x.min(axis=0), x.max(axis=0)), wanted, z_up, 1e-5)
            if not wanted.get("texture"):  # seams split vertices
                same(f"{where}: vertices", len(x), wanted["count"])
            same(f"{where}: triangles", len(parts[0].data.polygons), wanted.get("triangles", 0))
            color = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in thing["color"]]
            shader = parts[0].active_material.node_tree.nodes["Principled BSDF"]
            near(f"{where}: colour", shader.inputs["Base Color"].default_value[:3], color, 1e-5)


def check_vdb(run, frames):
    global checked
    for number, frame in frames.items():
        for name, thing in frame["things"].items():
            path = folder / run / "vdb" / f"{run}_{name}_{int(number):06d}.vdb"
            if not path.exists():
                continue
            empty()
            checked += 1
            volume = bpy.data.volumes.new(name)
            volume.filepath = str(path)
            volume.grids.load()
            obj = bpy.data.objects.new(name, volume)
            bpy.context.scene.collection.objects.link(obj)
            names = sorted(grid.name for grid in volume.grids)
            for wanted in ("surface", "velocity", "pressure"):
                same(f"{run} vdb {number}: grid {wanted}", wanted in names, True)
            kinds = {grid.name: grid.data_type for grid in volume.grids}
            same(f"{run} vdb {number}: velocity", kinds.get("velocity"), "VECTOR_FLOAT")
            # Where its distance is 0 lies the surface: to a voxel.
            made = bpy.data.objects.new("made", bpy.data.meshes.new("made"))
            bpy.context.scene.collection.objects.link(made)
            modifier = made.modifiers.new("surface", "VOLUME_TO_MESH")
            modifier.object, modifier.grid_name, modifier.threshold = obj, "surface", 0.0
            x = positions(made)
            if len(x) == 0:
                failures.append(f"{run} vdb {number}: no surface")
                continue
            voxel = volume.grids["surface"].matrix_object[0][0]
            for what, found, wanted in (("lowest", x.min(axis=0), thing["surface"]["min"]),
                                        ("highest", x.max(axis=0), thing["surface"]["max"])):
                away = float(abs(found - wanted).max())
                same(f"{run} vdb {number}: {what} corner of the surface is {away:.4f} m away", away < voxel, True)


for run, data in expected(folder).items():
    for number, frame in data["frames"].items():
        check_obj(run, number, frame["things"])
        check_ply(run, number, frame["things"], "ply", as_written)
    check_gltf(run, data)
    if run == "mixed":
        check_caches(run, data["frames"])
        for number, frame in data["frames"].items():
            check_ply(run, number, frame["things"], "ply_z", z_up)
    if run == "water":
        check_vdb(run, data["frames"])
finish("Blender " + bpy.app.version_string, checked)
