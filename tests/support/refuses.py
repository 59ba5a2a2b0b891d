"""Errors as users see them: their class, what they name, and what holds for every message."""

from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike, fspath

import pytest

from ncc.errors import COMMAND_LINE, NccError

LONGEST = 700
"""Letters of a message, at most; a compiler's command and what it said come on top."""


@contextmanager
def refuses(kind: type[NccError], *nouns: str | PathLike[str]) -> Iterator[pytest.ExceptionInfo[NccError]]:
    """Holds that a block ends in an error of a class, whose message names all nouns and is a sentence for people."""
    with pytest.raises(kind) as caught:
        yield caught
    check_message(str(caught.value), *nouns)


def check_message(message: str, *nouns: str | PathLike[str]) -> None:
    """Holds that a message names all nouns, and holds nothing that only programmers read."""
    missing = [noun for noun in nouns if fspath(noun) not in message]
    assert not missing, f"{message!r} does not name {missing}"
    told = message.partition(COMMAND_LINE)[0]
    assert len(told.split()) >= 3, f"{told!r} is no sentence"
    assert len(told.splitlines()[0]) <= LONGEST, f"{len(told)} letters: {told[:200]!r}…"
    for inner in ("Traceback", "None", "<object at", " object at 0x"):
        assert inner not in told, f"{told!r} holds {inner!r}"
