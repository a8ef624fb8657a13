"""The exceptions of this package, named as ORT's Python package names its own.

``code`` is the ``OrtErrorCode`` that the exception stands for, so that a caller can tell errors apart by number.
"""

from __future__ import annotations

__all__ = [
    "DeviceReset",
    "EPFail",
    "EngineError",
    "Error",
    "Fail",
    "InvalidArgument",
    "InvalidGraph",
    "InvalidProtobuf",
    "MissingInput",
    "ModelLoadCanceled",
    "ModelLoaded",
    "ModelRequiresCompilation",
    "NoModel",
    "NoSuchFile",
    "NodeFail",
    "NotFound",
    "NotImplemented",
    "OutOfMemory",
    "RuntimeException",
    "exception_for_code",
]


class Error(Exception):
    """Base of all of them."""

    code: int = 1


class Fail(Error):
    """The model or a run of it failed for a reason that no other class names."""

    code = 1


class InvalidArgument(Error):
    """A value that the caller gave is wrong: a name, a type, a shape."""

    code = 2


class NoSuchFile(Error):
    """A file that was to be loaded does not exist."""

    code = 3


class NoModel(Error):
    """No model was given."""

    code = 4


class EngineError(Error):
    """The engine broke an invariant of its own."""

    code = 5


class RuntimeException(Error):
    """A run failed unexpectedly, e.g. because memory ran out."""

    code = 6


class InvalidProtobuf(Error):
    """The bytes are no serialized ModelProto."""

    code = 7


class ModelLoaded(Error):
    """A model was already loaded."""

    code = 8


class NotImplemented(Error):
    """Valid, and not supported here."""

    code = 9


class InvalidGraph(Error):
    """The graph breaks a rule of ONNX or of an operator's schema."""

    code = 10


class EPFail(Error):
    """An execution provider failed."""

    code = 11


class ModelLoadCanceled(Error):
    """Loading was cancelled by the caller."""

    code = 12


class ModelRequiresCompilation(Error):
    """The model must be compiled first."""

    code = 13


class NotFound(Error):
    """What was asked for does not exist."""

    code = 14


class DeviceReset(Error):
    """The device was reset during the call."""

    code = 15


class MissingInput(InvalidArgument, ValueError):
    """A run was not fed all required inputs. ORT's Python package raises ValueError here."""


class NodeFail(Fail, InvalidArgument):
    """A node of a run cannot compute what it was given: shapes that do not fit, an index out of range. ORT's Python
    package raises one or the other class here, by operator."""


class OutOfMemory(Fail, MemoryError):
    """An allocation failed, or would have passed the session's memory limit. ORT's Python package raises Fail here."""


_BY_CODE = {
    cls.code: cls
    for cls in (
        Fail,
        InvalidArgument,
        NoSuchFile,
        NoModel,
        EngineError,
        RuntimeException,
        InvalidProtobuf,
        ModelLoaded,
        NotImplemented,
        InvalidGraph,
        EPFail,
        ModelLoadCanceled,
        ModelRequiresCompilation,
        NotFound,
        DeviceReset,
    )
}


def exception_for_code(code: int) -> type[Error]:
    """The class that stands for an ``OrtErrorCode``; :class:`Fail` for a number that is none."""
    return _BY_CODE.get(code, Fail)
