"""Objects that show a run: made once, filled again whenever the frame of the scene changes.

Lope's y is up, Blender's z: (x, y, z) there is (x, -z, y) here. Metres are metres.
"""

import math
from pathlib import Path

import bpy
import numpy
from bpy.app.handlers import persistent

from .frames import FrameError, Run

CREASE = math.radians(40)  # edges sharper than this look sharp
GROUND = 20  # times the extent of the run
CLEAR, HINT = ("water", "glass"), 0.15
_runs = {}  # by directory


def turned(vectors):
    """From Lope's axes to Blender's."""
    return numpy.stack((vectors[:, 0], -vectors[:, 2], vectors[:, 1]), axis=1)


def opened(directory):
    key = str(directory)
    if key not in _runs:
        _runs[key] = Run(directory)
    return _runs[key]


def forget():
    """Runs are opened anew: after one was computed again."""
    _runs.clear()


# Geometry -------------------------------------------------------------------------------------------------------------------------

def set_triangles(mesh, count, triangles):
    mesh.clear_geometry()
    mesh.vertices.add(count)
    mesh.loops.add(3 * len(triangles))
    mesh.polygons.add(len(triangles))
    if len(triangles) == 0:
        return
    mesh.loops.foreach_set("vertex_index", triangles.ravel())
    mesh.polygons.foreach_set("loop_start", numpy.arange(0, 3 * len(triangles), 3, dtype=numpy.int32))
    if bpy.app.version < (3, 6, 0):  # later it follows from the starts
        mesh.polygons.foreach_set("loop_total", numpy.full(len(triangles), 3, numpy.int32))
    mesh.polygons.foreach_set("use_smooth", numpy.ones(len(triangles), bool))


def same_triangles(mesh, count, triangles):
    if len(mesh.vertices) != count or len(mesh.polygons) != len(triangles):
        return False
    present = numpy.empty(3 * len(triangles), numpy.int32)
    mesh.loops.foreach_get("vertex_index", present)
    return numpy.array_equal(present, triangles.ravel())


def set_attribute(mesh, name, values):
    """A number, a vector or a colour per vertex."""
    kind, key = ("FLOAT", "value") if values.ndim == 1 else ("FLOAT_VECTOR", "vector")
    if values.ndim == 2 and values.shape[1] == 4:
        kind, key = "FLOAT_COLOR", "color"
    attribute = mesh.attributes.get(name)
    if attribute and (attribute.data_type != kind or attribute.domain != "POINT"):
        mesh.attributes.remove(attribute)
        attribute = None
    attribute = attribute or mesh.attributes.new(name, kind, "POINT")
    attribute.data.foreach_set(key, numpy.ascontiguousarray(values, numpy.float32).ravel())


def set_fields(mesh, fields, which):
    for name, values in fields.items():
        values = values[which]
        if values.ndim == 2 and values.shape[1] != 3:
            continue
        set_attribute(mesh, name, turned(values) if values.ndim == 2 else values.astype(numpy.float32))


def show_surface(mesh, thing):
    used, triangles = thing.surface()
    if not same_triangles(mesh, len(used), triangles):
        set_triangles(mesh, len(used), triangles)
        if len(thing.texture) == 3 * len(triangles) and len(triangles):
            mesh.uv_layers.new(name="UVMap").data.foreach_set("uv", thing.texture.astype(numpy.float32).ravel())
    mesh.vertices.foreach_set("co", turned(thing.positions[used]).astype(numpy.float32).ravel())
    set_fields(mesh, thing.fields, used)
    mesh.update(calc_edges=True)


def show_points(mesh, thing, all_points):
    which = numpy.arange(len(thing.points)) if all_points else thing.loose_points()
    if len(mesh.vertices) != len(which):
        set_triangles(mesh, len(which), numpy.empty((0, 3), numpy.int32))
    mesh.vertices.foreach_set("co", turned(thing.points[which]).astype(numpy.float32).ravel())
    set_fields(mesh, thing.point_fields, which)
    part = thing.point_fields.get("part")
    if part is not None and len(thing.palette):
        colors = numpy.ones((len(which), 4), numpy.float32)
        colors[:, :3] = linear(thing.palette[numpy.clip(part[which].astype(int), 0, len(thing.palette) - 1)])
        set_attribute(mesh, "color", colors)
    mesh.update()


# Looks ----------------------------------------------------------------------------------------------------------------------------

def linear(color):
    color = numpy.asarray(color, float)
    return numpy.where(color <= 0.04045, color / 12.92, ((color + 0.055) / 1.055) ** 2.4)


def make_clear(material, shader, kind, color):
    """Water refracts, and has a hint of its colour; thin glass lets most light through as it is."""
    material.diffuse_color = (*color[:3], 0.35)
    material.blend_method = "BLEND"
    shader.inputs["Roughness"].default_value = 0.0
    if kind == "glass":
        shader.inputs["Alpha"].default_value = 0.12
        return
    shader.inputs["Base Color"].default_value = (*(1 - HINT * (1 - c) for c in color[:3]), 1.0)
    shader.inputs["IOR"].default_value = 1.33
    shader.inputs["Transmission" if "Transmission" in shader.inputs else "Transmission Weight"].default_value = 1.0


def make_material(thing, by_points):
    material = bpy.data.materials.new(thing.name)
    color = (*linear(thing.color.ravel()), 1.0)
    material.diffuse_color = color
    material.use_nodes = True
    shader = next(node for node in material.node_tree.nodes if node.type == "BSDF_PRINCIPLED")
    shader.inputs["Base Color"].default_value = color
    shader.inputs["Roughness"].default_value = 0.6
    if thing.material in CLEAR and not by_points:
        make_clear(material, shader, thing.material, color)
    if by_points and len(thing.palette):
        own = material.node_tree.nodes.new("ShaderNodeAttribute")
        own.attribute_name = "color"
        material.node_tree.links.new(own.outputs["Color"], shader.inputs["Base Color"])
    return material


def add_balls(obj, material, radius):
    """Points become balls by geometry nodes: small spheres, so that every engine and the viewport draw them."""
    group = bpy.data.node_groups.new("Lope points", "GeometryNodeTree")
    if hasattr(group, "interface"):
        group.interface.new_socket("Geometry", in_out="INPUT", socket_type="NodeSocketGeometry")
        group.interface.new_socket("Geometry", in_out="OUTPUT", socket_type="NodeSocketGeometry")
    else:
        group.inputs.new("NodeSocketGeometry", "Geometry")
        group.outputs.new("NodeSocketGeometry", "Geometry")
    new, link = group.nodes.new, group.links.new
    source, ball, copies = new("NodeGroupInput"), new("GeometryNodeMeshIcoSphere"), new("GeometryNodeInstanceOnPoints")
    smooth, paint, target = new("GeometryNodeSetShadeSmooth"), new("GeometryNodeSetMaterial"), new("NodeGroupOutput")
    ball.inputs["Radius"].default_value = radius
    ball.inputs["Subdivisions"].default_value = 2
    paint.inputs["Material"].default_value = material
    link(source.outputs[0], copies.inputs["Points"])
    link(ball.outputs["Mesh"], smooth.inputs["Geometry"])
    link(smooth.outputs["Geometry"], paint.inputs["Geometry"])
    link(paint.outputs["Geometry"], copies.inputs["Instance"])
    link(copies.outputs["Instances"], target.inputs[0])
    for k, node in enumerate((source, ball, smooth, paint, copies, target)):
        node.location = (200 * k, 0)
    obj.modifiers.new("Lope points", "NODES").node_group = group


# Objects --------------------------------------------------------------------------------------------------------------------------

def make_object(collection, name, thing, part, directory, start):
    mesh = bpy.data.meshes.new(name)
    obj = bpy.data.objects.new(name, mesh)
    collection.objects.link(obj)
    obj["lope_run"], obj["lope_name"], obj["lope_part"], obj["lope_start"] = str(directory), thing.name, part, start
    material = make_material(thing, part != "surface")
    mesh.materials.append(material)
    if part != "surface":
        add_balls(obj, material, thing.radius or 0.01)
    elif hasattr(mesh, "use_auto_smooth"):
        mesh.use_auto_smooth, mesh.auto_smooth_angle = True, CREASE
    if part == "surface" and thing.cut:  # walls that hide what is inside
        obj.display_type, obj.hide_render = "WIRE", True
    return obj


def bring(context, directory, start=1, all_points=False, ground=True, timeline=True):
    """Makes the objects of a run in a collection of its own, shows the scene's frame, and returns the collection."""
    run = opened(directory)
    run.look_again()
    if not run.numbers:
        raise FrameError(f"{directory}: there is no frame yet")
    collection = bpy.data.collections.new(Path(directory).resolve().name)
    collection["lope_run"] = str(directory)
    context.scene.collection.children.link(collection)
    # What is empty at first may come later: a place for a surface and one for points wherever either may be.
    for thing in run.read(run.numbers[-1]):
        points = all_points or len(thing.loose_points()) > 0 or (thing.radius > 0 and len(thing.triangles) == 0)
        surface = len(thing.triangles) > 0 or not points
        if surface:
            make_object(collection, thing.name, thing, "surface", directory, start)
        if points:
            name = thing.name + " points" if surface else thing.name
            obj = make_object(collection, name, thing, "points", directory, start)
            obj["lope_all_points"] = all_points
    scene = context.scene
    if timeline:
        scene.frame_start, scene.frame_end = start + run.numbers[0], start + run.numbers[-1]
        rate = run.rate()
        if rate:
            scene.render.fps = max(1, round(rate))
            scene.render.fps_base = scene.render.fps / rate
    if ground and "ground" in run.topology.words:
        add_ground(collection, float(run.topology.words["ground"]), run)
    if timeline:
        scene.frame_set(scene.frame_start)
    show(scene)
    return collection


def add_ground(collection, height, run):
    extent = max((float(numpy.ptp(x, axis=0).max()) for thing in run.read(run.numbers[0]) if not thing.backdrop
                  for x in (thing.positions, thing.points) if len(x)), default=1.0)
    half = 0.5 * GROUND * extent
    mesh = bpy.data.meshes.new("ground")
    mesh.from_pydata([(-half, -half, height), (half, -half, height), (half, half, height), (-half, half, height)], [],
                     [(0, 1, 2, 3)])
    collection.objects.link(bpy.data.objects.new("ground", mesh))


def nearest_number(numbers, wanted):
    """The last frame that is there at that time; the first one before it."""
    return max((number for number in numbers if number <= wanted), default=numbers[0])


@persistent
def show(scene, _depsgraph=None):
    """Fills all objects of runs with what they are in the frame of the scene."""
    shown = {}
    for obj in scene.objects:
        directory = obj.get("lope_run")
        if not directory or obj.type != "MESH":
            continue
        try:
            run = opened(bpy.path.abspath(directory))
            wanted = scene.frame_current - obj["lope_start"]
            if wanted not in run.numbers:
                run.look_again()
            number = nearest_number(run.numbers, wanted)
            key = (directory, number)
            if key not in shown:
                shown[key] = {thing.name: thing for thing in run.read(number)}
            thing = shown[key].get(obj["lope_name"])
            if thing is None:
                continue
            if obj["lope_part"] == "surface":
                show_surface(obj.data, thing)
            else:
                show_points(obj.data, thing, obj.get("lope_all_points", False))
        except (OSError, IndexError, FrameError) as problem:
            print(f"Lope: {obj.name}: {problem}")


@persistent
def after_load(*_):
    forget()
    show(bpy.context.scene)


def register():
    bpy.app.handlers.frame_change_pre.append(show)
    bpy.app.handlers.load_post.append(after_load)


def unregister():
    for handlers, ours in ((bpy.app.handlers.frame_change_pre, show), (bpy.app.handlers.load_post, after_load)):
        if ours in handlers:
            handlers.remove(ours)
    forget()
