"""Options of a subcommand that name plugin libraries, and what they do to a session."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from onnx_light_ort.session_options import SessionOptions


class _Add(argparse.Action):
    """A library, or an option for the one that was named last."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: str | Sequence[Any] | None,
        option_string: str | None = None,
    ) -> None:
        if isinstance(values, Path):
            namespace.ep = [*namespace.ep, (values, {})]
            return
        assert isinstance(values, str)
        key, separator, value = values.partition("=")
        if not separator or not key:
            parser.error(f"{option_string} {values}: give KEY=VALUE")
        if not namespace.ep:
            parser.error(f"{option_string} {values}: give it after the --ep that it is for")
        namespace.ep[-1][1][key] = value


def add_plugin_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds ``--ep``, ``--ep-option`` and ``--custom-ops``."""
    parser.add_argument(
        "--ep",
        action=_Add,
        type=Path,
        default=[],
        metavar="LIB",
        help="a plugin EP library; several are asked in the order given",
    )
    parser.add_argument("--ep-option", action=_Add, metavar="KEY=VALUE", help="an option of the EP that was named last")
    parser.add_argument(
        "--custom-ops", action="append", type=Path, default=[], metavar="LIB", help="a custom-op library"
    )


def use_plugins(arguments: argparse.Namespace, options: SessionOptions) -> None:
    """Loads the libraries that the arguments name and has `options` use them; each EP on every device that it offers.

    Raises:
        Error: a library cannot be used.
        ValueError: an EP offers no device on this machine.
    """
    import onnx_light_ort as ort

    for library in arguments.custom_ops:
        options.register_custom_ops_library(library.absolute())
    names: list[str] = []
    for library, entries in arguments.ep:
        known = len(ort.get_ep_devices())
        # Some EPs are called as their library is registered.
        name = library.name.split(".")[0].removeprefix("lib")
        names.append(name if name not in names else f"{name}_{len(names)}")
        ort.register_execution_provider_library(names[-1], library.absolute())
        devices = ort.get_ep_devices()[known:]
        if not devices:
            raise ValueError(f"{library}: none of its EPs supports a device of this machine")
        for name in dict.fromkeys(device.ep_name for device in devices):
            options.add_provider_for_devices([device for device in devices if device.ep_name == name], entries)
