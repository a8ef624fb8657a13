"""Times of a session's nodes, written as a Chrome trace (chrome://tracing, ui.perfetto.dev) with ORT's event names."""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from typing import Any


class Profile:
    """Collects from when it is made until :meth:`write`. Times are microseconds since it was made."""

    def __init__(self, prefix: str) -> None:
        self._prefix = prefix
        self._began = time.perf_counter_ns()
        self._stamp = datetime.now()
        self._lock = threading.Lock()
        self._events: list[dict[str, Any]] = []
        self._providers: Mapping[str, str] = {}

    def session_created(self, providers: Mapping[str, str]) -> None:
        """Records how long the session took to make.

        Args:
            providers: the provider of each node by name, where it is not the engine.
        """
        self._providers = providers
        self._add("Session", "session_initialization", 0.0, self._now(), {})

    @contextmanager
    def run(self) -> Iterator[list[tuple[str, str, float, float, int]]]:
        """Records a run; the list that it gives takes the executor's (step, kind, start, duration, thread)."""
        steps: list[tuple[str, str, float, float, int]] = []
        start = self._now()
        try:
            yield steps
        finally:
            for index, (name, kind, begin, duration, thread) in enumerate(steps):
                provider = self._providers.get(name, "CPUExecutionProvider")
                args = {"op_name": kind, "provider": provider, "node_index": str(index)}
                self._add("Node", f"{name}_kernel_time", start + begin, duration, args, thread)
            self._add("Session", "model_run", start, self._now() - start, {})

    def events(self) -> list[dict[str, Any]]:
        """The events so far."""
        with self._lock:
            return list(self._events)

    def write(self, path: str | None = None) -> str:
        """Writes the file, named after the prefix and the time when the session was made; returns its path."""
        if path is None:
            path = f"{self._prefix}_{self._stamp:%Y-%m-%d_%H-%M-%S}_{self._stamp.microsecond // 1000}.json"
        with open(path, "w", encoding="utf-8") as file:
            file.write("[\n" + ",\n".join(json.dumps(event) for event in self.events()) + "\n]\n")
        return path

    def _now(self) -> float:
        return (time.perf_counter_ns() - self._began) / 1e3

    def _add(
        self, category: str, name: str, start: float, duration: float, args: dict[str, Any], thread: int | None = None
    ) -> None:
        event = {
            "cat": category,
            "pid": os.getpid(),
            "tid": threading.get_native_id() if thread is None else thread,
            "dur": round(duration, 3),
            "ts": round(start, 3),
            "ph": "X",
            "name": name,
            "args": args,
        }
        with self._lock:
            self._events.append(event)
