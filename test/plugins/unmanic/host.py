"""A stand-in for Unmanic: its plugin settings, the data of its runners, and the way its worker runs a command.

Usage: host.py PLUGIN SETTINGS FILE_IN FILE_OUT; prints what happened as JSON.
"""
import importlib.util
import json
import subprocess
import sys
import types

plugin_path, settings_text, file_in, file_out = sys.argv[1:]


class PluginSettings:
    settings = {}
    form_settings = {}

    def __init__(self, *args, **kwargs):
        self.library_id = kwargs.get("library_id")

    def get_setting(self, key=None):
        configured = {**self.settings, **json.loads(settings_text)}
        return configured if key is None else configured.get(key)


for name in ("unmanic", "unmanic.libs", "unmanic.libs.unplugins", "unmanic.libs.unplugins.settings"):
    sys.modules[name] = types.ModuleType(name)
sys.modules["unmanic.libs.unplugins.settings"].PluginSettings = PluginSettings

spec = importlib.util.spec_from_file_location("plugin", plugin_path)
plugin = importlib.util.module_from_spec(spec)
spec.loader.exec_module(plugin)


def file_test(path):
    data = {"library_id": 1, "path": path, "issues": [], "add_file_to_pending_tasks": False, "priority_score": 0}
    tested = plugin.on_library_management_file_test(data)
    return [tested["add_file_to_pending_tasks"], [issue["id"] for issue in tested["issues"]]]


def work():
    data = {"library_id": 1, "worker_log": [], "exec_command": [], "current_command": []}
    data.update({"command_progress_parser": None, "file_in": file_in, "file_out": file_out, "repeat": False})
    planned = plugin.on_worker_process(data)
    command, parse = planned["exec_command"], planned["command_progress_parser"]
    if not command:
        return {"ran": False}
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, universal_newlines=True)
    percents = [parse(line)["percent"] for line in child.stdout]
    return {"ran": True, "code": child.wait(), "percent": percents[-1]}


settings = [plugin.Settings.settings, sorted(plugin.Settings.form_settings)]
print(json.dumps({"settings": settings, "before": file_test(file_in), "work": work(), "after": file_test(file_out)}))
