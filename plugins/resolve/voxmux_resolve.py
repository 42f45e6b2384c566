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
    clips = selected_clips(pool) if pool else []
    if not clips:
        return ["Select clips in the media pool first."]
    jobs = [{"input": path, **({"preset": preset} if preset else {})} for path in dict.fromkeys(clips.values())]
    results = run_step(command, jobs)
    before = pool.GetCurrentFolder()
    lines = []
    for clip, path in clips.items():
        result = results.get(os.path.realpath(path), {"status": "failed", "error": None})
        lines.append(describe(path, result))
        if result["status"] in ("done", "skipped") and result.get("output"):
            pool.SetCurrentFolder(folder_of(pool.GetRootFolder(), clip) or before)
            if not pool.ImportMedia([result["output"]]):
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


def run_step(command, jobs):
    """What `voxmux step` says of each job, by the real path of its input. Anything may be None but `status`."""
    try:
        ended = subprocess.run(
            [command, "step", "-"], input=json.dumps(jobs), stdout=subprocess.PIPE, encoding="utf-8", check=False
        )
    except OSError as error:
        fault = {"message": "%s could not be started: %s" % (command, error), "remedies": ["Set VOXMUX_COMMAND."]}
        return {os.path.realpath(job["input"]): {"status": "failed", "error": fault} for job in jobs}
    events = [json.loads(line) for line in ended.stdout.splitlines() if line]
    return {os.path.realpath(event["input"]): event for event in events if event["event"] == "file"}


def describe(path, result):
    error = result.get("error")
    if error:
        return "%s: %s %s" % (path, error["message"], " ".join(error["remedies"]))
    return "%s: %s%s" % (path, result["status"], " -> %s" % result["output"] if result.get("output") else "")


if "resolve" in globals():
    for text in regenerate_selected(
        globals()["resolve"], os.environ.get("VOXMUX_COMMAND", "voxmux"), os.environ.get("VOXMUX_PRESET", "")
    ):
        print(text)
