"""Errors that the engine raises."""

from __future__ import annotations


class UnsupportedOperator(NotImplementedError):
    """No kernel computes an operator; the message is the reason."""
