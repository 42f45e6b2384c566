"""Plays DaVinci Resolve: the objects of its scripting README (Help > Documentation > Developer) that the script uses.

host.py SCRIPT FILE…: each file is a clip in the bin `Day 1`, all of them are selected; prints what the bins hold then.
"""

import json
import runpy
import sys


class Clip:
    def __init__(self, path):
        self.path = path

    def GetUniqueId(self):
        return "id of " + self.path

    def GetClipProperty(self, name):
        return {"File Path": self.path}[name]


class Folder:
    def __init__(self, name, folders=(), clips=()):
        self.name, self.folders, self.clips = name, list(folders), list(clips)

    def GetSubFolderList(self):
        return self.folders

    def GetClipList(self):
        return self.clips


class MediaPool:
    def __init__(self, root, selected):
        self.root, self.current, self.selected = root, root, selected

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
day = Folder("Day 1", clips=clips)
pool = MediaPool(Folder("Master", folders=[Folder("Empty"), day]), clips)
project = type("Project", (), {"GetMediaPool": lambda self: pool})()
manager = type("ProjectManager", (), {"GetCurrentProject": lambda self: project})()
resolve = type("Resolve", (), {"GetProjectManager": lambda self: manager})()
runpy.run_path(sys.argv[1], init_globals={"resolve": resolve})
held = {"day": [clip.path for clip in day.clips], "root": len(pool.root.clips), "atRoot": pool.current is pool.root}
print("HELD " + json.dumps(held))
