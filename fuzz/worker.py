"""The process that tries inputs: takes blocks of numbers as JSON, answers with what it finds and with counts.

It says in a `Slot` what it is about to try. If it dies or hangs, the parent finds the input there.
"""

import base64
import json
import random
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from fuzz.slot import Slot
from fuzz.targets import find_target
from fuzz.trial import Problem, attempt
from ncc.system.workers.worker import ParentPipe

__all__: list[str] = []


def limit_memory(mib: int) -> None:
    """Limits what this process and its children may map beyond what it has mapped by now."""
    if sys.platform != "linux":
        return
    import resource

    pages = int(Path("/proc/self/statm").read_text().split()[0])
    most = pages * resource.getpagesize() + (mib << 20)
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def run_block(slot: Slot, request: dict[str, Any], say: Callable[[dict[str, Any]], None]) -> None:
    """Tries inputs ``start`` to ``start + count - 1`` of a target; says what is found at once, and the counts."""
    target = find_target(request["target"])
    accepted = refused = 0
    start = time.perf_counter()
    for done in range(request["count"]):
        index = request["start"] + done
        data = target.input(request["seed"], index)
        random.seed(index)
        slot.write(done + 1, accepted, refused, data)
        result = attempt(target, data)
        if isinstance(result, Problem):
            say(vars(result) | {"index": index, "data": base64.b64encode(data).decode()})
        elif result:
            accepted += 1
        else:
            refused += 1
    say({"accepted": accepted, "refused": refused, "seconds": time.perf_counter() - start})


def main(slot_path: str, memory_mib: int, names: str) -> None:
    """Serves blocks until the parent has no more."""
    parent = ParentPipe()

    def say(answer: dict[str, Any]) -> None:
        parent.send(json.dumps(answer).encode())

    for name in filter(None, names.split(",")):
        find_target(name).input(0, 0)  # seeds are made before memory is limited
    limit_memory(memory_mib)
    slot = Slot(Path(slot_path))
    say({})
    while request := parent.receive():
        slot.clear()
        run_block(slot, json.loads(request), say)
