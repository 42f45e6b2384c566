"""Run by Blender without a window: lays a sound into the sequencer as two trimmed strips, the first with a fade and
with music above it, runs the add-on, runs it again, runs it with a preset that does not exist, and prints the strips.

blender -b --factory-startup --python edit.py -- ADD-ON COMMAND SOUND
"""

import importlib.util
import json
import os
import sys

import bpy

addon, command, sound = sys.argv[sys.argv.index("--") + 1 :]
spec = importlib.util.spec_from_file_location("voxmux_blender", addon)
module = importlib.util.module_from_spec(spec)
sys.modules["voxmux_blender"] = module
spec.loader.exec_module(module)
module.register()

editor = bpy.context.scene.sequence_editor_create()
strips_of = module.strips_of


def lay(name, channel, start, end):
    strip = strips_of(bpy.context).new_sound(name, sound, channel, start)
    strip.speed_factor, strip.frame_offset_start, strip.frame_offset_end, strip.volume = 1.25, 5, 7, 0.5
    strip.frame_final_end = end
    return strip


take = lay("take", 2, 10, 30)
take.keyframe_insert("volume", frame=take.frame_final_start)
take.volume = 1
take.keyframe_insert("volume", frame=take.frame_final_start + 6)
music = lay("music", 3, 10, 30)
pickup = lay("pickup", 2, 31, 50)
# A project that can be moved with its media: the path counts from the folder that it is saved in.
bpy.ops.wm.save_as_mainfile(filepath=os.path.join(os.path.dirname(sound), "film.blend"), relative_remap=False)
pickup.sound.filepath = bpy.path.relpath(sound)
# So the file browser of the preferences writes it.
command = bpy.path.relpath(command)


def regenerate(**settings):
    for strip in strips_of(bpy.context):
        strip.select = strip in (take, pickup)
    try:
        return list(bpy.ops.sequencer.voxmux_regenerate("EXEC_DEFAULT", command=command, **settings))
    except RuntimeError as error:
        return str(error)


ended = [regenerate(), regenerate(), regenerate(preset="nonesuch")]
curves = {
    curve.data_path: [list(point.co) for point in curve.keyframe_points]
    for curve in bpy.context.scene.animation_data.action.fcurves
}
strips = [
    {
        "name": item.name,
        "file": item.sound.filepath,
        "channel": item.channel,
        "start": item.frame_final_start,
        "end": item.frame_final_end,
        "volume": item.volume,
        "mute": item.mute,
        "speed": item.speed_factor,
    }
    for item in strips_of(bpy.context)
]
module.unregister()
print("STRIPS " + json.dumps({"ended": ended, "curves": list(curves.values()), "strips": strips}))
