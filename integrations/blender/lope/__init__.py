"""Lope in Blender: runs as objects with the frame slider, objects as scenes that are computed (docs/blender.md)."""

bl_info = {
    "name": "Lope",
    "description": "Runs of the simulator Lope, and scenes for it",
    "author": "The Lope authors",
    "version": (0, 1, 0),
    "blender": (3, 4, 0),
    "location": "File > Import, File > Export, Sidebar > Lope",
    "category": "Import-Export",
}

from . import objects, ui


def register():
    ui.register()
    objects.register()


def unregister():
    objects.unregister()
    ui.unregister()
