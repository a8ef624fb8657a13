"""The published plugins compute the same from several threads as from one, in one session and in several."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from execution_provider_cases import MODELS, PLUGINS, PUBLISHED
from execution_provider_host import HOST

from onnx_light_ort import InferenceSession

THREADS = 4


@pytest.mark.parametrize("sessions", [1, THREADS], ids=["one session", "four sessions"])
@pytest.mark.parametrize(("model", "runs"), [("mlp", 10_000), ("transformer", 400)])
@pytest.mark.parametrize("plugin", PUBLISHED)
def test_four_threads_compute_what_one_does(
    every_plugin: Path, plugin: str, model: str, runs: int, sessions: int
) -> None:
    made: Sequence[InferenceSession] = [HOST.session(model, HOST.options(PLUGINS[plugin], {})) for _ in range(sessions)]
    feeds = MODELS[model].feeds()
    expected = [made[0].run(None, item)[0] for item in feeds]

    def run(number: int) -> int:
        """How many runs were wrong. Threads take turns in shapes, each with another one first."""
        session = made[number % sessions]
        wrong = 0
        for i in range(runs // THREADS):
            place = (number + i) % len(feeds)
            wrong += not np.array_equal(session.run(None, feeds[place])[0], expected[place])
        return wrong

    with ThreadPoolExecutor(THREADS) as threads:
        assert list(threads.map(run, range(THREADS))) == [0] * THREADS
