"""A scene of Lope from objects of Blender: their meshes as files beside it, pins from vertex groups, obstacles with their animation.

Blender's z is up, Lope's y: (x, y, z) here is (x, z, -y) there.
"""

import math
import re
from pathlib import Path

import bmesh
import bpy
import numpy
from mathutils import Matrix

STILL = 1e-6  # metres and radians: less is no motion
PINNED = 0.5  # weight in a vertex group
TURN = Matrix(((1, 0, 0), (0, 0, 1), (0, -1, 0)))
AXIS_DEVIATION = 1e-3  # radians between axes that count as one


class SceneError(ValueError):
    """What cannot be written, with the object's name."""


# Text of TOML -----------------------------------------------------------------------------------------------------------------------

def quoted(text):
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + re.sub(r"[\x00-\x1f\x7f]", lambda c: f"\\u{ord(c[0]):04x}", escaped) + '"'


def toml(value):
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {toml(item)}" for key, item in value.items()) + " }"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(toml(item) for item in value) + "]"
    if isinstance(value, int):
        return str(value)
    return repr(float(value))


def single(value):
    """A number of single precision as it was typed."""
    return float(f"{value:.7g}")


def table(head, values):
    return head + "\n" + "".join(f"{key} = {toml(value)}\n" for key, value in values.items()) + "\n"


# Geometry ---------------------------------------------------------------------------------------------------------------------------

def file_name(name):
    return re.sub(r"[^\w.-]", "_", name)


class Shape:
    """Vertices in Lope's axes and in the world, triangles, and which vertices are pinned."""

    def __init__(self, context, obj, group=""):
        """Modifiers apply, but for those that make vertices other than those of the group where there is one."""
        mesh = obj.evaluated_get(context.evaluated_depsgraph_get()).to_mesh()
        made = bmesh.new()
        made.from_mesh(mesh)
        made.transform(obj.matrix_world)
        if obj.matrix_world.determinant() < 0:
            bmesh.ops.reverse_faces(made, faces=made.faces)
        bmesh.ops.triangulate(made, faces=made.faces)
        made.normal_update()
        made.verts.index_update()
        self.vertices = numpy.array([(v.co.x, v.co.z, -v.co.y) for v in made.verts]).reshape(-1, 3)
        self.triangles = numpy.array([[v.index for v in f.verts] for f in made.faces], int).reshape(-1, 3)
        self.closed = bool(len(self.triangles)) and all(edge.is_manifold for edge in made.edges)
        self.flat_normal = self._flat(made)
        self.pinned = []
        if group:
            number = obj.vertex_groups[group].index if group in obj.vertex_groups else None
            layer = made.verts.layers.deform.active
            if number is None or layer is None:
                raise SceneError(f"'{obj.name}' has no vertex group '{group}'")
            self.pinned = [v.index for v in made.verts if v[layer].get(number, 0) >= PINNED]
            if not self.pinned:
                raise SceneError(f"'{obj.name}': the vertex group '{group}' has no vertex of weight {PINNED} or more")
        made.free()
        obj.evaluated_get(context.evaluated_depsgraph_get()).to_mesh_clear()
        if len(self.triangles) == 0:
            raise SceneError(f"'{obj.name}' has no faces")

    @staticmethod
    def _flat(made):
        """The normal in Lope's axes of what lies in one plane, or None."""
        normals = [face.normal for face in made.faces]
        point = next(iter(made.verts)).co if normals else None
        size = max((edge.calc_length() for edge in made.edges), default=0)
        if normals and all(abs(normals[0].dot(v.co - point)) < 1e-6 * size for v in made.verts):
            return [normals[0].x, normals[0].z, -normals[0].y]
        return None

    def write_obj(self, path):
        lines = [f"v {x:.9g} {y:.9g} {z:.9g}" for x, y, z in self.vertices]
        lines += [f"f {a + 1} {b + 1} {c + 1}" for a, b, c in self.triangles]
        path.write_text("\n".join(lines) + "\n")

    def extent(self):
        return float(numpy.ptp(self.vertices, axis=0).max())


# Motion -----------------------------------------------------------------------------------------------------------------------------

def script_of(context, obj, first, last, rate):
    """Keyframes of a handle or an obstacle from the object's animation, or None where it stays. Lope turns about one axis."""
    scene, now = context.scene, context.scene.frame_current
    times, places, turns = [], [], []
    try:
        for frame in range(first, last + 1):
            scene.frame_set(frame)
            place, turn, scale = obj.matrix_world.decompose()
            if frame == first:
                first_place, first_turn, first_scale = place.copy(), turn.copy(), scale.copy()
            if (scale - first_scale).length > 1e-5 * first_scale.length:
                raise SceneError(f"'{obj.name}' changes its size, which nothing rigid does")
            times.append((frame - first) / rate)
            places.append(TURN @ (place - first_place))
            turns.append(turn @ first_turn.inverted())
    finally:
        scene.frame_set(now)
    axis, angles = angles_about_one_axis(obj.name, turns)
    moves, rotates = max(place.length for place in places) > STILL, axis is not None
    if not moves and not rotates:
        return None
    script = {"times": times}
    if moves:
        script["displacement"] = [list(place) for place in places]
    if rotates:
        script["angle"], script["axis"] = angles, list(TURN @ axis)
        script["center"] = list(TURN @ first_place)
    return script


def angles_about_one_axis(name, turns):
    axis, angles, last = None, [], 0.0
    for turn in turns:
        own, angle = turn.to_axis_angle()
        if angle > math.pi:
            angle -= 2 * math.pi
        if abs(angle) <= STILL:
            angle = 0.0
        elif axis is None:
            axis = own.copy()
        elif abs(own.angle(axis) if own.dot(axis) > 0 else (-own).angle(axis)) > AXIS_DEVIATION:
            raise SceneError(f"'{name}' turns about an axis that changes; scripts of Lope turn about one. Split the motion, "
                             "or animate one axis")
        elif own.dot(axis) < 0:
            angle = -angle
        angle += 2 * math.pi * round((last - angle) / (2 * math.pi))  # no jumps of a whole turn
        angles.append(angle)
        last = angle
    return axis, angles


# The scene --------------------------------------------------------------------------------------------------------------------------

class Bodies:
    """Collects the tables of the objects, and writes their meshes."""

    def __init__(self, context, folder, first, last, rate, mesh_volume, kinds):
        self.context, self.folder, self.mesh_volume = context, folder, mesh_volume
        self.rubs = bool(set(kinds) & {"solid", "cloth", "mpm"})  # liquids know no friction
        self.span = (first, last, rate)
        self.text, self.kinds, self.names, self.box = "", set(), set(), []

    def unique(self, name):
        """Of the object in the scene; its meshes are files of that name, so the names of files differ, too."""
        wanted, number = name, 2
        while file_name(wanted) in self.names:
            wanted, number = f"{name}-{number}", number + 1
        self.names.add(file_name(wanted))
        return wanted

    def add(self, obj, barriers):
        settings = obj.lope
        kind = kind_of(obj)
        self.kinds.add(kind)
        shape = Shape(self.context, obj, settings.pins if kind in ("solid", "cloth") else "")
        name = self.unique(obj.name)
        self.box.append((shape.vertices.min(axis=0), shape.vertices.max(axis=0)))
        if kind == "obstacle":
            self.add_obstacle(obj, name, shape, barriers)
        else:
            self.add_body(obj, name, kind, shape)

    def save(self, shape, name):
        path = self.folder / (file_name(name) + ".obj")
        shape.write_obj(path)
        return path.name

    def add_body(self, obj, name, kind, shape):
        settings = obj.lope
        if kind != "cloth" and not shape.closed:
            raise SceneError(f"'{obj.name}' is not closed: a {kind} needs a surface that encloses something")
        mesh = self.save(shape, name)
        pinned = shape.pinned
        if kind == "solid" and pinned:
            mesh, pinned = self.filled(shape, mesh, name, settings.edge)
        body = {"name": name, "kind": kind, "shape": {"mesh": mesh}}
        if kind == "solid" and settings.edge > 0 and not shape.pinned:
            body["edge"] = single(settings.edge)
        if kind != "liquid":
            if settings.material:
                body["material"] = settings.material
            body["color"] = hex_color(obj)
        if any(settings.velocity):
            body["velocity"] = [single(v) for v in TURN @ settings.velocity]
        if kind in ("solid", "cloth") and settings.self_contact:
            body["self_contact"] = True
        self.text += table("[[body]]", body)
        if not pinned:
            return
        handle = {"name": settings.pins, "where": {"vertices": [int(i) for i in pinned]}}
        script = script_of(self.context, obj, *self.span)
        handle.update({"script": script} if script else {"pin": True})
        self.text += table("[[body.handle]]", handle)

    def filled(self, shape, mesh, name, edge):
        """Pins of a solid are of the elements' vertices: those on its surface whose nearest corner is pinned."""
        path = self.folder / (file_name(name) + ".mesh")
        vertices, surface = self.mesh_volume(self.folder / mesh, path, single(edge))
        pinned = numpy.zeros(len(shape.vertices), bool)
        pinned[shape.pinned] = True
        chosen = [i for i in surface
                  if pinned[numpy.argmin(((shape.vertices - vertices[i]) ** 2).sum(axis=1))]]
        if not chosen:
            raise SceneError(f"'{name}': no vertex of its elements is near the pinned ones; make `edge` smaller")
        return path.name, chosen

    def add_obstacle(self, obj, name, shape, barriers):
        settings = obj.lope
        obstacle = {"name": name}
        if shape.flat_normal and not settings.container:
            obstacle["shape"] = {"half_space": {"point": list(shape.vertices[0]), "normal": shape.flat_normal}}
        elif shape.closed:
            obstacle["shape"] = {"mesh": self.save(shape, name)}
            if barriers and not settings.container:
                obstacle["contact"] = "barrier"
        else:
            raise SceneError(f"'{obj.name}' is neither closed nor a flat ground: obstacles are one or the other")
        if settings.container:
            obstacle["inside"] = True
        if settings.friction > 0 and self.rubs:
            obstacle["friction"] = single(settings.friction)
        obstacle["color"] = hex_color(obj)
        script = script_of(self.context, obj, *self.span)
        if script:
            obstacle["script"] = script
        self.text += table("[[obstacle]]", obstacle)


def kind_of(obj):
    """What an object is: as its panel says; else an obstacle if it is passive or collides, a solid if it is closed, or cloth."""
    kind = obj.lope.kind
    if kind != "AUTO":
        return kind.lower()
    passive = obj.rigid_body is not None and obj.rigid_body.type == "PASSIVE"
    if passive or any(modifier.type == "COLLISION" for modifier in obj.modifiers):
        return "obstacle"
    mesh = bmesh.new()
    mesh.from_mesh(obj.data)
    closed = bool(mesh.faces) and all(edge.is_manifold for edge in mesh.edges)
    mesh.free()
    return "solid" if closed else "cloth"


def hex_color(obj):
    """The colour of its first material, in sRGB."""
    slot = next((slot.material for slot in obj.material_slots if slot.material), None)
    color = slot.diffuse_color[:3] if slot else (0.6, 0.6, 0.6)
    if slot and slot.use_nodes:
        shader = next((node for node in slot.node_tree.nodes if node.type == "BSDF_PRINCIPLED"), None)
        if shader:
            color = shader.inputs["Base Color"].default_value[:3]
    bent = [12.92 * c if c <= 0.0031308 else 1.055 * c ** (1 / 2.4) - 0.055 for c in color]
    return "#" + "".join(f"{round(255 * min(max(c, 0), 1)):02x}" for c in bent)


def write_scene(context, objects, path, mesh_volume):
    """Writes the scene file and the meshes beside it. mesh_volume(surface, target, edge) fills a surface, and gives the vertices
    of the elements and which of them are on the surface."""
    objects = [obj for obj in objects if obj.type == "MESH" and not obj.get("lope_run")]
    if not objects:
        raise SceneError("select the meshes that take part first")
    scene, settings = context.scene, context.scene.lope
    first, last = scene.frame_start, scene.frame_end
    if last <= first:
        raise SceneError("the scene has one frame only; set its end")
    rate = scene.render.fps / scene.render.fps_base
    now = scene.frame_current
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    kinds = [kind_of(obj) for obj in objects]
    # Cloth meets others by barriers only, solids well without.
    barriers = "cloth" in kinds and len(kinds) > 1 or any(obj.lope.self_contact for obj in objects)
    bodies = Bodies(context, path.parent, first, last, rate, mesh_volume, kinds)
    try:
        scene.frame_set(first)
        for obj in objects:
            bodies.add(obj, barriers)
    finally:
        scene.frame_set(now)
    if not bodies.kinds & {"solid", "cloth", "liquid", "mpm"}:
        raise SceneError("nothing among what is selected moves by itself: all of it is obstacles")
    text = ""
    gravity = TURN @ scene.gravity if scene.use_gravity else (0.0, 0.0, 0.0)
    text += f"gravity = {toml([single(g) for g in gravity])}\n\n"
    text += table("[scene]", {"name": path.stem})
    text += table("[time]", {"step": 1 / (rate * settings.substeps), "duration": (last - first) / rate, "frame_rate": rate})
    text += table("[output]", {"formats": []})
    if barriers:
        text += table("[contact]", {"model": "barrier"})
    if "liquid" in bodies.kinds:
        text += table("[liquid]", {"resolution": settings.resolution})
    if "mpm" in bodies.kinds:
        extent = numpy.max([high for _, high in bodies.box], axis=0) - numpy.min([low for low, _ in bodies.box], axis=0)
        text += table("[mpm]", {"cell": float(extent.max()) / settings.resolution})
    path.write_text(text + bodies.text.rstrip() + "\n")
    return path
