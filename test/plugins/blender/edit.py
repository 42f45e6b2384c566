"""Run by Blender without a window: lays a sound into the sequencer, trims it, runs the add-on, prints the strips.

blender -b --factory-startup --python edit.py -- ADD-ON COMMAND SOUND
"""

import importlib.util
import json
import sys

import bpy

addon, command, sound = sys.argv[sys.argv.index("--") + 1 :]
spec = importlib.util.spec_from_file_location("voxmux_blender", addon)
module = importlib.util.module_from_spec(spec)
sys.modules["voxmux_blender"] = module
spec.loader.exec_module(module)
module.register()

editor = bpy.context.scene.sequence_editor_create()
strip = module.strips_of(bpy.context).new_sound("take", sound, 2, 10)
strip.frame_offset_start, strip.frame_offset_end, strip.volume = 5, 7, 0.5
strip.select = True
ended = bpy.ops.sequencer.voxmux_regenerate("EXEC_DEFAULT", command=command)
strips = [
    {
        "name": item.name,
        "file": bpy.path.abspath(item.sound.filepath),
        "channel": item.channel,
        "start": item.frame_final_start,
        "end": item.frame_final_end,
        "volume": item.volume,
        "mute": item.mute,
    }
    for item in module.strips_of(bpy.context)
]
module.unregister()
print("STRIPS " + json.dumps({"ended": list(ended), "strips": strips}))
