"""Custom ops of loaded libraries, as operators that planning resolves and makes kernels of.

A name may stand for several custom ops. A node gets the one whose versions hold the opset that the model imports and
whose declared types take the node's; where two are left, planning refuses and names them.
"""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Iterable, Mapping, MutableMapping, Sequence
from typing import TYPE_CHECKING, Any

from onnx import TypeProto

from onnx_light_ort import errors
from onnx_light_ort._abi_enums import OrtCustomOpInputOutputCharacteristic as Characteristic
from onnx_light_ort._native import abi
from onnx_light_ort.engine.operator_schema import ForeignOperator, FormalParameter
from onnx_light_ort.engine.value_type import is_element_type, tensor_type
from onnx_light_ort.errors import Error, Fail
from onnx_light_ort.host.loader import LoadedLibrary, register_custom_ops_library
from onnx_light_ort.host.node_description import describe_arguments, describe_attributes, shapeless_type

if TYPE_CHECKING:
    from onnx_light_ort.engine.constant import Constant
    from onnx_light_ort.engine.graph import Node
    from onnx_light_ort.engine.kernel import KernelProduct
    from onnx_light_ort.engine.operator_schema import Option

_log = logging.getLogger("onnx_light_ort")

#: What an argument of undefined type takes: any dense tensor.
_ANY_TENSOR = frozenset(number for number in range(1, 64) if is_element_type(number))

_OPTIONS: dict[int, Option] = {
    Characteristic.INPUT_OUTPUT_REQUIRED: "single",
    Characteristic.INPUT_OUTPUT_OPTIONAL: "optional",
    Characteristic.INPUT_OUTPUT_VARIADIC: "variadic",
}


class CustomOpLibraries:
    """The custom-op libraries that one ``SessionOptions`` registered; every session made from it gets all of them.

    Keeps the libraries loaded. What sessions made of them keeps them as well. Threads may share it: while one
    registers, others wait.
    """

    def __init__(self) -> None:
        self._options = abi.SessionOptions()
        self._libraries: list[LoadedLibrary] = []
        # A registration writes the native options without the GIL. Reentrant, so that what a library calls back while
        # it registers gets an answer.
        self._lock = threading.RLock()
        self._registering = False

    @property
    def ops(self) -> list[abi.CustomOp]:
        """The registered ops, in order."""
        with self._lock:
            return list(self._options.custom_ops)

    def register(
        self, path: str | os.PathLike[str], config: MutableMapping[str, str], *, bootstrap: bool = False
    ) -> None:
        """Loads a library and registers its ops; `config` are the options' configuration entries, which the library
        may read and add to. `bootstrap` permits it to import ``OrtGetApiBase``.

        Raises LibraryError with nothing of the library registered and `config` as it was; Fail when a library that
        is registering asks for it.
        """
        with self._lock:
            if self._registering:
                raise Fail(
                    f"{os.fspath(path)}: another library is registering with these session options: register this one "
                    "when that has ended"
                )
            self._registering = True
            try:
                self._take_entries(config)
                self._libraries.append(register_custom_ops_library(path, self._options, bootstrap=bootstrap))
                config.update(self._options.config_entries)
            finally:
                self._registering = False

    def session_options(self, config: Mapping[str, str]) -> abi.SessionOptions:
        """What plugins see of one session's options, with the ops."""
        with self._lock:
            if not self._registering:  # Then the library's registration took them, and may be reading them.
                self._take_entries(config)
            return abi.SessionOptions(self._options)

    def _take_entries(self, config: Mapping[str, str]) -> None:
        for key, value in dict(config).items():  # a copy: another thread may add to it
            self._options.add_config_entry(key, value)


def custom_operators(ops: Sequence[abi.CustomOp], services: abi.SessionServices) -> list[CustomOperator]:
    """The operators of custom ops, for one session."""
    return [CustomOperator(op, services, end_version) for op, end_version in with_effective_ends(ops)]


def with_effective_ends(ops: Sequence[abi.CustomOp]) -> Iterable[tuple[abi.CustomOp, int | None]]:
    """Each op with the last opset that selects it, None for no last one.

    An opset selects the newest version of an operator that is not newer than itself, as in ONNX: an op that ends with
    version 2 also serves opsets 3 and 4 where the next version of its name is 5.
    """
    starts: dict[tuple[str, str], list[int]] = {}
    for op in ops:
        if op.other_provider is None:
            starts.setdefault((op.domain, op.name), []).append(op.start_version)
    for op in ops:
        end = op.end_version
        if end is not None:
            later = [start for start in starts.get((op.domain, op.name), ()) if start > end]
            end = min(later) - 1 if later else None
        yield op, end


class CustomOperator(ForeignOperator):
    """One custom op of a library, in one session."""

    def __init__(self, op: abi.CustomOp, services: abi.SessionServices, end_version: int | None) -> None:
        super().__init__(
            op.domain,
            op.name,
            op.start_version,
            _formals("Input", op.inputs, op.variadic_input),
            _formals("Output", op.outputs, op.variadic_output),
            end_version,
        )
        self._op = op
        self._services = services
        self.infers_by_types = not op.infers_shapes
        self.provider = op.provider or None

    def unavailable(self, node: Node) -> str | None:
        provider = self._op.other_provider
        if provider is not None:
            return f"it is for {provider!r}, and custom ops run on the CPU here"
        return super().unavailable(node)

    def infer(
        self, node: Node, input_types: Sequence[TypeProto | None], constants: Sequence[Constant | None]
    ) -> Sequence[TypeProto | None]:
        """What the signature says, refined by the op's own inference.

        As in ORT, a status that it returns does not fail the model, which may run without the shapes, and is logged;
        an exception that it throws does.
        """
        if self._op.infers_shapes:
            return self._infer_by_callback(node)
        numbers = [self._output_type(node, index) for index in range(len(node.outputs))]
        return [shapeless_type(number) if number else None for number in numbers]

    def _infer_by_callback(self, node: Node) -> Sequence[TypeProto | None]:
        types = [self._output_type(node, index) for index in range(len(node.outputs))]
        shapes: list[tuple[int | str | None, ...] | None] = [None] * len(types)
        try:
            said, failure = self._op.infer(
                node.name, self.since_version, describe_arguments(node.inputs), len(types), describe_attributes(node)
            )
        except Error as error:
            raise type(error)(f"{node}: shape inference of {self._op.signature} failed: {error}") from error
        if failure is not None:
            _log.warning("%s: shape inference of %s failed: %s", node, self._op.signature, failure)
        for index, item in enumerate(said):
            if item is None:
                continue
            element_type, dims = item
            # A type that the signature declares stands against it, as in ORT: the C++ wrappers of ORT's headers say
            # FLOAT where an inference sets a shape alone.
            types[index] = types[index] or element_type
            shapes[index] = None if dims is None else tuple(dims)
        return [tensor_type(number, shape) if number else None for number, shape in zip(types, shapes, strict=True)]

    def _output_type(self, node: Node, index: int) -> int:
        """Element type by the signature alone; an output of any type takes the type that all inputs of any type share.
        0 where that leaves it open."""
        formal = self.output(index)
        if formal is None or formal.types is None:
            return 0
        if len(formal.types) == 1:
            (number,) = formal.types
            return number if isinstance(number, int) else 0
        if self._op.infers_shapes or not formal.homogeneous:
            return 0
        open_types = {
            value.element_type
            for i, value in enumerate(node.inputs)
            if value is not None and (taken := self.input(i)) is not None and taken.types is _ANY_TENSOR
        }
        return open_types.pop() if len(open_types) == 1 else 0

    def create_kernel(self, node: Node) -> KernelProduct:
        if self._op.only_for_provider and node.provider != self.provider:
            raise errors.NotImplemented(
                f"{node}: {self._op.signature} runs on execution provider {self.provider!r}, which did not claim it"
            )
        for value in node.outputs:
            if value is not None and not value.element_type:
                raise Fail(
                    f"{node}: nothing says the type of output {value.name!r} of {self._op.signature}: give the op an "
                    "InferOutputShapeFn that sets it, or declare it in the model's value_info"
                )
        constants: Sequence[Any] = ()
        for value in node.inputs:
            if value is not None and value.constant is not None:
                constants = [constant and constant.array() for constant in node.constant_inputs]
                break
        try:
            return self._op.create_kernel(
                self._services,
                node.name,
                self.since_version,
                describe_arguments(node.inputs),
                describe_arguments(node.outputs),
                describe_attributes(node),
                constants,
            )
        except Error as error:
            raise type(error)(f"{node}: {self._op.signature} made no kernel: {error}") from error

    @property
    def runs_on_provider(self) -> bool:
        """Whether the op's own kernel runs on the provider that brings it, and not on the CPU."""
        return bool(self._op.only_for_provider)

    @property
    def definition(self) -> tuple[str, str, int, int | None, dict[int, int]]:
        """What the op would say in a kernel definition: domain, name, first and last version, memory by input."""
        memory = {index: memory_type for index, (_, _, memory_type) in enumerate(self._op.inputs) if memory_type}
        return self.domain, self.op_type, self.since_version, self._op.end_version, memory

    def close(self) -> None:
        """Gives up the op, which keeps its library and provider: planning's graphs may stay until they are collected.
        Kernels that were made of it keep it."""
        self._label = repr(self)
        del self._op

    def __repr__(self) -> str:
        signature: str = self._op.signature if hasattr(self, "_op") else self._label
        return signature


def _formals(
    prefix: str, arguments: Iterable[tuple[int, int, int]], variadic: tuple[int, bool]
) -> list[FormalParameter]:
    formals = []
    for index, (element_type, characteristic, _) in enumerate(arguments):
        name = f"{prefix}{index}"
        min_arity, homogeneous = variadic if characteristic == Characteristic.INPUT_OUTPUT_VARIADIC else (1, True)
        types = frozenset({element_type}) if element_type else _ANY_TENSOR
        formals.append(FormalParameter(name, name, types, _OPTIONS[characteristic], homogeneous, min_arity))
    return formals
