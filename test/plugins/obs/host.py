"""Plays OBS Studio: its module `obspython` as far as the script uses it (docs.obsproject.com/scripting).

host.py SCRIPT SETTINGS-JSON RECORDING [closed]: loads the script, gives it its settings, starts a recording and stops it, or
is closed in the middle of it.
"""

import importlib.util
import json
import sys
import types

script, settings, recording = sys.argv[1], json.loads(sys.argv[2]), sys.argv[3]
is_closed = len(sys.argv) > 4
callbacks, log, timers = [], [], []
obs = types.ModuleType("obspython")
obs.OBS_FRONTEND_EVENT_RECORDING_STARTED, obs.OBS_FRONTEND_EVENT_RECORDING_STOPPED = 5, 7
obs.OBS_PATH_DIRECTORY, obs.OBS_TEXT_DEFAULT = 2, 0
obs.LOG_ERROR, obs.LOG_WARNING, obs.LOG_INFO = 100, 200, 300
obs.obs_properties_create = lambda: []
obs.obs_properties_add_path = lambda properties, name, *_rest: properties.append(name)
obs.obs_properties_add_text = lambda properties, name, *_rest: properties.append(name)
obs.obs_data_get_string = lambda values, name: values.get(name, "")
obs.obs_frontend_add_event_callback = callbacks.append
obs.obs_frontend_remove_event_callback = callbacks.remove
obs.obs_frontend_get_last_recording = lambda: recording
obs.obs_frontend_get_recording_output = lambda: "output"
obs.obs_output_get_settings = lambda _output: {"path": recording}
obs.obs_output_get_signal_handler = lambda _output: "handler"
obs.signal_handler_connect = obs.signal_handler_disconnect = lambda _handler, _signal, _callback: None
obs.obs_output_release = obs.obs_data_release = lambda _what: None
obs.obs_frontend_recording_active = lambda: False
obs.timer_add = lambda callback, _ms: timers.append(callback)
obs.timer_remove = lambda callback: timers.remove(callback) if callback in timers else None
obs.script_log = lambda level, text: log.append([level, text])
sys.modules["obspython"] = obs

spec = importlib.util.spec_from_file_location("voxmux_obs", script)
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
names = module.script_properties()
module.script_update(settings)
module.script_load(settings)
for timer in list(timers):
    timer()
started, stopped = obs.OBS_FRONTEND_EVENT_RECORDING_STARTED, obs.OBS_FRONTEND_EVENT_RECORDING_STOPPED
for event in (started,) if is_closed else (started, stopped):
    for callback in list(callbacks):
        callback(event)
module.script_unload()
print(json.dumps({"settings": names, "described": module.script_description(), "log": log, "callbacks": len(callbacks)}))
