"""What a library of execution providers offers, found out by running it."""

from __future__ import annotations

import os
from typing import Any

from onnx_light_ort._native import abi
from onnx_light_ort._native import engine as native
from onnx_light_ort.ep_device import OrtEpDevice
from onnx_light_ort.errors import Error
from onnx_light_ort.host.ep_libraries import EpLibraries, RegisteredLibrary
from onnx_light_ort.host.plugin_execution_provider import ChosenDevices
from onnx_light_ort.host.plugin_kernels import PluginKernels

_NAME = "inspected"


def inspect_providers(path: str | os.PathLike[str], *, bootstrap: bool = False) -> dict[str, Any]:
    """Registers a library, asks its factories for devices and their providers for kernels, and unregisters it.

    Args:
        path: absolute path of the library.
        bootstrap: whether it may import ``OrtGetApiBase``.

    Returns:
        Plain data: ``factories``, each with its devices and the kernels of a provider on the first of them (None where
        it has no registry), and how the library was ``unloaded``.

    Raises:
        LibraryError (also a Fail): the library cannot be loaded, is not admitted, or its registration failed.
    """
    libraries = EpLibraries()
    library = libraries.register(_NAME, path, bootstrap=bootstrap)
    try:
        factories = [_describe(library, *item) for item in enumerate(library.factories)]
    finally:
        unloading = libraries.unregister(_NAME)
    return {"factories": factories, "unloaded": str(unloading)}


def _describe(library: RegisteredLibrary, place: int, identity: tuple[str, str, int, str]) -> dict[str, Any]:
    name, vendor, vendor_id, version = identity
    devices = [device for device in library.devices if device.factory == place]
    described: dict[str, Any] = {
        "name": name,
        "vendor": vendor,
        "vendor_id": vendor_id,
        "version": version,
        "devices": [_describe_device(device) for device in devices],
        "kernels": None,
        "error": None,
    }
    if devices:
        try:
            described["kernels"] = _kernels(library, ChosenDevices(devices[:1]))
        except Error as error:
            described["error"] = str(error)
    return described


def _describe_device(device: OrtEpDevice) -> dict[str, Any]:
    hardware = device.device
    return {
        "type": hardware.type.name,
        "vendor": hardware.vendor,
        "vendor_id": hardware.vendor_id,
        "device_id": hardware.device_id,
        "metadata": dict(device.ep_metadata),
        "options": dict(device.ep_options),
    }


def _kernels(library: RegisteredLibrary, devices: ChosenDevices) -> list[dict[str, Any]] | None:
    """What a provider registers in a session that has no options but the device's."""
    options = abi.SessionOptions()
    for key, value in devices.config_entries({}).items():
        options.add_config_entry(key, value)
    services = abi.SessionServices(options, native.MemoryBudget(0), "onnx_light_ort", 3)
    ep = library.native.create_ep(devices.positions, options, services, "onnx-light-ort inspect")
    try:
        kernels = PluginKernels(ep)
        return None if kernels.native is None else [kernel.describe() for kernel in kernels.kernels]
    finally:
        ep.close()
