"""The phone's files as root sees them: bytes at paths, whether a user's file, an app's database, or another name for either."""

from __future__ import annotations

import fnmatch
import posixpath
from collections.abc import Iterator
from typing import TYPE_CHECKING

from backtrail.envs.androidworld.phone import databases
from backtrail.envs.androidworld.phone.apps import storage
from backtrail.envs.androidworld.phone.files import SHARED, as_bytes, as_text

if TYPE_CHECKING:
    from backtrail.envs.androidworld.phone.device import Phone

__all__ = ["DATA", "Volume"]

DATA = "/data/data"
"""Where apps keep what is theirs."""

_NAMES = ("/sdcard", "/mnt/sdcard", "/storage/self/primary", "/data/media/0")  # other names of the shared storage
_ALWAYS = (SHARED, DATA, "/data/local/tmp", "/data/media/0", "/system/bin")


class Volume:
    """Reads and writes the files of a phone; paths may use any name of the shared storage."""

    def __init__(self, phone: Phone):
        """See the files of ``phone``."""
        self._phone = phone

    def full(self, path: str) -> str:
        """Return the one name of a path, from the root, without dots."""
        path = posixpath.normpath(posixpath.join("/", path)).replace("//", "/")
        for name in _NAMES:
            if path == name or path.startswith(f"{name}/"):
                return SHARED + path[len(name) :]
        return path

    def is_file(self, path: str) -> bool:
        """Whether there is such a file."""
        path = self.full(path)
        return path in databases.paths(self._phone) or self._phone.files.read(path) is not None

    def is_directory(self, path: str) -> bool:
        """Whether there is such a directory."""
        path = self.full(path)
        if self._phone.files.exists(path):
            return self._phone.files.is_directory(path)
        return path == "/" or any(each == path or each.startswith(f"{path}/") for each in self._fixed())

    def exists(self, path: str) -> bool:
        """Whether there is such a file or directory."""
        return self.is_file(path) or self.is_directory(path)

    def read(self, path: str) -> bytes | None:
        """Return the content of a file; None if there is no such file."""
        path = self.full(path)
        if path in databases.paths(self._phone):
            return databases.dump(self._phone, path)
        text = self._phone.files.read(path)
        return None if text is None else as_bytes(text)

    def write(self, path: str, content: bytes, at: int | None = None) -> None:
        """Write a file, in a directory that exists.

        Args:
            path: Where.
            content: What.
            at: When, in seconds; None for now.

        Raises:
            ValueError: If a database is expected there and this is none, or a file or directory is in the way; nothing has
                changed then.
        """
        path = self.full(path)
        if self.is_directory(path):
            raise ValueError("Is a directory")
        self._check_way(posixpath.dirname(path))
        if path in databases.paths(self._phone):
            databases.load(self._phone, path, content)
        else:
            storage.write(self._phone, path, as_text(content), at)

    def make(self, path: str) -> None:
        """Make a directory, and those above it, where there is none.

        Raises:
            ValueError: If a file is in the way.
        """
        self._check_way(self.full(path))
        if not self.is_directory(path):
            storage.make(self._phone, self.full(path))

    def remove(self, path: str) -> None:
        """Remove a file or a directory with all that is in it; an app makes its database anew at once."""
        path = self.full(path)
        for each in databases.paths(self._phone):
            if each == path or each.startswith(f"{path}/"):
                databases.clear(self._phone, each)
        storage.remove(self._phone, path)

    def modified(self, path: str) -> int:
        """Return when a file was last written, in seconds."""
        return storage.modified(self._phone, self.full(path))

    def names(self, path: str) -> list[str]:
        """Return what is in a directory, sorted."""
        path = self.full(path)
        found = set(self._phone.files.names(path))
        inside = "/" if path == "/" else f"{path}/"
        for each in [*self._fixed(), *databases.paths(self._phone)]:
            if each.startswith(inside) and each != inside:
                found.add(each[len(inside) :].split("/")[0])
        return sorted(found)

    def walk(self, path: str) -> Iterator[str]:
        """Yield a path and all that is below it, in the spelling that is given."""
        yield path
        if self.is_directory(path):
            for name in self.names(path):
                yield from self.walk(posixpath.join(path, name))

    def glob(self, pattern: str) -> list[str]:
        """Return the paths that match a pattern, sorted; [] if none does."""
        found = ["/"] if pattern.startswith("/") else [""]
        for part in [part for part in pattern.split("/") if part]:
            found = [posixpath.join(base, name) for base in found for name in self._matching(base, part)]
        return sorted(found)

    def _check_way(self, path: str) -> None:
        while path != "/":
            if self.is_file(path):
                raise ValueError("Not a directory")
            path = posixpath.dirname(path)

    def _matching(self, base: str, part: str) -> list[str]:
        if not any(mark in part for mark in "*?["):
            return [part] if self.exists(posixpath.join(base, part)) else []
        if not self.is_directory(base):
            return []
        names = [name for name in self.names(base) if not name.startswith(".") or part.startswith(".")]
        return [name for name in names if fnmatch.fnmatchcase(name, part)]

    def _fixed(self) -> list[str]:
        """Return directories that are always there."""
        homes = [f"{DATA}/{app.package}" for app in self._phone.apps.values()]
        return [*_ALWAYS, *homes, *(posixpath.dirname(each) for each in databases.paths(self._phone))]
