"""A real Android emulator as a device: touches and pictures over its gRPC, the rest over adb.

Every worker has an adb server, a temporary folder and (for the accessibility trees) a port of its own.
"""

from __future__ import annotations

import contextlib
import re
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from backtrail.envs.androidworld.accessibility import Forwarder, dumped_elements
from backtrail.envs.androidworld.adb import Adb, AdbServer, find_adb
from backtrail.envs.androidworld.backend import DeviceError, Element
from backtrail.envs.androidworld.controller import Controller
from backtrail.envs.androidworld.hands import Hands
from backtrail.envs.androidworld.launch import EmulatorProcess
from backtrail.envs.androidworld.patience import Patience
from backtrail.envs.androidworld.snapshots import Snapshots

if TYPE_CHECKING:
    import numpy as np

    from backtrail.envs.androidworld.actions import Action

__all__ = ["EmulatorBackend"]

_TOP = re.compile(r"visible=true.*topActivity=ComponentInfo\{([^}\s]+)\}")
# overlays are drawn on pictures
_NO_OVERLAYS = ("settings put system pointer_location 0", "settings put system show_touches 0")
_SIZE = re.compile(r"(\d+)x(\d+)")


class EmulatorBackend:
    """A phone on an Android emulator.

    `size` is that of the screen as it is held now: an app that turns it swaps height and width, in pictures as in bounds.
    An index in an action means an element of the list that `elements` returned last, not of one the agent never saw.
    """

    def __init__(
        self,
        *,
        avd: str | None = None,
        launch: bool = False,
        console_port: int | None = None,
        grpc_port: int | None = None,
        tree: Literal["forwarder", "uiautomator"] = "forwarder",
        a11y_apk: str | None = None,
        snapshot: str | None = None,
        max_snapshots: int = 8,
        root: bool = True,
        adb_path: str | None = None,
        adb_server_port: int | None = None,
        emulator_path: str | None = None,
        emulator_options: Sequence[str] = (),
        patience: Patience | None = None,
    ):
        """Connect to an emulator, or launch one.

        Args:
            avd: The virtual device to launch.
            launch: Start an emulator (without a window) rather than connect to a running one.
            console_port: Of the running emulator (5554 by default), or for the new one (a free one).
            grpc_port: The same for gRPC (8554 by default: ``emulator -grpc 8554``).
            tree: Where UI elements come from: the accessibility forwarder app, or ``uiautomator dump`` (no app to install,
                slower, no hints, fails on moving screens, other numbers).
            a11y_apk: The forwarder's APK, to install it where it is missing.
            snapshot: The emulator's snapshot that every reset loads; by default one is saved at the first reset.
            max_snapshots: How many of `save` to keep (about 1 GB of disk each); the oldest are deleted.
            root: Make adb root, which the checks of tasks need to read the data of apps.
            adb_path: The adb binary, where it is not to be searched for.
            adb_server_port: A server that others look after, instead of one of our own.
            emulator_path: The emulator's binary, likewise.
            emulator_options: More options for the emulator that is launched.
            patience: Time-outs.

        Raises:
            ValueError: If the arguments do not go together.
            FileNotFoundError: If there is no emulator to launch.
            gymnasium.error.DependencyNotInstalled: If the extra ``android`` is missing.
            DeviceError: If the emulator does not come up or does not answer.
        """
        if launch != (avd is not None):
            raise ValueError(f"Expected avd exactly with launch=True, got launch={launch} and avd={avd!r}")
        if tree not in ("forwarder", "uiautomator"):
            raise ValueError(f"Expected tree to be 'forwarder' or 'uiautomator', got {tree!r}")
        if max_snapshots < 1:
            raise ValueError(f"Expected max_snapshots of 1 or more, got {max_snapshots}")
        self.tree = tree
        self.patience = patience = patience or Patience()
        self.size = self._upright = (0, 0)
        self._base, self._max_snapshots = snapshot, max_snapshots
        self._root = root
        self._seen: list[Element] = []
        self._temporary = tempfile.TemporaryDirectory(prefix="backtrail-android-")
        self.folder = Path(self._temporary.name)
        """A folder of this device alone, for whatever has to lie on this machine's disk; `close` deletes it."""
        self._server: AdbServer | None = None
        self._process: EmulatorProcess | None = None
        self._forwarder: Forwarder | None = None
        self._controller: Controller | None = None
        self._snapshots: Snapshots | None = None
        try:
            path = find_adb(adb_path)
            if adb_server_port is None:
                self._server = AdbServer(path, self.folder)
            port = adb_server_port or (self._server.port if self._server else 0)
            if avd is not None:
                self._process = EmulatorProcess(
                    avd,
                    self.folder,
                    adb=path,
                    adb_server_port=port,
                    emulator=emulator_path,
                    console_port=console_port,
                    grpc_port=grpc_port,
                    options=emulator_options,
                )
                console_port, grpc_port = self._process.console_port, self._process.grpc_port
            self.console_port, self.grpc_port = console_port or 5554, grpc_port or 8554
            serial = f"emulator-{self.console_port}"
            self._adb = Adb(
                path, serial, self._server or port, self.folder, timeout=patience.command, patience=patience.connect
            )
            self._connect(a11y_apk)
        except BaseException:
            self.close()
            raise

    def reset(self) -> None:
        """Load the base snapshot; without one, go home and save it."""
        if self._base is None:
            self._hold.key("GoHome")
            self.elements()  # the screen has come to rest
            self._base = self._kept.save(keep=True)
        else:
            self._load(self._base)
            self._hold.key("GoHome")

    def screenshot(self) -> np.ndarray:
        """Return the picture of the screen, (height, width, 3) uint8, as a fresh array."""
        picture = self._hold.screenshot()
        self.size = (picture.shape[0], picture.shape[1])
        return picture

    def elements(self) -> list[Element]:
        """Return the UI elements of a tree that was made after this call, when the screen is at rest.

        Call it before `screenshot`, so that both show the same.

        Raises:
            StaleScreen: If no such tree arrives.
        """
        if self._forwarder is None:
            self._seen = dumped_elements(self.adb)
        else:
            self._seen = self._forwarder.elements(self.patience.tree, self.patience.quiet, self.patience.settle)
        self._look()
        return self._seen.copy()

    def activity(self) -> str:
        """Return the activity in front as ``package/class``, or "" if there is none."""
        found = _TOP.search(self.adb.shell("am stack list"))
        return found[1] if found else ""

    def act(self, action: Action) -> None:
        """Carry out a valid action.

        Raises:
            ActionError: If there is no such element or app; nothing has been done then.
        """
        turned = self._look()
        self._hands.act(action, self._seen, self.size, turned)

    @property
    def dropped(self) -> str:
        """Characters of the last text that adb cannot type and that were left out."""
        return self._hands.dropped

    @property
    def build(self) -> str:
        """The build of Android, ``ro.build.fingerprint``."""
        return self.adb.words("getprop", "ro.build.fingerprint").strip()

    def relay_forests(self, port: int | None) -> None:
        """Send every forest of the forwarder on to a server on this machine, too; with None no more."""
        if self._forwarder is not None:
            self._forwarder.relay_to(port)

    def shell(self, command: str) -> str:
        """Run a command in the device's shell and return its standard output.

        Raises:
            CommandError: If its exit status is not zero.
        """
        return self.adb.shell(command)

    def pull(self, path: str) -> bytes:
        """Return the content of a file on the device.

        Raises:
            FileNotFoundError: If there is no such file.
        """
        return self.adb.pull(path)

    def push(self, path: str, content: bytes) -> None:
        """Write a file on the device."""
        self.adb.push(path, content)

    def save(self) -> str:
        """Save a snapshot and return its name; the oldest one goes if there are too many."""
        return self._kept.save()

    def restore(self, saved: bytes | str) -> None:
        """Load a snapshot that `save` returned.

        Raises:
            SnapshotError: If it is not kept (any more); nothing has changed then.
        """
        self._load(self._kept.check(saved))

    def close(self) -> None:
        """Delete our snapshots, and end what was started for this device: nothing else on this machine is touched."""
        if self._controller is not None:
            if self._snapshots is not None:
                with contextlib.suppress(DeviceError):  # of an emulator that is gone, the next user deletes them
                    self._snapshots.forget(at_once=True)
            self._controller.close()
            self._controller = None
        for part in (self._forwarder, self._process, self._server):
            if part is not None:
                part.close()
        self._forwarder = self._process = self._server = None
        self._temporary.cleanup()

    @property
    def adb(self) -> Adb:
        """The adb client for this device, for what needs more of adb than a shell (``run("install", ...)``)."""
        _ = self._hold
        return self._adb

    @property
    def _hold(self) -> Controller:
        if self._controller is None:
            raise DeviceError("The device is closed: make a new one")
        return self._controller

    @property
    def _kept(self) -> Snapshots:
        if self._controller is None or self._snapshots is None:
            raise DeviceError("The device is closed: make a new one")
        return self._snapshots

    def _look(self) -> bool:
        """Set `size` to that of the screen as it is held now, and return whether it is turned on its side."""
        height, width = self._upright
        turned = self._hold.wide() != (width > height)
        self.size = (width, height) if turned else (height, width)
        return turned

    def _connect(self, a11y_apk: str | None) -> None:
        patience = self.patience
        wait = patience.boot if self._process else patience.connect
        self._controller = Controller(self.grpc_port, connect=wait, timeout=patience.command, check=self._alive)
        self._hands = Hands(self._adb, self._controller, patience.keyboard)
        self._wait_booted(patience.boot)
        said = self.adb.words("wm", "size")
        sizes = _SIZE.findall(said)
        if not sizes:
            raise DeviceError(f"Expected the size of the screen from `wm size`, got {said!r}")
        width, height = map(int, sizes[-1])  # an override comes last
        self.size = self._upright = (height, width)
        key = self.folder.name.rpartition("-")[2]
        self._snapshots = Snapshots(self._controller, key, self._max_snapshots, patience.snapshot)
        if self.tree == "forwarder":
            self._forwarder = Forwarder(self.adb)
            self._forwarder.install(a11y_apk)
        self._prepare()
        if self._forwarder is not None:  # its service takes a while to come up
            self._forwarder.elements(patience.connect, patience.quiet, patience.settle)

    def _prepare(self) -> None:
        """Set what every snapshot may have otherwise, in one command line."""
        told = self._forwarder.commands if self._forwarder else ()
        user = self.adb.shell(" && ".join(("whoami", *_NO_OVERLAYS, *told)), timeout=2 * self.patience.command).split()
        if self._root and user[:1] != ["root"]:
            self._become_root()

    def _alive(self) -> None:
        if self._process:
            self._process.check()

    def _wait_booted(self, patience: float) -> None:
        deadline = time.monotonic() + patience
        while True:
            self._alive()
            if self._hold.booted():
                self.adb.wait(max(1.0, deadline - time.monotonic()))
                if self.adb.words("getprop", "sys.boot_completed").strip() == "1":
                    return
            if time.monotonic() > deadline:
                raise DeviceError(
                    f"Android on {self.adb.serial} was not up after {patience:g} s. Without KVM a start takes "
                    "many minutes (`backtrail doctor` tells); a lock file left in the AVD's folder can also stop it"
                )
            time.sleep(0.2)

    def _become_root(self) -> None:
        said = self.adb.run("root").decode("utf-8", "replace").strip()
        deadline = time.monotonic() + self.patience.connect
        while "cannot run as root" not in said and time.monotonic() < deadline:
            with contextlib.suppress(DeviceError):  # adbd starts anew, and cuts us off
                if self.adb.words("whoami").strip() == "root":
                    return
            time.sleep(0.2)
        raise DeviceError(
            f"adb cannot become root on {self.adb.serial} ({said}): use a system image without the Play Store, "
            "or pass root=False"
        )

    def _load(self, name: str) -> None:
        self._kept.load(name)
        self._seen = []
        self._wait_booted(self.patience.connect)
        self._prepare()
