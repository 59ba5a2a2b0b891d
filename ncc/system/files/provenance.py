"""Origin of a model: the command as typed."""

import os
import shlex
import sys
from pathlib import Path


def command_line(program: str = "ncc") -> str:
    """Return the running command without parent folders, so that a card does not depend on the place."""
    ranks = int(os.environ.get("LOCAL_WORLD_SIZE", "1"))
    if ranks > 1:
        program = f"torchrun --nproc-per-node {ranks} -m {program}"
    return f"{program} {shlex.join(Path(word).name if '/' in word else word for word in sys.argv[1:])}"
