"""Hardware, and the execution providers that can run on it, under ORT's names."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from onnx_light_ort.host.ep_libraries import RegisteredLibrary
    from onnx_light_ort.host.unload_report import UnloadReport

Origin: TypeAlias = Literal["host", "caller", "plugin"]


class OrtHardwareDeviceType(IntEnum):
    CPU = 0
    GPU = 1
    NPU = 2


@dataclass(frozen=True)
class HardwareDevice:
    """A piece of hardware, as an execution provider is offered it.

    This host enumerates its own CPU and nothing else. A caller who knows that a provider's hardware is there may
    describe it and hand it to :func:`register_execution_provider_library`; nothing checks what the description says.

    Args:
        type: what kind of hardware it is.
        vendor_id: PCI id of the vendor.
        device_id: the vendor's id of the model; not of the one device.
        vendor: the vendor's name.
        metadata: whatever else a provider may look for.
        origin: who says that it is there: "host", "caller" or "plugin". Not in ORT.
    """

    type: OrtHardwareDeviceType
    vendor_id: int = 0
    device_id: int = 0
    vendor: str = ""
    metadata: Mapping[str, str] = field(default_factory=dict, hash=False)
    origin: Origin = "caller"


class OrtEpDevice:
    """An execution provider on a piece of hardware; see :func:`get_ep_devices`.

    What it says stays readable after its library was unregistered, but no session can be made with it any more. It does
    not keep the library.
    """

    __slots__ = ("_factory", "_library", "_position", "device", "ep_metadata", "ep_name", "ep_options", "ep_vendor")

    def __init__(
        self,
        ep_name: str,
        ep_vendor: str,
        ep_metadata: Mapping[str, str],
        ep_options: Mapping[str, str],
        device: HardwareDevice,
        *,
        library: RegisteredLibrary | None = None,
        factory: int = 0,
        position: int = 0,
    ) -> None:
        self.ep_name = ep_name
        self.ep_vendor = ep_vendor
        #: What the provider says of itself on this hardware; "version" and "library_path" among it.
        self.ep_metadata = ep_metadata
        #: Options that a session gets unless its caller gives others.
        self.ep_options = ep_options
        self.device = device
        self._library = library
        self._factory = factory
        self._position = position

    @property
    def factory(self) -> int:
        """Which of its library's factories offers it. Not in ORT."""
        return self._factory

    def __repr__(self) -> str:
        hardware = f"{self.device.type.name} of {self.device.vendor!r}"
        return f"OrtEpDevice({self.ep_name!r} on {hardware})"


def register_execution_provider_library(
    registration_name: str,
    library_path: str | os.PathLike[str],
    *,
    hardware_devices: Sequence[HardwareDevice] = (),
    bootstrap: bool = False,
) -> None:
    """Loads a library of execution providers and has it create its factories: both happen, or neither.

    Args:
        registration_name: the name that :func:`unregister_execution_provider_library` takes; the library is told it.
        library_path: absolute path of the library.
        hardware_devices: hardware that the caller knows of, beside the CPU that the factories are always offered. Not
            in ORT.
        bootstrap: whether the library may import ``OrtGetApiBase``, which is then visible to the whole process. Not in
            ORT.

    Raises:
        LibraryError (also a Fail): the library cannot be loaded, is not admitted, or its registration failed; nothing
            of it is left.
        Fail: the name is taken.
    """
    from onnx_light_ort.host.ep_libraries import EP_LIBRARIES

    EP_LIBRARIES.register(registration_name, library_path, hardware_devices, bootstrap=bootstrap)


def unregister_execution_provider_library(registration_name: str) -> UnloadReport:
    """Gives up a library's devices and factories, and unloads it.

    Returns:
        Whether the library left the process, and what keeps it where it did not. (None in ORT.)

    Raises:
        Fail: no library has that name, or sessions use it; the message names them.
    """
    from onnx_light_ort.host.ep_libraries import EP_LIBRARIES

    return EP_LIBRARIES.unregister(registration_name)


def get_ep_devices() -> list[OrtEpDevice]:
    """The execution providers that sessions can use, each on the hardware that it can use.

    The engine comes first, as "CPUExecutionProvider"; then what the registered libraries offer, in the order of their
    registration.
    """
    from onnx_light_ort.host.ep_libraries import EP_LIBRARIES

    return EP_LIBRARIES.devices()
