"""A plugin of Unmanic: adds the regenerated voice as one more track. It needs voxmux and ffprobe on the machine."""
import json
import subprocess

from unmanic.libs.unplugins.settings import PluginSettings

TITLE = "clear dialogue"


class Settings(PluginSettings):
    settings = {
        "command": "voxmux",
        "preset": "",
        "track": "default",
    }
    form_settings = {
        "command": {"label": "Path of voxmux; a plain name is looked up in PATH"},
        "preset": {"label": "Preset, by name or path; empty for the configured one"},
        "track": {"label": "Audio track: default, all, a number from 0, or lang:xxx"},
    }

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)


def on_library_management_file_test(data):
    """Leaves out files without sound, and those that have the track: Unmanic reads its own results again."""
    found = sound_of(data["path"])
    if found is None or not found:
        data["add_file_to_pending_tasks"] = False
    elif any(is_clear_dialogue(stream) for stream in found):
        data["add_file_to_pending_tasks"] = False
        data["issues"].append({"id": "voxmux", "message": f"It has a track of clear dialogue - '{data['path']}'"})
    else:
        data["add_file_to_pending_tasks"] = True
    return data


def on_worker_process(data):
    """Has Unmanic run voxmux, which writes the new file. Unmanic replaces the old one if voxmux ends with 0."""
    found = sound_of(data["file_in"]) or []
    if any(is_clear_dialogue(stream) for stream in found):
        return data
    settings = Settings(library_id=data.get("library_id"))
    preset = settings.get_setting("preset")
    data["exec_command"] = [
        settings.get_setting("command"),
        "run",
        "--add-track",
        "--json",
        "--track",
        settings.get_setting("track"),
        *(["--preset", preset] if preset else []),
        "--output",
        data["file_out"],
        "--",
        data["file_in"],
    ]
    data["command_progress_parser"] = progress_parser()
    return data


def progress_parser():
    """A reader of the lines of voxmux. Lines for people come between the events."""
    last = {"percent": "0"}

    def parse(line):
        try:
            event = json.loads(line)
        except ValueError:
            return dict(last)
        if isinstance(event, dict) and event.get("event") == "progress" and event.get("percent") is not None:
            last["percent"] = str(int(event["percent"]))
        return dict(last)

    return parse


def sound_of(path):
    """The audio streams of a file, or None if it cannot be read."""
    entries = "stream=index:stream_tags=title,handler_name:stream_disposition=hearing_impaired"
    command = ["ffprobe", "-v", "error", "-select_streams", "a", "-show_entries", entries, "-of", "json", f"file:{path}"]
    done = subprocess.run(command, capture_output=True, check=False)
    return json.loads(done.stdout).get("streams", []) if done.returncode == 0 else None


def is_clear_dialogue(stream):
    names = " ".join(stream.get("tags", {}).values()).lower()
    return TITLE in names or stream.get("disposition", {}).get("hearing_impaired") == 1
