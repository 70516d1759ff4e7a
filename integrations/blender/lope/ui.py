"""What users see: File → Import, File → Export, the panel Lope in the sidebar, the preferences."""

from pathlib import Path

import bpy
from bpy.props import BoolProperty, EnumProperty, FloatProperty, FloatVectorProperty, IntProperty, PointerProperty, StringProperty
from bpy_extras.io_utils import ExportHelper

from . import bake, objects, scene_file
from .frames import FrameError, run_directory

PROBLEMS = (FrameError, OSError, scene_file.SceneError, bake.ProgramError)
LOOK_EVERY = 0.25  # seconds


def program(context):
    addon = context.preferences.addons.get(__package__)
    return bake.find_program(bpy.path.abspath(addon.preferences.program) if addon else "")


class LopePreferences(bpy.types.AddonPreferences):
    bl_idname = __package__
    program: StringProperty(name="Program", subtype="FILE_PATH", description="The program lope. Empty: $LOPE, or the one on the path")

    def draw(self, context):
        self.layout.prop(self, "program")
        try:
            self.layout.label(text=program(context), icon="CHECKMARK")
        except bake.ProgramError as problem:
            self.layout.label(text=str(problem), icon="ERROR")


class LopeObject(bpy.types.PropertyGroup):
    kind: EnumProperty(name="Is", items=[
        ("AUTO", "Automatic", "Obstacle if passive or colliding, solid if closed, otherwise cloth"),
        ("SOLID", "Solid", "An elastic body: a closed surface, filled with elements"),
        ("CLOTH", "Cloth", "A sheet; its mesh is taken as it is"),
        ("LIQUID", "Liquid", "Full of liquid at the start: a closed surface"),
        ("MPM", "Material points", "Snow, sand, jelly: a closed surface, full at the start"),
        ("OBSTACLE", "Obstacle", "Rigid, with its animation: a closed surface, or a flat ground, which is endless")])
    material: StringProperty(name="Material", description="A preset such as rubber, jelly, cotton, snow. Empty: Lope's default")
    pins: StringProperty(name="Pins", description="Vertices with at least half a weight in this group are held, and follow the object")
    edge: FloatProperty(name="Edge", min=0, subtype="DISTANCE", description="Wanted size of a solid's elements. 0: chosen by Lope")
    velocity: FloatVectorProperty(name="Velocity", subtype="VELOCITY", description="At the start")
    self_contact: BoolProperty(name="Touches itself")
    friction: FloatProperty(name="Friction", min=0, default=0.3)
    container: BoolProperty(name="Container", description="Bodies are inside the obstacle and cannot leave it")


class LopeScene(bpy.types.PropertyGroup):
    directory: StringProperty(name="Folder", subtype="DIR_PATH", default="//lope", description="Where the scene file, its meshes and the run go")
    substeps: IntProperty(name="Steps per frame", min=1, default=1)
    resolution: IntProperty(name="Resolution", min=8, default=64, description="Cells along the longest side, of liquids and material points")


class IMPORT_OT_lope(bpy.types.Operator):
    """Bodies, cloth, particles and liquid surfaces of a run, played by the frame slider"""
    bl_idname = "import_scene.lope"
    bl_label = "Import Lope run"
    bl_options = {"REGISTER", "UNDO"}

    filepath: StringProperty(subtype="FILE_PATH")
    directory: StringProperty(subtype="DIR_PATH", options={"HIDDEN", "SKIP_SAVE"})
    filter_glob: StringProperty(default="*.lope;scene.toml", options={"HIDDEN"})
    start: IntProperty(name="First frame", default=1, description="The frame of the scene that shows frame 0 of the run")
    all_points: BoolProperty(name="Particles below surfaces", description="Also the particles of which a surface is shown")
    ground: BoolProperty(name="Ground", default=True, description="The floor of the run as a plane")
    timeline: BoolProperty(name="Set range and rate", default=True, description="Of the scene: those of the run")

    def invoke(self, context, _event):
        context.window_manager.fileselect_add(self)
        return {"RUNNING_MODAL"}

    def execute(self, context):
        place = self.filepath or self.directory
        directory = run_directory(bpy.path.abspath(place))
        if directory is None:
            self.report({"ERROR"}, f"{place} is not of a run: choose the directory of a run, or a file in it")
            return {"CANCELLED"}
        try:
            objects.forget()
            made = objects.bring(context, directory, self.start, self.all_points, self.ground, self.timeline)
        except PROBLEMS as problem:
            self.report({"ERROR"}, str(problem))
            return {"CANCELLED"}
        self.report({"INFO"}, f"{len(made.objects)} objects of {directory}")
        return {"FINISHED"}


def selected(context):
    return list(context.selected_objects)


class EXPORT_OT_lope(bpy.types.Operator, ExportHelper):
    """The selected objects as a scene of Lope, with their meshes beside it"""
    bl_idname = "export_scene.lope"
    bl_label = "Export Lope scene"
    filename_ext = ".toml"
    filter_glob: StringProperty(default="*.toml", options={"HIDDEN"})

    def execute(self, context):
        try:
            fill = lambda surface, target, edge: bake.fill(program(context), surface, target, edge)
            path = scene_file.write_scene(context, selected(context), self.filepath, fill)
        except PROBLEMS as problem:
            self.report({"ERROR"}, str(problem))
            return {"CANCELLED"}
        self.report({"INFO"}, f"wrote {path}")
        return {"FINISHED"}


class LOPE_OT_bake(bpy.types.Operator):
    """Writes the selected objects as a scene, computes it, and brings the run. Esc stops, and keeps what is done"""
    bl_idname = "lope.bake"
    bl_label = "Bake with Lope"

    def start(self, context):
        folder = Path(bpy.path.abspath(context.scene.lope.directory)).absolute()
        if context.scene.lope.directory.startswith("//") and not bpy.data.filepath:
            raise scene_file.SceneError("save the file first, or give a folder that does not begin with //")
        stem = scene_file.file_name(Path(bpy.data.filepath).stem or context.scene.name)
        lope = program(context)
        path = scene_file.write_scene(context, selected(context), folder / f"{stem}.toml",
                                      lambda surface, target, edge: bake.fill(lope, surface, target, edge))
        self.sources = selected(context)
        self.bake = bake.Bake(lope, path, folder / "runs" / stem)

    def execute(self, context):
        """Waits, where there is no window."""
        try:
            self.start(context)
        except PROBLEMS as problem:
            self.report({"ERROR"}, str(problem))
            return {"CANCELLED"}
        self.bake.wait()
        return self.bring(context)

    def invoke(self, context, _event):
        if bpy.app.background:
            return self.execute(context)
        try:
            self.start(context)
        except PROBLEMS as problem:
            self.report({"ERROR"}, str(problem))
            return {"CANCELLED"}
        context.window_manager.progress_begin(0, 100)
        self.timer = context.window_manager.event_timer_add(LOOK_EVERY, window=context.window)
        context.window_manager.modal_handler_add(self)
        return {"RUNNING_MODAL"}

    def modal(self, context, event):
        if event.type == "ESC" and event.value == "PRESS" and not event.is_repeat:
            self.bake.stop()
        elif event.type != "TIMER":
            return {"PASS_THROUGH"}
        if self.bake.running():
            context.window_manager.progress_update(int(100 * self.bake.progress()))
            steps = f" of {self.bake.steps}" if self.bake.steps else ""
            context.workspace.status_text_set(f"Lope: step {self.bake.done}{steps}. Esc stops")
            return {"RUNNING_MODAL"}
        self.tidy(context)
        return self.bring(context)

    def tidy(self, context):
        context.window_manager.event_timer_remove(self.timer)
        context.window_manager.progress_end()
        context.workspace.status_text_set(None)

    def cancel(self, context):
        self.bake.cancel()
        self.tidy(context)

    def bring(self, context):
        problem = None
        try:
            problem = self.bake.outcome()
        except bake.ProgramError as error:
            problem = str(error)
        try:
            objects.forget()
            remove_results(context, self.bake.directory)
            objects.bring(context, self.bake.directory, context.scene.frame_start, ground=False, timeline=False)
        except PROBLEMS as error:
            self.report({"ERROR"}, problem or str(error))
            return {"CANCELLED"}
        for obj in self.sources:  # what moves is shown by the run
            obj.hide_render = True
            obj.hide_set(True)
        if problem:
            self.report({"WARNING"}, problem)
        return {"FINISHED"}


def remove_results(context, directory):
    """Objects that showed an earlier run of this place."""
    for obj in list(context.scene.objects):
        if obj.get("lope_run") == str(directory):
            mesh = obj.data
            bpy.data.objects.remove(obj)
            bpy.data.meshes.remove(mesh)
    for collection in list(context.scene.collection.children):
        if collection.get("lope_run") == str(directory) and not collection.all_objects:
            bpy.data.collections.remove(collection)


class VIEW3D_PT_lope(bpy.types.Panel):
    bl_label = "Lope"
    bl_category = "Lope"
    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"

    def draw(self, context):
        layout = self.layout
        layout.use_property_split = True
        obj = context.object
        if obj and obj.type == "MESH" and not obj.get("lope_run"):
            layout.label(text=obj.name, icon="OBJECT_DATA")
            draw_object(layout, obj)
        column = layout.column()
        for key in ("directory", "substeps", "resolution"):
            column.prop(context.scene.lope, key)
        layout.operator("lope.bake", icon="PLAY")


def draw_object(layout, obj):
    settings = obj.lope
    kind = scene_file.kind_of(obj) if obj.mode == "OBJECT" else settings.kind.lower()
    layout.prop(settings, "kind")
    if kind in ("solid", "cloth", "mpm"):
        layout.prop(settings, "material")
    if kind in ("solid", "cloth"):
        layout.prop_search(settings, "pins", obj, "vertex_groups")
        layout.prop(settings, "self_contact")
    if kind == "solid":
        layout.prop(settings, "edge")
    if kind == "obstacle":
        layout.prop(settings, "friction")
        layout.prop(settings, "container")
    else:
        layout.prop(settings, "velocity")


CLASSES = (LopePreferences, LopeObject, LopeScene, IMPORT_OT_lope, EXPORT_OT_lope, LOPE_OT_bake, VIEW3D_PT_lope)


def import_entry(self, _context):
    self.layout.operator(IMPORT_OT_lope.bl_idname, text="Lope run (.lope)")


def export_entry(self, _context):
    self.layout.operator(EXPORT_OT_lope.bl_idname, text="Lope scene (.toml)")


def register():
    for each in CLASSES:
        bpy.utils.register_class(each)
    bpy.types.Object.lope = PointerProperty(type=LopeObject)
    bpy.types.Scene.lope = PointerProperty(type=LopeScene)
    bpy.types.TOPBAR_MT_file_import.append(import_entry)
    bpy.types.TOPBAR_MT_file_export.append(export_entry)


def unregister():
    bpy.types.TOPBAR_MT_file_export.remove(export_entry)
    bpy.types.TOPBAR_MT_file_import.remove(import_entry)
    del bpy.types.Scene.lope
    del bpy.types.Object.lope
    for each in reversed(CLASSES):
        bpy.utils.unregister_class(each)
