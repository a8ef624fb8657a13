"""Text of foreign origin on its way to a terminal."""

from __future__ import annotations


def printable(text: str) -> str:
    """One line of text, with escapes for what a terminal would obey or could not show.

    File names, sonames and node names may hold anything: line breaks that fake a line of a report, sequences that move
    the cursor, marks that turn the direction of writing, bytes that are no text.
    """
    return "".join(
        character if character.isprintable() else character.encode("unicode_escape").decode() for character in text
    )
