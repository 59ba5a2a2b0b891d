"""Runs a verb of ``ncc``, in this process or in one of its own, and says what it left."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from typing import Any

from click.testing import CliRunner

from tests.rooms import app


@dataclass(frozen=True)
class Finished:
    """How a command ended, and what it printed."""

    code: int
    out: str
    err: str

    @property
    def rows(self) -> list[Any]:
        """Standard output as JSON: an object a line, or one over several lines."""
        if self.out.startswith("{\n"):
            return [json.loads(self.out)]
        return [json.loads(line) for line in self.out.splitlines()]

    @property
    def row(self) -> Any:
        """The only one, of a command that ended well."""
        assert self.code == 0, self.err
        (row,) = self.rows
        return row


def run_here(*arguments: object, stdin: bytes | None = None) -> Finished:
    """Runs a command in this process; what would be a traceback is raised.

    Args:
        arguments: Of the command, from the verb on.
        stdin: What it reads.
    """
    result = CliRunner().invoke(app, [str(argument) for argument in arguments], input=stdin)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return Finished(result.exit_code, result.stdout, result.stderr)


def start(*arguments: object, **options: Any) -> subprocess.Popen[bytes]:
    """Starts a command in a process of its own, where warnings are errors unless an environment is given.

    Args:
        arguments: Of the command, from the verb on.
        options: Of the process.
    """
    options.setdefault("env", {**os.environ, "PYTHONWARNINGS": "error"})
    words = [argument if isinstance(argument, bytes) else str(argument) for argument in arguments]
    return subprocess.Popen([sys.executable, "-m", "ncc", *words], **options)
