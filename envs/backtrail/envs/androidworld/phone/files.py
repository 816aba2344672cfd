"""The phone's file system: absolute paths to text; a directory is a path without content."""

from __future__ import annotations

import base64
import binascii
import json
import posixpath

from backtrail.envs.androidworld.phone.film import describe_film
from backtrail.envs.androidworld.phone.sound import describe_song

__all__ = ["SHARED", "Files", "as_bytes", "as_text"]

SHARED = "/storage/emulated/0"
"""Where users' files are; /sdcard is another name for it."""

_BINARY = "data:application/octet-stream;base64,"


def as_text(content: bytes) -> str:
    """Return bytes as the text that the phone's file system keeps: UTF-8 as it is, all else as a data URL.

    Of a song or a film it keeps what it says of itself, as JSON: the sound and the pictures would fill every snapshot, and
    nobody hears or sees them.
    """
    try:
        text = content.decode()
        if "\0" not in text and not text.startswith(_BINARY):
            return text
    except UnicodeDecodeError:
        pass  # no text
    about = describe_song(content) or describe_film(content)
    return _url(content) if about is None else json.dumps(about)


def _url(content: bytes) -> str:
    return _BINARY + base64.b64encode(content).decode()


def as_bytes(text: str) -> bytes:
    """Return the bytes of a file of the phone's file system."""
    if text.startswith(_BINARY):
        try:
            return base64.b64decode(text[len(_BINARY) :], validate=True)
        except binascii.Error:
            pass  # somebody typed this
    return text.encode()


class Files:
    """Files and directories in a dict that the phone's state holds."""

    def __init__(self, files: dict[str, str | None]):
        """Work on ``files``: path to content, None for a directory."""
        self._files = files

    def write(self, path: str, content: str) -> None:
        """Write a file; the directories above it come into being."""
        path = self.full(path)
        self.make(posixpath.dirname(path))
        self._files[path] = content

    def make(self, path: str) -> None:
        """Make a directory and those above it."""
        path = self.full(path)
        while path not in ("/", ""):
            self._files.setdefault(path, None)
            path = posixpath.dirname(path)

    def read(self, path: str) -> str | None:
        """Return a file's content; None if there is no such file."""
        return self._files.get(self.full(path))

    def exists(self, path: str) -> bool:
        """Whether there is a file or directory."""
        return self.full(path) in self._files

    def is_directory(self, path: str) -> bool:
        """Whether there is such a directory."""
        path = self.full(path)
        return path in self._files and self._files[path] is None

    def names(self, path: str) -> list[str]:
        """Return what is in a directory, sorted: directories first, as file managers list them."""
        path = self.full(path)
        inside = [each for each in self._files if posixpath.dirname(each) == path and each != path]
        return [
            posixpath.basename(each) for each in sorted(inside, key=lambda e: (self._files[e] is not None, e.lower()))
        ]

    def remove(self, path: str) -> None:
        """Remove a file, or a directory with all that is in it."""
        path = self.full(path)
        for each in [each for each in self._files if each == path or each.startswith(f"{path}/")]:
            del self._files[each]

    def move(self, path: str, to: str) -> None:
        """Move a file or directory; what is at the new path is replaced."""
        path, to = self.full(path), self.full(to)
        moved = {
            to + each[len(path) :]: c for each, c in self._files.items() if each == path or each.startswith(f"{path}/")
        }
        self.remove(path)
        self.remove(to)
        self.make(posixpath.dirname(to))
        self._files.update(moved)

    def copy(self, path: str, to: str) -> None:
        """Copy a file or directory."""
        path, to = self.full(path), self.full(to)
        copied = {
            to + each[len(path) :]: c for each, c in self._files.items() if each == path or each.startswith(f"{path}/")
        }
        self.make(posixpath.dirname(to))
        self._files.update(copied)

    def all(self) -> list[str]:
        """Return the paths of all files (not directories), sorted."""
        return sorted(path for path, content in self._files.items() if content is not None)

    @staticmethod
    def full(path: str) -> str:
        """Return a path without /sdcard, dots and a slash at the end."""
        path = posixpath.normpath(path)
        return SHARED + path[len("/sdcard") :] if path == "/sdcard" or path.startswith("/sdcard/") else path
