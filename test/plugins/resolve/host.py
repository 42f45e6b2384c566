"""Plays DaVinci Resolve: the objects of its scripting README (Help > Documentation > Developer) that the script uses.

host.py SCRIPT FILE…: each file is a clip in the bin `Day 1`, all of them are selected, with a timeline that is no file;
runs the script twice, prints what the bins hold then. RESOLVE=18 in the environment: as it was before 19.0.2.
"""

import json
import os
import runpy
import sys


class Remote:
    """An object of Resolve: what it does not have is None, not an AttributeError."""

    def __getattr__(self, name):
        return None


class Clip(Remote):
    def __init__(self, path):
        self.path = path

    def GetUniqueId(self):
        return "id of " + self.path

    def GetClipProperty(self, name):
        return {"File Path": self.path}.get(name, "")


class Folder(Remote):
    def __init__(self, name, folders=(), clips=()):
        self.name, self.folders, self.clips = name, list(folders), list(clips)

    def GetSubFolderList(self):
        return self.folders

    def GetClipList(self):
        return self.clips


class MediaPool(Remote):
    def __init__(self, root, selected):
        self.root, self.current, self.selected = root, root, selected
        if os.environ.get("RESOLVE") == "18":
            self.GetSelectedClips = None

    def GetRootFolder(self):
        return self.root

    def GetCurrentFolder(self):
        return self.current

    def SetCurrentFolder(self, folder):
        self.current = folder
        return True

    def GetSelectedClips(self):
        return self.selected

    def ImportMedia(self, paths):
        clips = [Clip(path) for path in paths]
        self.current.clips += clips
        return clips


clips = [Clip(path) for path in sys.argv[2:]]
day = Folder("Day 1", clips=clips + [Clip("")])
pool = MediaPool(Folder("Master", folders=[Folder("Empty"), day]), list(day.clips))
project = type("Project", (Remote,), {"GetMediaPool": lambda self: pool})()
manager = type("ProjectManager", (Remote,), {"GetCurrentProject": lambda self: project})()
resolve = type("Resolve", (Remote,), {"GetProjectManager": lambda self: manager})()
for _ in range(2):
    runpy.run_path(sys.argv[1], init_globals={"resolve": resolve})
held = {
    "day": [clip.path for clip in day.clips if clip.path],
    "root": len(pool.root.clips),
    "atRoot": pool.current is pool.root,
}
print("HELD " + json.dumps(held))
