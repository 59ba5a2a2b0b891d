"""Inputs that were found, as JSON files that name the target: nothing loads them by mistake, whatever they hold."""

import base64
import json
from pathlib import Path

__all__ = ["read_input", "write_input"]


def write_input(path: Path, target: str, data: bytes) -> None:
    """Keeps an input of a target."""
    text = base64.encodebytes(data).decode().split()
    path.write_text(json.dumps({"target": target, "base64": text}, indent=1) + "\n")


def read_input(path: Path) -> tuple[str, bytes]:
    """The target's name and the input.

    Raises:
        KeyError, TypeError, ValueError: the file is none that `write_input` wrote.
    """
    kept = json.loads(path.read_bytes())
    return kept["target"], base64.b64decode("".join(kept["base64"]), validate=True)
