"""InferenceSession: a model ready to run, under ORT's name."""

from __future__ import annotations

import logging
import operator
import os
import warnings
import weakref
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, nullcontext
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from onnx_light_ort import errors
from onnx_light_ort._abi_enums import GraphOptimizationLevel
from onnx_light_ort._native import abi
from onnx_light_ort._native import engine as native
from onnx_light_ort.engine.assignment import ENGINE, NOT_RUN, NodeAssignment
from onnx_light_ort.engine.value_type import element_type_name, element_type_of_dtype, numpy_dtype
from onnx_light_ort.errors import (
    Fail,
    InvalidArgument,
    MissingInput,
    NodeFail,
    NotImplemented,
    OutOfMemory,
    exception_for_code,
)
from onnx_light_ort.ort_value import OrtValue
from onnx_light_ort.profile import Profile
from onnx_light_ort.session_options import RunOptions, SessionOptions

if TYPE_CHECKING:
    # Planning is imported with the first session: a program may be there for something else.
    from onnx_light_ort.engine.execution_provider import ExecutionProvider
    from onnx_light_ort.engine.graph import Value
    from onnx_light_ort.engine.model_loading import ModelSource
    from onnx_light_ort.engine.session_plan import Progress, SessionPlan
    from onnx_light_ort.host.provider_hooks import ProviderHooks

    ProviderEntry: TypeAlias = str | tuple[str, Mapping[str, Any]] | ExecutionProvider

native.set_exception_classes(
    {
        "invalid_argument": InvalidArgument,
        "not_implemented": NotImplemented,
        "out_of_memory": OutOfMemory,
        "node_failure": NodeFail,
        "internal": Fail,
    }
)

_KEEP_FUNCTIONS = "session.disable_aot_function_inlining"
"""Session configuration entry, as in ORT: "1" for providers that are to take what they want before any call of a
function is inlined."""

_MOST_THREADS = 4096
"""More than any machine has cores: a number beyond is a mistake, and making them all would take the system down."""

_NO_FALLBACK = "session.disable_cpu_ep_fallback"
"""Session configuration entry, as in ORT: "1" where no node may be left to the engine."""

# What a plugin reports keeps its code.
abi.set_exception_classes({code: exception_for_code(code) for code in range(1, 16)})

_SEVERITIES = {
    0: logging.DEBUG,
    1: logging.INFO,
    2: logging.WARNING,
    3: logging.ERROR,
    4: logging.CRITICAL,
}


def _whole(value: int, name: str, least: int, most: int) -> int:
    """An option of the session as the number that it has to be."""
    number = operator.index(value)
    if not least <= number <= most:
        raise InvalidArgument(f"SessionOptions.{name} is {number}, which is not from {least} to {most}")
    return number


def _refuse_engine(plan: SessionPlan, providers: Sequence[ProviderEntry]) -> None:
    """Raises what ORT raises where the engine would run a node of the graph, or is one of the caller's providers."""
    if any(entry == ENGINE or (isinstance(entry, tuple) and entry[0] == ENGINE) for entry in providers):
        raise InvalidArgument(f"{_NO_FALLBACK} is set, and {ENGINE} is among the providers: leave out one of them")
    left = [row for row in plan.assignment() if row.provider == ENGINE and row.kernel not in NOT_RUN and not row.scope]
    if left:
        names = ", ".join(f"{row.name!r} ({row.op_type})" for row in left[:5]) + (", ..." if len(left) > 5 else "")
        raise Fail(f"{_NO_FALLBACK} is set, and no provider takes {len(left)} nodes: {names}")


class NodeArg:
    """An input or output of a model."""

    __slots__ = ("name", "shape", "type")

    def __init__(self, value: Value) -> None:
        self.name = value.name
        #: As "tensor(float)" or "seq(tensor(int64))".
        self.type = value.type_string
        #: Sizes, names of symbolic dimensions, None for dimensions without a name; empty where the rank is not known.
        self.shape: list[int | str | None] = list(value.shape or ())

    def __repr__(self) -> str:
        return f"NodeArg(name={self.name!r}, type={self.type!r}, shape={self.shape})"


class ModelMetadata:
    """What the model file says about itself."""

    __slots__ = (
        "custom_metadata_map",
        "description",
        "domain",
        "graph_description",
        "graph_name",
        "producer_name",
        "version",
    )

    def __init__(self, plan: SessionPlan) -> None:
        model = plan.model
        self.custom_metadata_map = dict(model.custom_metadata)
        self.description = model.description
        self.domain = model.domain
        self.graph_description = model.graph_description
        self.graph_name = model.graph.name
        self.producer_name = model.producer_name
        self.version = model.model_version


class InferenceSession:
    """Runs a model.

    Args:
        path_or_bytes: the model's path (then external data may lie below its folder), its bytes, or a ModelProto.
        sess_options: how to run it; read once.
        providers: execution providers in order of preference: names, (name, options) pairs, or
            :class:`~onnx_light_ort.engine.execution_provider.ExecutionProvider` objects, each for one session alone.
            What none of them takes runs on the engine, "CPUExecutionProvider".
        provider_options: one mapping for each of the providers.
        progress: told the name of each stage of loading as it begins. Not in ORT.

    Raises:
        NoSuchFile, InvalidProtobuf, InvalidGraph, InvalidArgument, NotImplemented, EPFail, Fail: what is wrong with the
            model, naming node and value.

    ``run`` may be called from several threads at once. The session keeps the model's weights, and the arrays and files
    that they lie in, alive.
    """

    def __init__(
        self,
        path_or_bytes: ModelSource,
        sess_options: SessionOptions | None = None,
        providers: Sequence[ProviderEntry] | None = None,
        provider_options: Sequence[Mapping[str, Any]] | None = None,
        *,
        progress: Progress | None = None,
        **unused: Any,
    ) -> None:
        from onnx_light_ort.engine.session_plan import SessionPlan

        for name in unused:
            if name not in ("enable_fallback", "disabled_optimizers"):
                raise TypeError(f"InferenceSession() has no argument {name!r}")
        options = sess_options or SessionOptions()
        self._options = options
        if options.log_severity_level in _SEVERITIES:
            logger, level = logging.getLogger("onnx_light_ort"), _SEVERITIES[options.log_severity_level]
            if logger.level != level:  # Setting it makes every logger of the process forget what it is enabled for.
                logger.setLevel(level)
        threads = _whole(options.intra_op_num_threads, "intra_op_num_threads", -1, _MOST_THREADS)
        memory_limit = _whole(options.memory_limit, "memory_limit", 0, 2**63 - 1)
        chosen = _chosen_providers(providers, provider_options)
        self._profile = Profile(options.profile_file_prefix) if options.enable_profiling else None
        budget = native.MemoryBudget(memory_limit)
        registries, added = options._session_parts(budget, options.logid or _name_of(path_or_bytes))
        chosen += added
        self._plan = plan = SessionPlan(
            path_or_bytes,
            providers=chosen,
            registries=registries,
            intra_op_num_threads=threads,
            memory_budget=budget,
            optimize=options.graph_optimization_level != GraphOptimizationLevel.ORT_DISABLE_ALL,
            inline_ahead=options._config.get(_KEEP_FUNCTIONS, "0") != "1",
            progress=progress,
        )
        self._hooks = _hooks_of(plan)
        close = weakref.finalize(self, _close, plan, self._hooks)
        if options._config.get(_NO_FALLBACK, "0") == "1":
            try:
                _refuse_engine(plan, providers or ())
            except errors.Error:
                close()
                raise
        self._told = self._hooks if self._hooks is not None and self._hooks.concerns_runs else None
        execute = plan.executor.run
        self._execute: Callable[..., list[Any]] = (
            _without_numpy_warnings(execute) if plan.has_numpy_kernels else execute
        )
        graph = plan.model.graph
        self._inputs = graph.inputs
        self._defaults = {value.name: value.default.array() for value in graph.inputs if value.default is not None}
        # Such inputs need a look before the executor: it would take an OrtValue for the object itself.
        self._prepared = bool(self._defaults) or any(not value.element_type for value in graph.inputs)
        # A run that only fails for a feed of lists would be told too.
        self._converts_first = self._prepared or self._told is not None
        self._is_plain = not self._converts_first and self._profile is None
        if self._profile is not None:
            claimed = {node.name: node.provider for node in graph.all_nodes() if node.provider is not None}
            self._profile.session_created(claimed)

    def run(
        self,
        output_names: Sequence[str] | None,
        input_feed: Mapping[str, Any],
        run_options: RunOptions | None = None,
    ) -> list[Any]:
        """Computes outputs.

        Args:
            output_names: which outputs to return, in this order; None or empty: all.
            input_feed: an array for each input (lists and numbers become arrays; an :class:`OrtValue` is taken too;
                lists and dictionaries for sequences and maps). Arrays are read while the run lasts, never written.
            run_options: see :class:`RunOptions`.

        Returns:
            Arrays that belong to the caller; lists and dictionaries for sequences and maps.

        Raises:
            MissingInput (also a ValueError): an input is not fed.
            InvalidArgument: a name, type, rank or dimension that the model does not have.
            OutOfMemory: memory ran out, or would have passed the session's limit.
            Fail, NotImplemented: a node failed; the message names it. The session stays usable.
        """
        try:
            if run_options is None and self._is_plain and type(output_names) is not str:
                return self._execute(output_names, input_feed)
            return self._run(output_names, input_feed, run_options)
        except NodeFail:
            raise  # the feed was right
        except (InvalidArgument, TypeError) as error:
            # A feed of lists or of OrtValues is right too, only not what the executor takes. The error is not handed
            # on: a frame in its own traceback would keep it, and with it the session.
            outputs = self._run_converted(output_names, input_feed, run_options, isinstance(error, TypeError))
            if outputs is None:
                raise
            return outputs

    def __reduce__(self) -> str | tuple[Any, ...]:
        raise TypeError(
            "an InferenceSession is neither copied nor pickled: use it from several threads, or hand its model's path "
            "or bytes on and make another"
        )

    def run_with_ort_values(
        self,
        output_names: Sequence[str] | None,
        input_dict_ort_values: Mapping[str, OrtValue],
        run_options: RunOptions | None = None,
    ) -> list[OrtValue]:
        """As :meth:`run`, from and to :class:`OrtValue`."""
        feed = {name: value.engine_value for name, value in input_dict_ort_values.items()}
        return [OrtValue.of_object(output) for output in self.run(output_names, feed, run_options)]

    def get_inputs(self) -> list[NodeArg]:
        """The inputs that a run must feed."""
        return [NodeArg(value) for value in self._inputs if value.default is None]

    def get_overridable_initializers(self) -> list[NodeArg]:
        """The inputs that have a default in the model."""
        return [NodeArg(value) for value in self._inputs if value.default is not None]

    def get_outputs(self) -> list[NodeArg]:
        return [NodeArg(value) for value in self._plan.model.graph.outputs]

    def get_providers(self) -> list[str]:
        """Names of the execution providers, in the order in which they were asked; the engine last."""
        return [*(provider.name for provider in self._plan.placement.providers), ENGINE]

    def get_modelmeta(self) -> ModelMetadata:
        return ModelMetadata(self._plan)

    def get_session_options(self) -> SessionOptions:
        return self._options

    def set_ep_dynamic_options(self, options: Mapping[str, str]) -> None:
        """Refused: the options that a session was made with are what its providers have.

        Raises:
            NotImplemented: always.
        """
        raise errors.NotImplemented(
            f"the options {sorted(options)} cannot be changed: make a new session, with other options in "
            "SessionOptions.add_provider_for_devices"
        )

    def synchronize_providers(self) -> None:
        """Waits until the plugin execution providers did what they were asked to. Not in ORT, whose bindings of inputs
        and outputs do it."""
        if self._hooks is not None:
            self._hooks.synchronize()

    def assignment(self) -> list[NodeAssignment]:
        """For every node of the model who runs it, by which kernel, and why others declined. Not in ORT."""
        return self._plan.assignment()

    @property
    def profile(self) -> Profile | None:
        """The times so far; None where profiling is off. Not in ORT."""
        return self._profile

    def end_profiling(self) -> str:
        """Writes the profile of the runs so far and returns its path; "" where profiling is off."""
        return "" if self._profile is None else self._profile.write()

    # What the fast path of run() leaves out

    def _run(
        self, output_names: Sequence[str] | None, feed: Mapping[str, Any], run_options: RunOptions | None
    ) -> list[Any]:
        if isinstance(output_names, str):
            raise TypeError(f"output names are a list of names, not the string {output_names!r}")
        if self._converts_first:
            converted = {**self._defaults, **feed, **self._converted(feed)}
            for value in self._inputs if self._prepared else ():
                if (
                    value.name in converted
                    and value.type_proto is not None
                    and value.type_proto.HasField("sequence_type")
                ):
                    converted[value.name] = _as_sequence(value, converted[value.name])
            feed = converted
        control = None if run_options is None else run_options._control
        if self._profile is None and self._told is None:
            return self._execute(output_names, feed, control)
        timed = nullcontext() if self._profile is None else self._profile.run()
        with ExitStack() as told, timed as steps:
            # As in ORT, a run that is refused for its names or its feed tells nobody.
            begin = None if self._told is None else partial(told.enter_context, self._told.run(run_options))
            return self._execute(output_names, feed, control, steps, begin)

    def _run_converted(
        self,
        output_names: Sequence[str] | None,
        feed: Mapping[str, Any],
        run_options: RunOptions | None,
        has_wrong_type: bool,
    ) -> list[Any] | None:
        """Runs once more where the feed only needs conversion; None, or a more exact error, where that is not so."""
        if not isinstance(feed, Mapping):
            raise TypeError(f"the input feed is a dictionary of arrays by name, not {type(feed).__name__}") from None
        if has_wrong_type:
            return None if isinstance(feed, dict) else self._run(output_names, dict(feed), run_options)
        missing = [value.name for value in self._inputs if value.default is None and value.name not in feed]
        if missing:
            raise MissingInput(f"required inputs {missing} are missing from the feed, which has {list(feed)}") from None
        if self._converts_first:  # it failed for another reason, and does not run again
            return None
        converted = self._converted(feed)
        if type(feed) is dict and all(converted[name] is feed[name] for name in converted):
            return None
        unknown = {name: value for name, value in feed.items() if name not in converted}
        return self._run(output_names, {**converted, **unknown}, run_options)

    def _converted(self, feed: Mapping[str, Any]) -> dict[str, Any]:
        return {value.name: _as_tensor(value, feed[value.name]) for value in self._inputs if value.name in feed}


def _hooks_of(plan: SessionPlan) -> ProviderHooks | None:
    """Tells the plugin providers that the session is made. None where there are none.

    Raises:
        Error: one of them refuses; the plan is closed.
    """
    if not plan.placement.providers:
        return None
    from onnx_light_ort.host.provider_hooks import ProviderHooks

    try:
        hooks = ProviderHooks(plan.placement.providers)
        hooks.session_initialized()
    except BaseException:
        plan.close()
        raise
    return hooks


def _close(plan: SessionPlan, hooks: ProviderHooks | None) -> None:
    """Gives up the plan of a session that is gone, or of one that some threads may run while the program ends: then
    what their runs need stays, and no other run begins."""
    if plan.placement.providers:
        is_idle = plan.executor.retire()
        if not is_idle or (hooks is not None and hooks.has_run_under_way):
            return
    plan.close()


def _name_of(source: ModelSource) -> str:
    if isinstance(source, str | os.PathLike):
        return f"the session of {os.fspath(source)}"
    return "a session of a model given as bytes"


def _without_numpy_warnings(execute: Callable[..., list[Any]]) -> Callable[..., list[Any]]:
    """Runs with numpy's warnings (of division by zero and the like) off: entered once a run, not once a kernel."""

    def run(*arguments: Any) -> list[Any]:
        with np.errstate(all="ignore"):
            return execute(*arguments)

    return run


def _as_tensor(value: Value, fed: Any) -> Any:
    fed = _engine_object(fed)
    if value.element_type and isinstance(fed, list | tuple):
        try:
            return np.asarray(fed, dtype=numpy_dtype(value.element_type))
        except (TypeError, ValueError) as error:
            raise InvalidArgument(f"input {value.name!r}: the fed list is no {value.type_string}: {error}") from error
    return fed


def _as_sequence(value: Value, fed: Any) -> Any:
    """A fed sequence of tensors, its elements' types checked; other sequences as they are."""
    assert value.type_proto is not None
    element_type = value.type_proto.sequence_type.elem_type.tensor_type.elem_type
    if not element_type:
        return fed
    if not isinstance(fed, list | tuple):
        raise InvalidArgument(
            f"input {value.name!r} is {value.type_string}: feed a list of arrays, not {type(fed).__name__}"
        )
    elements = []
    for index, item in enumerate(map(_engine_object, fed)):
        if isinstance(item, np.ndarray | np.generic):
            if element_type_of_dtype(item.dtype) != element_type:
                raise InvalidArgument(
                    f"input {value.name!r} is {value.type_string}: element {index} is an array of {item.dtype}; feed "
                    f"{element_type_name(element_type)}"
                )
            elements.append(item)
            continue
        try:
            elements.append(np.asarray(item, dtype=numpy_dtype(element_type)))
        except (TypeError, ValueError) as error:
            raise InvalidArgument(
                f"input {value.name!r} is {value.type_string}: element {index} is no array: {error}"
            ) from error
    return elements


def _engine_object(value: Any) -> Any:
    return value.engine_value if isinstance(value, OrtValue) else value


def _chosen_providers(
    providers: Sequence[ProviderEntry] | None, provider_options: Sequence[Mapping[str, Any]] | None
) -> list[ExecutionProvider]:
    from onnx_light_ort.engine.execution_provider import ExecutionProvider

    chosen: list[ExecutionProvider] = []
    entries = list(providers or ())
    if provider_options is not None and len(provider_options) != len(entries):
        raise ValueError(f"{len(entries)} providers and {len(provider_options)} provider options: give one for each")
    for entry in entries:
        if isinstance(entry, ExecutionProvider):
            chosen.append(entry)
            continue
        name = entry if isinstance(entry, str) else entry[0]
        if name not in get_available_providers():
            warnings.warn(
                f"provider {name!r} is not available here; available: {', '.join(get_available_providers())}",
                UserWarning,
                stacklevel=3,
            )
    return chosen


def get_available_providers() -> list[str]:
    """Names that ``providers`` may have."""
    return [ENGINE]


def get_all_providers() -> list[str]:
    """As :func:`get_available_providers`."""
    return get_available_providers()


def get_device() -> str:
    """The kind of device that the engine runs on."""
    return "CPU"
