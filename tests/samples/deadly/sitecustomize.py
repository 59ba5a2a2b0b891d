"""A start-up file of Python, for tests: workers die or hang at files of certain names.

``ncc`` knows nothing of it; it is found by ``PYTHONPATH``.
"""

import os
import signal
import sys
import time
from pathlib import Path


def _kill_once(name: str) -> None:
    mark = Path(name).with_suffix(".mark")
    if not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)


def _sleep(name: str) -> None:
    Path(name).with_suffix(".begun").touch()
    time.sleep(1.5)


DEATHS = {
    "killed": lambda _: os.kill(os.getpid(), signal.SIGKILL),
    "aborts": lambda _: os.abort(),
    "exits": lambda _: os._exit(3),
    "hangs": lambda _: os.kill(os.getpid(), signal.SIGSTOP),
    "sleeps": _sleep,
    "fails": lambda name: name.no_such_attribute,
    "full": lambda name: (_ for _ in ()).throw(OSError(28, "No space left on device", name)),
    "once": _kill_once,
}

if any("ncc.system.workers.worker" in word for word in sys.orig_argv):
    from ncc.ir import inputs
    from ncc.learning.corpus import build
    from ncc.learning.programs import labelled

    read_module = build.read_module

    def deadly(source, *, name=None, **options):
        for word, die in DEATHS.items():
            if word in Path(name or source).stem.split("_"):
                die(str(name or source))
        return read_module(source, name=name, **options)

    build.read_module = labelled.read_module = inputs.read_module = deadly
