"""Measures the same work in several runtimes, each in a process of its own, round about.

Timings of a shared machine drift; what does not drift is the ratio of two runtimes that take turns. Each round asks
every runtime in turn for the mean of a few calls; a runtime's figure is the least of its rounds, and what counts is the
ratio of figures.
"""

from __future__ import annotations

import gc
import multiprocessing
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np

Feeds = Mapping[str, np.ndarray]


def _onnx_light_ort(path: str, options: Mapping[str, Any]) -> Callable[[Feeds], object]:
    import onnx_light_ort as ort

    return _session(ort, path, options)


def _onnxruntime(path: str, options: Mapping[str, Any]) -> Callable[[Feeds], object]:
    import onnxruntime as ort

    return _session(ort, path, options)


def _onnxruntime_with_our_kernels(path: str, options: Mapping[str, Any]) -> Callable[[Feeds], object]:
    import onnxruntime as ort

    session_options = ort.SessionOptions()
    session_options.intra_op_num_threads = options.get("threads", 1)
    session_options.log_severity_level = 3
    session_options.add_provider_for_devices(_our_devices(), {"claim": options.get("claim", "all")})
    session = ort.InferenceSession(path, session_options)
    return lambda feeds: session.run(None, feeds)


@cache
def _our_devices() -> list[Any]:
    import onnxruntime as ort

    from onnx_light_ort import reverse

    ort.register_execution_provider_library("onnx_light", reverse.library_path())
    return [device for device in ort.get_ep_devices() if device.ep_name == reverse.get_ep_name()]


def _session(ort: Any, path: str, options: Mapping[str, Any]) -> Callable[[Feeds], object]:
    session = ort.InferenceSession(
        path,
        _session_options(ort, options.get("threads", 1), options.get("provider"), *options.get("custom_ops", ())),
    )
    return lambda feeds: session.run(None, feeds)


@dataclass(frozen=True)
class Provider:
    """A plugin's library, its EP's name, and options for it."""

    library: str
    ep_name: str
    options: tuple[tuple[str, str], ...] = ()


@cache
def _devices(ort: Any, library: str, ep_name: str) -> list[Any]:
    ort.register_execution_provider_library(ep_name, library)
    return [device for device in ort.get_ep_devices() if device.ep_name == ep_name]


@cache
def _session_options(ort: Any, threads: int, provider: Provider | None, *libraries: str) -> Any:
    """Made once: what making a session takes is measured, not the loading of libraries."""
    session_options = ort.SessionOptions()
    session_options.intra_op_num_threads = threads
    session_options.log_severity_level = 3
    for library in libraries:
        session_options.register_custom_ops_library(library)
    if provider is not None:
        devices = _devices(ort, provider.library, provider.ep_name)
        session_options.add_provider_for_devices(devices, dict(provider.options))
    return session_options


def _onnx_reference(path: str, options: Mapping[str, Any]) -> Callable[[Feeds], object]:
    from onnx.reference import ReferenceEvaluator

    evaluator = ReferenceEvaluator(path)
    return lambda feeds: evaluator.run(None, dict(feeds))


RUNTIMES = {
    "onnx-light-ort": _onnx_light_ort,
    "onnxruntime": _onnxruntime,
    "onnxruntime, our EP": _onnxruntime_with_our_kernels,
    "onnx.reference": _onnx_reference,
}


def _serve(runtime: str, connection: Connection) -> None:
    make = RUNTIMES[runtime]
    run: Callable[[Feeds], object] | None = None
    while True:
        command, *arguments = connection.recv()
        try:
            if command == "create":
                run = None
                gc.collect()
                begin = time.process_time()
                run = make(*arguments)
                answer: Any = time.process_time() - begin
            elif command == "time":
                feeds, calls = arguments
                assert run is not None
                begin = time.perf_counter()
                for _ in range(calls):
                    run(feeds)
                answer = (time.perf_counter() - begin) / calls
            elif command == "peak":
                status = Path("/proc/self/status").read_text()
                answer = int(status.split("VmHWM:")[1].split()[0]) * 1024
            else:
                return
        except Exception as error:
            answer = error
        connection.send(answer)


@dataclass
class Runtime:
    """One runtime in its process. Use as a context manager."""

    name: str
    process: Any = field(init=False)
    connection: Connection = field(init=False)

    def __enter__(self) -> Runtime:
        context = multiprocessing.get_context("spawn")
        self.connection, theirs = context.Pipe()
        self.process = context.Process(target=_serve, args=(self.name, theirs), daemon=True)
        self.process.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.connection.send(("end",))
        self.process.join()

    def ask(self, *command: Any) -> Any:
        self.connection.send(command)
        answer = self.connection.recv()
        if isinstance(answer, Exception):
            raise answer
        return answer

    def create(self, path: Path, **options: Any) -> float:
        """Makes a session; the processor time that it took, in seconds: a call is too short to find a quiet moment."""
        return float(self.ask("create", str(path), options))

    def time(self, feeds: Feeds, calls: int) -> float:
        """Mean seconds of so many runs."""
        return float(self.ask("time", dict(feeds), calls))


def compare_runs(
    runtimes: list[Runtime], path: Path, feeds: Feeds, *, rounds: int = 7, budget: float = 0.15, **options: Any
) -> dict[str, float]:
    """Least mean seconds of a run, by runtime. ``budget``: about how many seconds one round of a runtime takes."""
    calls = {}
    for runtime in runtimes:
        runtime.create(path, **options)
        once = runtime.time(feeds, 2)
        calls[runtime.name] = max(1, min(20000, int(budget / once)))
    best = {runtime.name: float("inf") for runtime in runtimes}
    for _ in range(rounds):
        for runtime in runtimes:
            best[runtime.name] = min(best[runtime.name], runtime.time(feeds, calls[runtime.name]))
    return best


def compare_creation(runtimes: list[Runtime], path: Path, *, rounds: int = 3, **options: Any) -> dict[str, float]:
    """Least seconds of processor time to make a session, by runtime."""
    best = {runtime.name: float("inf") for runtime in runtimes}
    for _ in range(rounds):
        for runtime in runtimes:
            best[runtime.name] = min(best[runtime.name], runtime.create(path, **options))
    return best
