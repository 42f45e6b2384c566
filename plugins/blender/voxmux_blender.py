"""An add-on for Blender's video sequencer: regenerates the voice of the selected sound strips. Each result is laid as a
strip of its own above the old one, at the same frames, and the old one is muted: unmute it to go back.
"""

import json
import os
import subprocess
import tempfile

import bpy

bl_info = {
    "name": "voxmux: regenerate voice",
    "description": "Regenerates the voice of the selected sound strips",
    "author": "voxmux",
    "version": (0, 1, 0),
    "blender": (3, 3, 0),
    "location": "Sequencer > Strip > Regenerate Voice",
    "category": "Sequencer",
}

POLL_SEC = 0.5


class VoxmuxPreferences(bpy.types.AddonPreferences):
    bl_idname = __name__

    command: bpy.props.StringProperty(name="Command", default="voxmux", subtype="FILE_PATH")
    preset: bpy.props.StringProperty(name="Preset", description="Empty for the configured one")

    def draw(self, _context):
        self.layout.prop(self, "command")
        self.layout.prop(self, "preset")


class VoxmuxRegenerate(bpy.types.Operator):
    """Regenerate the voice of the selected sound strips"""

    bl_idname = "sequencer.voxmux_regenerate"
    bl_label = "Regenerate Voice"
    bl_options = {"REGISTER", "UNDO"}

    command: bpy.props.StringProperty(options={"SKIP_SAVE"})
    preset: bpy.props.StringProperty(options={"SKIP_SAVE"})

    @classmethod
    def poll(cls, context):
        return bool(selected_sounds(context))

    def invoke(self, context, _event):
        # Blender stays usable meanwhile: a timer looks whether the command has ended.
        if not self.start(context):
            return {"CANCELLED"}
        self.timer = context.window_manager.event_timer_add(POLL_SEC, window=context.window)
        context.window_manager.modal_handler_add(self)
        return {"RUNNING_MODAL"}

    def modal(self, context, event):
        if event.type != "TIMER" or self.child.poll() is None:
            return {"PASS_THROUGH"}
        context.window_manager.event_timer_remove(self.timer)
        return self.finish(context)

    def execute(self, context):
        if not self.start(context):
            return {"CANCELLED"}
        self.child.wait()
        return self.finish(context)

    def start(self, context):
        addon = context.preferences.addons.get(__name__)
        preferences = addon.preferences if addon else None
        command = self.command or (preferences.command if preferences else "voxmux")
        preset = self.preset or (preferences.preset if preferences else "")
        # By name, and in a file: what is selected may change meanwhile, and no pipe fills up.
        self.paths = {strip.name: path_of(strip) for strip in selected_sounds(context)}
        jobs = [{"input": path, **({"preset": preset} if preset else {})} for path in sorted(set(self.paths.values()))]
        self.events = tempfile.TemporaryFile()
        try:
            self.child = subprocess.Popen([command, "step", "-"], stdin=subprocess.PIPE, stdout=self.events)
        except OSError as error:
            self.report({"ERROR"}, "%s could not be started: %s" % (command, error))
            return False
        with self.child.stdin as stdin:
            stdin.write(json.dumps(jobs).encode())
        return True

    def finish(self, context):
        self.events.seek(0)
        events = [json.loads(line) for line in self.events.read().splitlines() if line]
        self.events.close()
        results = {os.path.realpath(event["input"]): event for event in events if event["event"] == "file"}
        done = 0
        for name, path in self.paths.items():
            result = results.get(os.path.realpath(path))
            strip = strips_of(context).get(name)
            if result and result["output"] and strip and result["status"] in ("done", "skipped"):
                lay_beside(context, strip, result["output"])
                done += 1
            elif result and result["error"]:
                self.report({"ERROR"}, "%s: %s" % (name, result["error"]["message"]))
            else:
                self.report({"ERROR"}, "%s: voxmux ended with %s" % (name, self.child.returncode))
        return {"FINISHED"} if done else {"CANCELLED"}


def strips_of(context):
    """All strips; the collection has another name since Blender 4.4."""
    editor = context.scene.sequence_editor
    return editor.strips if hasattr(editor, "strips") else editor.sequences


def selected_sounds(context):
    if not context.scene or not context.scene.sequence_editor:
        return []
    return [strip for strip in strips_of(context) if strip.select and strip.type == "SOUND"]


def path_of(strip):
    return os.path.abspath(bpy.path.abspath(strip.sound.filepath))


def lay_beside(context, strip, output):
    """A strip with the new sound, over the same frames and with the same settings; the old one is muted."""
    strips = strips_of(context)
    channel = 1 + max(other.channel for other in strips)
    fresh = strips.new_sound(strip.name + ".regen", output, channel, int(strip.frame_start))
    for setting in ("frame_start", "frame_offset_start", "frame_offset_end", "volume", "pan"):
        setattr(fresh, setting, getattr(strip, setting))
    strip.mute = True
    return fresh


def draw_menu(self, _context):
    self.layout.operator(VoxmuxRegenerate.bl_idname)


CLASSES = (VoxmuxPreferences, VoxmuxRegenerate)


def register():
    for cls in CLASSES:
        bpy.utils.register_class(cls)
    bpy.types.SEQUENCER_MT_strip.append(draw_menu)


def unregister():
    bpy.types.SEQUENCER_MT_strip.remove(draw_menu)
    for cls in reversed(CLASSES):
        bpy.utils.unregister_class(cls)
