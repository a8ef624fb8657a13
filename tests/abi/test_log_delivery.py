"""Log records of plugins reach Python's logging, whoever holds the GIL and however the process ends."""

from __future__ import annotations

import ctypes
import logging
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from onnx_light_ort._native import abi
from onnx_light_ort.host import log_delivery

VERBOSE, INFO, WARNING, ERROR, FATAL = range(5)


class Plugin:
    """The fixture library, called with the GIL released (ctypes.CDLL) or held (ctypes.PyDLL)."""

    def __init__(self, path: Path, loader: type[ctypes.CDLL] = ctypes.CDLL) -> None:
        self._log = loader(str(path)).log_from_thread
        self._log.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_int]
        self._log.restype = None

    def log_from_thread(self, severity: int, text: str | bytes, count: int = 1) -> None:
        encoded = text.encode() if isinstance(text, str) else text
        self._log(abi.api_base_address(), abi.default_logger().address, severity, encoded, count)


@pytest.fixture
def library(fixtures_dir: Path) -> Path:
    return fixtures_dir / "log_from_thread" / "liblog_from_thread.so"


class RecordList(logging.Handler):
    def __init__(self) -> None:
        super().__init__()
        self.records: list[logging.LogRecord] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.records.append(record)


@pytest.fixture
def records() -> Iterator[list[logging.LogRecord]]:
    """What logging got from plugins since the test began."""
    log_delivery.start()
    log_delivery.flush()
    severity = abi.default_logger().severity
    logger = logging.getLogger("onnx_light_ort")
    level = logger.level
    handler = RecordList()
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG)
    yield handler.records
    logger.removeHandler(handler)
    logger.setLevel(level)
    abi.default_logger().severity = severity


def test_a_record_has_the_place_that_the_plugin_gave(library: Path, records: list[logging.LogRecord]) -> None:
    before = time.time()
    Plugin(library).log_from_thread(ERROR, "out of cheese")
    log_delivery.flush()
    [record] = records
    assert (record.name, record.levelno, record.getMessage()) == ("onnx_light_ort", logging.ERROR, "out of cheese 0")
    assert (record.pathname, record.lineno, record.funcName) == ("plugin.cpp", 42, "compute")
    assert before <= record.created <= time.time()
    assert record.thread != threading.get_ident()


@pytest.mark.parametrize(
    ("severity", "level"),
    [
        (VERBOSE, logging.DEBUG),
        (INFO, logging.INFO),
        (WARNING, logging.WARNING),
        (ERROR, logging.ERROR),
        (FATAL, logging.CRITICAL),
    ],
)
def test_severities_are_levels_of_logging(
    library: Path, records: list[logging.LogRecord], severity: int, level: int
) -> None:
    abi.default_logger().severity = VERBOSE
    Plugin(library).log_from_thread(severity, "x")
    log_delivery.flush()
    assert [record.levelno for record in records] == [level]


def test_records_below_the_severity_are_dropped(library: Path, records: list[logging.LogRecord]) -> None:
    abi.default_logger().severity = ERROR
    Plugin(library).log_from_thread(WARNING, "quiet")
    Plugin(library).log_from_thread(ERROR, "loud")
    log_delivery.flush()
    assert [record.getMessage() for record in records] == ["loud 0"]


def test_percent_signs_and_broken_utf8_are_delivered_as_text(library: Path, records: list[logging.LogRecord]) -> None:
    Plugin(library).log_from_thread(WARNING, b"100 %s \xff")
    log_delivery.flush()
    assert [record.getMessage() for record in records] == ["100 %s \\xff 0"]


def test_a_thread_that_holds_the_gil_may_wait_for_a_thread_that_logs(
    library: Path, records: list[logging.LogRecord]
) -> None:
    Plugin(library, ctypes.PyDLL).log_from_thread(WARNING, "under the GIL", 100)
    log_delivery.flush()
    assert [record.getMessage() for record in records] == [f"under the GIL {i}" for i in range(100)]


def test_records_arrive_while_the_main_thread_runs_something_else(
    library: Path, records: list[logging.LogRecord]
) -> None:
    Plugin(library).log_from_thread(WARNING, "by itself", 3)
    deadline = time.monotonic() + 10
    while len(records) < 3 and time.monotonic() < deadline:
        time.sleep(0.001)
    assert [record.getMessage() for record in records] == ["by itself 0", "by itself 1", "by itself 2"]


def test_a_flood_is_cut_and_the_cut_is_reported(library: Path, records: list[logging.LogRecord]) -> None:
    # Under the GIL, so that nothing is taken out meanwhile.
    Plugin(library, ctypes.PyDLL).log_from_thread(WARNING, "flood", 10050)
    log_delivery.flush()
    assert len(records) == 10001
    assert records[-1].getMessage() == "50 log records came too fast and were dropped"


def test_a_failing_filter_does_not_end_the_delivery(
    library: Path, records: list[logging.LogRecord], capfd: pytest.CaptureFixture[str]
) -> None:
    def fail_on_first(record: logging.LogRecord) -> bool:
        if record.getMessage().endswith("0"):
            raise LookupError("broken filter")
        return True

    logger = logging.getLogger("onnx_light_ort")
    logger.addFilter(fail_on_first)
    try:
        Plugin(library).log_from_thread(WARNING, "x", 2)
        log_delivery.flush()
    finally:
        logger.removeFilter(fail_on_first)
    assert [record.getMessage() for record in records] == ["x 1"]
    assert "broken filter" in capfd.readouterr().err


def run_python(code: str, library: Path) -> subprocess.CompletedProcess[str]:
    prelude = (
        "import ctypes, logging, os, sys\n"
        "from onnx_light_ort._native import abi\n"
        "from onnx_light_ort.host import log_delivery\n"
        f"plugin = ctypes.CDLL({str(library)!r})\n"
        "base, logger = ctypes.c_void_p(abi.api_base_address()), ctypes.c_void_p(abi.default_logger().address)\n"
    )
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", prelude + code]
    # Not in the source tree, whose package has no extension module.
    return subprocess.run(command, capture_output=True, text=True, timeout=120, env=env, cwd=library.parent)


def test_what_was_logged_before_exit_is_delivered(library: Path) -> None:
    done = run_python(
        "log_delivery.start()\n"
        "logging.basicConfig(format='delivered: %(message)s')\n"
        "plugin.log_from_thread(base, logger, 2, b'last words', 500)\n",
        library,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr.splitlines() == [f"delivered: last words {i}" for i in range(500)]


def test_a_plugin_that_logs_to_the_end_does_not_disturb_the_end(library: Path) -> None:
    done = run_python(
        "log_delivery.start()\nlogging.disable()\nplugin.log_until_the_end(base, logger)\n",
        library,
    )
    assert done.returncode == 0, done.stderr
    assert set(done.stderr.splitlines()) <= {"onnx_light_ort [WARNING] still here"}


def test_without_delivery_records_go_to_stderr(library: Path) -> None:
    done = run_python("plugin.log_from_thread(base, logger, 3, b'nobody listens', 1)\n", library)
    assert done.returncode == 0
    assert done.stderr == "onnx_light_ort [ERROR] nobody listens 0\n"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_forked_child_delivers_too(library: Path) -> None:
    done = run_python(
        "log_delivery.start()\n"
        "logging.basicConfig(format='%(message)s')\n"
        "if os.fork() == 0:\n"
        "    plugin.log_from_thread(base, logger, 2, b'child', 1)\n"
        "    log_delivery.flush()\n"
        "    os._exit(0)\n"
        "assert os.wait()[1] == 0\n",
        library,
    )
    assert done.returncode == 0, done.stderr
    assert "child 0" in done.stderr.splitlines()


@pytest.mark.parametrize("failure", [RuntimeError, SystemExit])
def test_a_record_factory_that_raises_does_not_end_the_delivery(
    library: Path,
    records: list[logging.LogRecord],
    capsys: pytest.CaptureFixture[str],
    failure: type[BaseException],
) -> None:
    factory = logging.getLogRecordFactory()

    def fails(*arguments: object, **options: object) -> logging.LogRecord:
        raise failure("the factory is broken")

    logging.setLogRecordFactory(fails)
    try:
        Plugin(library).log_from_thread(ERROR, "lost")
        log_delivery.flush()
    finally:
        logging.setLogRecordFactory(factory)
    assert "the factory is broken" in capsys.readouterr().err
    Plugin(library).log_from_thread(ERROR, "found")
    deadline = time.monotonic() + 10
    while not records and time.monotonic() < deadline:  # no flush: the thread itself has to be alive
        time.sleep(0.01)
    assert [record.getMessage() for record in records] == ["found 0"]
