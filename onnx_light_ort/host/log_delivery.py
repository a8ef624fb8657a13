"""Delivers the log records of plugins to Python's `logging`.

A plugin may log from any of its threads, while the thread that holds the GIL waits for it, and while the interpreter
goes away. So the native side only queues records, and a thread of this module hands them to the logger that each of
them names: "onnx_light_ort" or one below it, with the plugin's file, line, function and thread. At exit the queue is
emptied; what is logged after that goes to stderr.
"""

from __future__ import annotations

import atexit
import contextlib
import logging
import os
import sys
import threading
import traceback

from onnx_light_ort._native import abi

__all__ = ["LEVELS", "flush", "start"]

#: `logging` levels by OrtLoggingLevel.
LEVELS = (logging.DEBUG, logging.INFO, logging.WARNING, logging.ERROR, logging.CRITICAL)

_start_lock = threading.Lock()
_delivery_lock = threading.RLock()  # A handler may call flush().
_thread: threading.Thread | None = None
_stopping = False


def start() -> None:
    """Starts delivery, once for the process. Call it before a library is loaded."""
    global _thread
    with _start_lock:
        if _thread is not None:
            return
        abi.open_log_delivery()
        _thread = threading.Thread(target=_deliver_until_stopped, name="onnx_light_ort log delivery", daemon=True)
        _thread.start()


def flush() -> None:
    """Returns when every record that was logged before the call has been handed to `logging`."""
    with _delivery_lock:  # Taken and handed over under one lock, so that no record overtakes another.
        for record in abi.take_log_records():
            try:
                _handle(*record)
            # The failure of a filter, a handler or a record factory must not end the delivery of what comes after it,
            # nor may one that calls sys.exit, which here would end nothing but this thread.
            except (Exception, SystemExit):
                with contextlib.suppress(Exception):  # Of stderr being closed, too, there is nobody left to tell.
                    traceback.print_exc(file=sys.stderr)


def _handle(
    name: str, severity: int, created: float, message: str, file: str, line: int, function: str, thread: int
) -> None:
    logger = logging.getLogger(name)
    level = LEVELS[min(max(severity, 0), len(LEVELS) - 1)]
    if not logger.isEnabledFor(level):
        return
    record = logger.makeRecord(name, level, file, line, message, (), None, function)
    record.created = created
    record.msecs = (created % 1) * 1000
    record.thread = thread
    record.threadName = next((t.name for t in threading.enumerate() if t.ident == thread), f"native {thread}")
    logger.handle(record)


def _deliver_until_stopped() -> None:
    while not _stopping:
        abi.wait_for_log_records()
        flush()


def _stop() -> None:
    global _stopping
    if _thread is None:
        return
    _stopping = True
    abi.close_log_delivery()
    _thread.join()
    flush()


def _restart_in_child() -> None:
    global _thread, _start_lock, _delivery_lock
    if _thread is None:
        return
    _start_lock = threading.Lock()
    _delivery_lock = threading.RLock()
    _thread = None
    abi.replace_log_queue_after_fork()
    start()


atexit.register(_stop)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_restart_in_child)
