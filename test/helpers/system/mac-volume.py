"""Mounts a folder as a volume that treats names as macOS does: `mac-volume.py SOURCE MOUNT [nfd] [nolink]`.

Names that differ only in case or in Unicode normalization are one file (APFS, HFS+), whichever spelling is asked for.
`nfd` lists names decomposed, as HFS+ stores them. `nolink` refuses hard links, as exFAT and most shares do.
"""
import errno
import os
import sys
import unicodedata

from fusepy import FUSE, FuseOSError, Operations

SOURCE, MOUNT, *FLAGS = sys.argv[1:]


def folded(name):
    return unicodedata.normalize("NFD", unicodedata.normalize("NFD", name).casefold())


class MacVolume(Operations):
    def at(self, path):
        place = SOURCE
        for part in path.split("/")[1:]:
            if part:
                names = os.listdir(place) if os.path.isdir(place) else []
                place = os.path.join(place, next((one for one in names if folded(one) == folded(part)), part))
        return place

    def new(self, path):
        if len(path.rsplit("/", 1)[1].encode("utf-16-le")) > 2 * 255:
            raise FuseOSError(errno.ENAMETOOLONG)
        return self.at(path)

    def getattr(self, path, handle=None):
        status = os.lstat(self.at(path))
        return {key: getattr(status, key) for key in dir(status) if key.startswith("st_") and not key.endswith("_ns")}

    def readdir(self, path, handle):
        names = os.listdir(self.at(path))
        return [".", "..", *(unicodedata.normalize("NFD", one) if "nfd" in FLAGS else one for one in names)]

    def create(self, path, mode, info=None):
        return os.open(self.new(path), os.O_RDWR | os.O_CREAT | os.O_EXCL, mode)

    def open(self, path, flags):
        return os.open(self.at(path), flags)

    def read(self, path, size, offset, handle):
        return os.pread(handle, size, offset)

    def write(self, path, data, offset, handle):
        return os.pwrite(handle, data, offset)

    def truncate(self, path, length, handle=None):
        os.truncate(self.at(path), length)

    def link(self, target, source):
        if "nolink" in FLAGS:
            raise FuseOSError(errno.ENOTSUP)
        os.link(self.at(source), self.new(target))

    def rename(self, old, new):
        place = self.at(old)
        target = self.new(new)
        # A change of case or of normalization alone keeps the file.
        os.rename(place, os.path.join(os.path.dirname(target), os.path.basename(new)) if target == place else target)

    def mkdir(self, path, mode):
        os.mkdir(self.new(path), mode)

    def statfs(self, path):
        found = os.statvfs(SOURCE)
        return {key: getattr(found, key) for key in dir(found) if key.startswith("f_") and key != "f_fsid"}

    def unlink(self, path):
        os.unlink(self.at(path))

    def rmdir(self, path):
        os.rmdir(self.at(path))

    def chmod(self, path, mode):
        os.chmod(self.at(path), mode)

    def chown(self, path, user, group):
        os.chown(self.at(path), user, group)

    def utimens(self, path, times=None):
        os.utime(self.at(path), times)

    def symlink(self, target, source):
        os.symlink(source, self.new(target))

    def readlink(self, path):
        return os.readlink(self.at(path))

    def fsync(self, path, data_only, handle):
        os.fsync(handle)

    def release(self, path, handle):
        os.close(handle)


FUSE(MacVolume(), MOUNT, foreground=True, use_ino=True, entry_timeout=0, negative_timeout=0, attr_timeout=0)
