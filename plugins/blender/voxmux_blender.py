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

# What of a sound strip is copied, in an order in which none changes another.
SETTINGS = (
    *("speed_factor", "animation_offset_start", "animation_offset_end", "frame_offset_start", "frame_offset_end"),
    *("volume", "pan", "mute"),
)


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
        # The file browser of the preferences writes it relative to the project.
        command = bpy.path.abspath(self.command or (preferences.command if preferences else "voxmux"))
        preset = self.preset or (preferences.preset if preferences else "")
        # By name, and in a file: what is selected may change meanwhile, and no pipe fills up.
        self.paths = {strip.name: path_of(strip) for strip in selected_sounds(context)}
        # A file and a link to it are one file, and paid once.
        inputs = {os.path.realpath(path): path for path in sorted(self.paths.values(), reverse=True)}
        jobs = [{"input": path, **({"preset": preset} if preset else {})} for path in inputs.values()]
        self.events = tempfile.TemporaryFile()
        try:
            self.child = subprocess.Popen(
                [command, "step", "-"], stdin=subprocess.PIPE, stdout=self.events, env=environment_for(command)
            )
        except OSError as error:
            remedy = "Set the path of voxmux in the preferences of the add-on."
            self.report({"ERROR"}, "%s could not be started: %s. %s" % (command, error, remedy))
            return False
        try:
            with self.child.stdin as stdin:
                stdin.write(json.dumps(jobs).encode())
        except OSError:
            pass  # It ended before it read them, and says why.
        return True

    def finish(self, context):
        self.events.seek(0)
        results, otherwise = results_of(self.events.read().splitlines(), self.child.returncode)
        self.events.close()
        faults = {}
        for name, path in self.paths.items():
            result = results.get(os.path.realpath(path), otherwise)
            fault = self.lay(context, name, result) if result["output"] else said(result["error"])
            if fault:
                faults.setdefault(fault, []).append(name)
        # One setting that is wrong is wrong for each of a hundred strips, and said once.
        for fault, names in faults.items():
            more = " and %d more" % (len(names) - 3) if len(names) > 3 else ""
            self.report({"ERROR"}, "%s%s: %s" % (", ".join(names[:3]), more, fault))
        return {"FINISHED"} if sum(map(len, faults.values())) < len(self.paths) else {"CANCELLED"}

    @staticmethod
    def lay(context, name, result):
        """Lays a result over its strip; returns why it could not."""
        strip = strips_of(context).get(name)
        if not strip:
            return "is no longer in the sequencer; its result is %s" % result["output"]
        if is_laid(context, strip, result["output"]) or lay_beside(context, strip, result["output"]):
            return None
        return "cannot be laid over the same frames, lay it by hand: %s" % result["output"]


def environment_for(command):
    """npm puts node beside voxmux, and a Blender that the desktop has started does not have that folder in its PATH."""
    folder = os.path.dirname(command)
    path = os.environ.get("PATH", os.defpath)
    return {**os.environ, "PATH": folder + os.pathsep + path} if folder else None


def results_of(lines, returncode):
    """What `voxmux step` said of each input, by its real path, and what holds for an input that it did not speak of."""
    events = []
    for line in lines:
        try:
            events.append(json.loads(line))
        except ValueError:
            pass  # Said by something that is not voxmux.
    events = [event for event in events if isinstance(event, dict) and "event" in event]
    results = {os.path.realpath(event["input"]): event for event in events if event["event"] == "file"}
    ended = {"message": "the command ended with %s and did not say why." % returncode, "remedies": ["Is it voxmux?"]}
    error = events[-1].get("error") if events else None
    return results, {"output": None, "error": error or ended}


def said(error):
    text = " ".join([error["message"], *error["remedies"]])
    # Keys of a job: here, only a preset can set them.
    return text + " Put such a key into a preset, and name it in the preferences of the add-on." if '`"' in text else text


def scene_of(context):
    """The scene that the sequencer shows. Since Blender 5 it may be another than that of the window."""
    return getattr(context, "sequencer_scene", None) or context.scene


def strips_of(context):
    """All strips; the collection has another name since Blender 4.4."""
    editor = scene_of(context).sequence_editor
    return editor.strips if hasattr(editor, "strips") else editor.sequences


def selected_sounds(context):
    scene = scene_of(context)
    if not scene or not scene.sequence_editor:
        return []
    return [strip for strip in strips_of(context) if strip.select and strip.type == "SOUND"]


def path_of(strip):
    return os.path.abspath(bpy.path.abspath(strip.sound.filepath))


def span_of(strip):
    return strip.frame_final_start, strip.frame_final_end


def is_laid(context, strip, output):
    """Whether the result lies over the strip already: laid twice, the voice would be twice as loud."""
    return any(
        other.type == "SOUND" and span_of(other) == span_of(strip) and path_of(other) == os.path.abspath(output)
        for other in strips_of(context)
    )


def lay_beside(context, strip, output):
    """A strip with the new sound, over the same frames and with the same settings; the old one is muted."""
    strips = strips_of(context)
    channel = free_channel(strips, strip)
    # Beyond everything until it is trimmed: Blender moves what overlaps something to another channel.
    beyond = int(max(other.frame_final_end for other in strips)) + 1
    fresh = strips.new_sound(strip.name + ".regen", output, channel, beyond)
    # As the old one, so that a project and its media can be moved together.
    if strip.sound.filepath.startswith("//"):
        fresh.sound.filepath = bpy.path.relpath(output)
    for setting in SETTINGS:
        if hasattr(strip, setting):
            setattr(fresh, setting, getattr(strip, setting))
    fresh.frame_start = strip.frame_start
    # Blender counts the frame within which a sound ends for some strips, and for others of the same file it does not.
    fresh.frame_final_end = strip.frame_final_end
    if span_of(fresh) != span_of(strip) or fresh.channel != channel:
        strips.remove(fresh)
        return None
    copy_curves(scene_of(context).animation_data, strip, fresh)
    strip.mute = True
    return fresh


def free_channel(strips, strip):
    """The first channel above a strip in which nothing lies over its frames."""
    start, end = span_of(strip)
    taken = {other.channel for other in strips if other.frame_final_start < end and other.frame_final_end > start}
    return next(channel for channel in range(strip.channel + 1, strip.channel + 2 + len(taken)) if channel not in taken)


def curves_of(animation):
    """The curves of a scene, or None. Since Blender 5 an action keeps them for each of its slots."""
    action = animation.action if animation else None
    if action is None or hasattr(action, "fcurves"):
        return action and action.fcurves
    strips = [strip for layer in action.layers for strip in layer.strips] if animation.action_slot else []
    bags = [strip.channelbag(animation.action_slot) for strip in strips]
    return next((bag.fcurves for bag in bags if bag), None)


def copy_curves(animation, strip, fresh):
    """Fades are keyframes of the volume: they are kept for each strip by its name, in the scene."""
    curves = curves_of(animation)
    old, new = strip.path_from_id(), fresh.path_from_id()
    for curve in list(curves or ()):
        if curve.data_path.startswith(old + "."):
            copy = curves.new(new + curve.data_path[len(old) :], index=curve.array_index)
            copy.keyframe_points.add(len(curve.keyframe_points))
            for source, target in zip(curve.keyframe_points, copy.keyframe_points):
                for name in ("co", "interpolation", "easing", "handle_left_type", "handle_right_type"):
                    setattr(target, name, getattr(source, name))
                target.handle_left, target.handle_right = source.handle_left, source.handle_right
            copy.extrapolation = curve.extrapolation
            copy.update()


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
