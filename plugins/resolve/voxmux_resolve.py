"""A script for DaVinci Resolve (Workspace > Scripts): regenerates the voice of the clips selected in the media pool and
imports each result into the bin of its clip.

Resolve runs it with `resolve` in its globals. VOXMUX_COMMAND names voxmux where it is not in PATH; VOXMUX_PRESET a
preset.
"""

import json
import os
import subprocess


def regenerate_selected(resolve_app, command, preset):
    """Returns what happened, one line a clip."""
    project = resolve_app.GetProjectManager().GetCurrentProject()
    pool = project.GetMediaPool() if project else None
    # A method that this Resolve does not have is None.
    if pool and not pool.GetSelectedClips:
        return ["Resolve 19.0.2 or newer is needed: this one does not say which clips are selected."]
    clips = selected_clips(pool) if pool else []
    if not clips:
        return ["Select clips in the media pool first."]
    # A file and a link to it are one file, and paid once.
    inputs = {}
    for path in clips.values():
        inputs.setdefault(os.path.realpath(path), path)
    jobs = [{"input": path, **({"preset": preset} if preset else {})} for path in inputs.values()]
    results = run_step(command, jobs)
    before = pool.GetCurrentFolder()
    lines = []
    for clip, path in clips.items():
        result = results[os.path.realpath(path)]
        lines.append(describe(path, result))
        if result["status"] in ("done", "skipped") and result.get("output"):
            folder = folder_of(pool.GetRootFolder(), clip) or before
            pool.SetCurrentFolder(folder)
            if not holds(folder, result["output"]) and not pool.ImportMedia([result["output"]]):
                lines.append("%s could not be imported." % result["output"])
    pool.SetCurrentFolder(before)
    return lines


def selected_clips(pool):
    """Ids of the selected clips that are files, with their paths. Older versions answer with a table, not a list."""
    found = pool.GetSelectedClips() or []
    clips = found.values() if isinstance(found, dict) else found
    paths = {clip.GetUniqueId(): clip.GetClipProperty("File Path") for clip in clips}
    return {clip: path for clip, path in paths.items() if path}


def folder_of(folder, clip):
    """The bin that holds a clip."""
    if any(item.GetUniqueId() == clip for item in folder.GetClipList() or []):
        return folder
    inside = (folder_of(child, clip) for child in folder.GetSubFolderList() or [])
    return next((found for found in inside if found), None)


def holds(folder, path):
    """Whether a bin has a file already: the script was run before."""
    held = [item.GetClipProperty("File Path") for item in folder.GetClipList() or []]
    return os.path.realpath(path) in [os.path.realpath(other) for other in held if other]


def run_step(command, jobs):
    """What `voxmux step` says of each job, by the real path of its input. Anything may be None but `status`."""
    events = []
    try:
        ended = subprocess.run(
            [command, "step", "-"],
            input=json.dumps(jobs),
            stdout=subprocess.PIPE,
            encoding="utf-8",
            errors="replace",
            check=False,
            env=environment_for(command),
        )
        events = [event for event in map(event_of, ended.stdout.splitlines()) if event]
        message = "%s ended with %s and did not say why." % (command, ended.returncode)
    except OSError as error:
        message = "%s could not be started: %s" % (command, error)
    fault = {"message": message, "remedies": ["Set VOXMUX_COMMAND to the path of voxmux."]}
    # Where nothing was begun (a setting is wrong) the last line says why, for all of them.
    otherwise = {"status": "failed", "error": (events[-1].get("error") if events else None) or fault}
    said = {os.path.realpath(event["input"]): event for event in events if event["event"] == "file"}
    return {path: said.get(path, otherwise) for path in (os.path.realpath(job["input"]) for job in jobs)}


def environment_for(command):
    """npm puts node beside voxmux, and a Resolve that the desktop has started does not have that folder in its PATH."""
    folder = os.path.dirname(command)
    path = os.environ.get("PATH", os.defpath)
    return {**os.environ, "PATH": folder + os.pathsep + path} if folder else None


def event_of(line):
    try:
        event = json.loads(line)
    except ValueError:
        return None  # Said by something that is not voxmux.
    return event if isinstance(event, dict) and "event" in event else None


def describe(path, result):
    error = result.get("error")
    if error:
        remedies = " ".join(error["remedies"])
        # Keys of a job: here, only a preset can set them.
        where = " Put such a key into a preset, and set VOXMUX_PRESET to its path." if '`"' in remedies else ""
        return "%s: %s %s%s" % (path, error["message"], remedies, where)
    return "%s: %s%s" % (path, result["status"], " -> %s" % result["output"] if result.get("output") else "")


if "resolve" in globals():
    for text in regenerate_selected(
        globals()["resolve"], os.environ.get("VOXMUX_COMMAND", "voxmux"), os.environ.get("VOXMUX_PRESET", "")
    ):
        print(text)
