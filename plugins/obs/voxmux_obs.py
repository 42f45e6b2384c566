"""A script for OBS Studio (Tools > Scripts): queues each recording for voxmux the moment it is stopped, and each part of
one that OBS splits as soon as the next has begun.

It writes one small file into a spool folder, from which `voxmux worker --spool` takes it. OBS waits for nothing. The job of
a recording that goes on lies there under a hidden name: if OBS is closed or crashes meanwhile, its next start queues it.
"""

import json
import os
import time
import uuid

import obspython as obs

settings = {"spool": "", "output": "", "preset": ""}

# Files of the recording that goes on: the last is being written, those before it are not queued yet.
parts = []

# How often it is looked whether OBS has begun the next part, and whether a recording was left.
LOOK_MS = 1000

# A recording that was left may still be written by another OBS. It is queued when it is unchanged for so long.
QUIET_SEC = 60

# Ending of the hidden names of jobs whose recording goes on.
OPEN = ".recording"


def script_description():
    return (
        "Regenerates the voice of each recording: queues it in a folder when the recording stops.\n"
        "A worker takes it from there: voxmux worker --spool FOLDER"
    )


def script_properties():
    properties = obs.obs_properties_create()
    folder = obs.OBS_PATH_DIRECTORY
    obs.obs_properties_add_path(properties, "spool", "Spool folder", folder, "", None)
    obs.obs_properties_add_path(properties, "output", "Finished files (empty: beside the recording)", folder, "", None)
    obs.obs_properties_add_text(properties, "preset", "Preset (empty: the configured one)", obs.OBS_TEXT_DEFAULT)
    return properties


def script_update(values):
    for name in settings:
        settings[name] = obs.obs_data_get_string(values, name)


def script_load(_values):
    obs.obs_frontend_add_event_callback(on_event)
    look_for_left()


def script_unload():
    obs.obs_frontend_remove_event_callback(on_event)


def on_event(event):
    if event == obs.OBS_FRONTEND_EVENT_RECORDING_STARTED:
        follow_parts()
    elif event == obs.OBS_FRONTEND_EVENT_RECORDING_STOPPED:
        obs.timer_remove(queue_whole_parts)
        # A script that was loaded in mid-recording knows of none.
        for part in parts or [obs.obs_frontend_get_last_recording()]:
            queue(part)
        parts.clear()


def follow_parts():
    """Knows the first file by the output's settings, and each that follows by its signal."""
    output = obs.obs_frontend_get_recording_output()
    values = obs.obs_output_get_settings(output)
    parts.clear()
    begin(obs.obs_data_get_string(values, "path"))
    obs.obs_data_release(values)
    handler = obs.obs_output_get_signal_handler(output)
    # The output of the recording before may be the same one.
    obs.signal_handler_disconnect(handler, "file_changed", on_file_changed)
    obs.signal_handler_connect(handler, "file_changed", on_file_changed)
    obs.obs_output_release(output)
    obs.timer_add(queue_whole_parts, LOOK_MS)


def on_file_changed(signal):
    begin(obs.calldata_string(signal, "next_file"))


def begin(recording):
    if not recording:
        return
    parts.append(recording)
    if not settings["spool"]:
        return
    try:
        write_job(settings["spool"], job_of(recording), open_name(recording))
    except OSError as error:
        obs.script_log(obs.LOG_ERROR, "voxmux: %s cannot be queued: %s" % (recording, error))


def queue_whole_parts():
    """OBS tells the name of the next part before it has ended the one before; it begins that file afterwards."""
    while len(parts) > 1 and os.path.exists(parts[1]):
        queue(parts.pop(0))


def queue(recording):
    if not recording:
        return
    if not settings["spool"]:
        obs.script_log(obs.LOG_WARNING, "voxmux: no spool folder is set; %s is not queued." % recording)
        return
    try:
        write_job(settings["spool"], job_of(recording), job_name())
        forget_open(recording)
        obs.script_log(obs.LOG_INFO, "voxmux: queued %s" % recording)
    except OSError as error:
        obs.script_log(obs.LOG_ERROR, "voxmux: %s is not queued: %s" % (recording, error))
        look_for_left()


def forget_open(recording):
    path = os.path.join(settings["spool"], open_name(recording))
    if os.path.exists(path):
        os.remove(path)


def look_for_left():
    obs.timer_remove(queue_left)
    obs.timer_add(queue_left, LOOK_MS)


def queue_left():
    """Queues recordings that an OBS began and did not stop: it was closed, or crashed, or the spool folder was full."""
    if obs.obs_frontend_recording_active():
        return
    spool = settings["spool"]
    try:
        left = [os.path.join(spool, name) for name in os.listdir(spool) if name.endswith(OPEN)] if spool else []
        waiting = [path for path in left if not queue_if_quiet(path)]
    except OSError:
        # The folder may be on a share that is away, or another OBS was faster.
        return
    if not waiting:
        obs.timer_remove(queue_left)


def queue_if_quiet(path):
    with open(path, encoding="utf-8") as file:
        recording = json.load(file)["input"]
    # The worker says so if a recording is gone.
    if os.path.exists(recording) and time.time() - os.path.getmtime(recording) < QUIET_SEC:
        return False
    os.replace(path, os.path.join(settings["spool"], job_name()))
    obs.script_log(obs.LOG_INFO, "voxmux: queued %s, which an earlier OBS left" % recording)
    return True


def job_of(recording):
    """The job of `voxmux step`; a folder as output ends in a slash."""
    job = {"input": os.path.abspath(recording)}
    if settings["output"]:
        job["output"] = os.path.join(os.path.abspath(settings["output"]), "")
    if settings["preset"]:
        job["preset"] = settings["preset"]
    return job


def job_name():
    return str(uuid.uuid4()) + ".json"


def open_name(recording):
    return "." + str(uuid.uuid5(uuid.NAMESPACE_URL, recording)) + OPEN


def write_job(spool, job, name):
    """Under a hidden name until it is whole: the worker takes no half job."""
    part = os.path.join(spool, "." + str(uuid.uuid4()) + ".part")
    try:
        with open(part, "w", encoding="utf-8") as file:
            json.dump(job, file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, os.path.join(spool, name))
    except OSError:
        if os.path.exists(part):
            os.remove(part)
        raise
