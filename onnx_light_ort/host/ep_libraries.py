"""Libraries of execution providers that this process registered, and the devices that they offer."""

from __future__ import annotations

import gc
import logging
import os
import threading
import weakref
from collections.abc import Sequence
from functools import cache

from onnx_light_ort._native import abi
from onnx_light_ort.engine.assignment import ENGINE
from onnx_light_ort.ep_device import HardwareDevice, Origin, OrtEpDevice, OrtHardwareDeviceType
from onnx_light_ort.errors import Fail, InvalidArgument
from onnx_light_ort.host.loader import LoadedLibrary, call_create_ep_factories, load_library
from onnx_light_ort.host.unload_report import UnloadReport

_log = logging.getLogger("onnx_light_ort")

VIRTUAL_SUFFIX = ".virtual"
"""A library that is registered under a name that ends so may offer devices that are not there, as in ORT."""

_ALLOW_VIRTUAL_DEVICES = "allow_virtual_devices"


OfferedHardware = tuple[abi.HardwareDevice, HardwareDevice]


class RegisteredLibrary:
    """One registered library: its factories, and the devices that they offer."""

    def __init__(
        self,
        name: str,
        loaded: LoadedLibrary,
        native: abi.EpLibrary,
        offered: Sequence[tuple[abi.HardwareDevice, HardwareDevice]],
    ) -> None:
        self.name = name
        self.native = native
        self._loaded = loaded
        hardware = [known for _, known in offered]
        self.devices = tuple(
            OrtEpDevice(
                ep_name,
                ep_vendor,
                metadata,
                options,
                _hardware(described) if place is None else hardware[place],
                library=self,
                factory=factory,
                position=position,
            )
            for position, (ep_name, ep_vendor, metadata, options, factory, place, described) in enumerate(
                native.devices([handle for handle, _ in offered])
            )
        )
        # At exit sessions end first: they were made later.
        self._finalizer = weakref.finalize(self, _release, native, loaded)
        self.is_registered = True

    @property
    def path(self) -> str:
        return str(self._loaded.inspection.path)

    @property
    def factories(self) -> list[tuple[str, str, int, str]]:
        """Name, vendor, vendor id and version of each factory."""
        return list(self.native.factories)

    def sessions(self) -> list[str]:
        """Names of the sessions that use it."""
        return list(self.native.sessions)

    def close(self) -> UnloadReport:
        """Gives up devices, factories and the library."""
        self.is_registered = False
        self._finalizer.detach()
        return _release(self.native, self._loaded)


class EpLibraries:
    """The libraries of a process by their registered names. Threads may share it: while one registers, others wait."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._libraries: dict[str, RegisteredLibrary] = {}
        self._busy = False

    def register(
        self,
        name: str,
        path: str | os.PathLike[str],
        hardware_devices: Sequence[HardwareDevice] = (),
        *,
        bootstrap: bool = False,
    ) -> RegisteredLibrary:
        """Loads a library and has it create its factories: both happen, or neither.

        Raises:
            LibraryError (also a Fail): the library cannot be loaded, is not admitted, or its registration failed.
            Fail: the name is taken.
        """
        if not name:
            raise InvalidArgument("a library of execution providers is registered under a name, and this one is empty")
        with self._lock:
            self._refuse_reentry(name)
            if name in self._libraries:
                raise Fail(
                    f"a library is already registered under {name!r} ({self._libraries[name].path}): unregister it, or "
                    "take another name"
                )
            self._busy = True
            try:
                self._set_virtual(name, registered=True)
                library = _register(name, path, hardware_devices, bootstrap)
                self._libraries[name] = library
            finally:
                self._busy = False
                self._set_virtual(name, registered=name in self._libraries)
            return library

    def unregister(self, name: str) -> UnloadReport:
        """Gives up a library's devices and factories, and unloads it.

        Raises:
            Fail: no library has that name, or sessions use it; the message names them.
        """
        with self._lock:
            self._refuse_reentry(name)
            library = self._libraries.get(name)
            if library is None:
                known = ", ".join(map(repr, self._libraries)) or "none"
                raise Fail(f"no library is registered under {name!r}; registered: {known}")
            if library.sessions():
                gc.collect()  # a session that only an old traceback remembers does not count
            if sessions := library.sessions():
                raise Fail(
                    f"the library registered under {name!r} ({library.path}) is used by {len(sessions)} session(s): "
                    f"{'; '.join(sessions)}. Let go of them first"
                )
            self._busy = True
            try:
                del self._libraries[name]
                report = library.close()
            finally:
                self._busy = False
                self._set_virtual(name, registered=False)
            if not report.unmapped:
                _log.info("%s: %s", library.path, report)
            return report

    def devices(self) -> list[OrtEpDevice]:
        """The engine's device, then those of the libraries in the order of their registration."""
        with self._lock:
            return [_engine_device(), *(device for library in self._libraries.values() for device in library.devices)]

    def _refuse_reentry(self, name: str) -> None:
        if self._busy:
            raise Fail(f"{name!r}: another library is being registered or unregistered: wait until that has ended")

    def _set_virtual(self, name: str, *, registered: bool) -> None:
        """Tells plugins whether a library that may offer virtual devices is registered."""
        if not name.endswith(VIRTUAL_SUFFIX):
            return
        if registered or any(other.endswith(VIRTUAL_SUFFIX) for other in self._libraries):
            abi.set_environment_entry(_ALLOW_VIRTUAL_DEVICES, "1")
        else:
            abi.remove_environment_entry(_ALLOW_VIRTUAL_DEVICES)


def _register(
    name: str, path: str | os.PathLike[str], hardware_devices: Sequence[HardwareDevice], bootstrap: bool
) -> RegisteredLibrary:
    offered = [(abi.cpu_hardware(), host_cpu()), *((_native(device), device) for device in hardware_devices)]
    offered.sort(key=lambda item: item[1].type)  # as ORT orders them
    loaded = load_library(path, bootstrap=bootstrap)
    try:
        native = call_create_ep_factories(loaded, name, [handle for handle, _ in offered])
        try:
            return RegisteredLibrary(name, loaded, native, offered)
        except BaseException:
            native.close()
            raise
    except BaseException:
        loaded.close()
        raise


def _release(native: abi.EpLibrary, loaded: LoadedLibrary) -> UnloadReport:
    native.close()
    return loaded.close()


def host_cpu() -> HardwareDevice:
    """The CPU that this process runs on."""
    return _hardware(abi.cpu_hardware().description, "host")


def _hardware(described: tuple[int, int, int, str, dict[str, str]], origin: Origin = "plugin") -> HardwareDevice:
    type_number, vendor_id, device_id, vendor, metadata = described
    return HardwareDevice(OrtHardwareDeviceType(type_number), vendor_id, device_id, vendor, metadata, origin)


def _native(device: HardwareDevice) -> abi.HardwareDevice:
    return abi.HardwareDevice(
        int(device.type), device.vendor_id, device.device_id, device.vendor, dict(device.metadata)
    )


@cache
def _engine_device() -> OrtEpDevice:
    from onnx_light_ort import __version__

    return OrtEpDevice(ENGINE, "onnx-light-ort", {"version": __version__}, {}, host_cpu())


EP_LIBRARIES = EpLibraries()
"""Of this process."""
