"""The worker's side of `ncc.system.sandbox.process`: messages to and from its parent, its limits, and its end."""

import os
import select
import signal
import sys
import threading
import time
from contextlib import suppress
from typing import Never

from ncc.system.sandbox.process import HEAD

_GRACE_S = 2.0
_IDLE_S = 0.5


class Parent:
    """The process that started this one, seen from inside.

    It is talked to through what were standard input and output; what this process prints goes to standard error.
    """

    def __init__(self) -> None:
        """Takes the pipes, and ends this process when the parent lets go of them, were it in the middle of its work."""
        self._requests = os.fdopen(os.dup(0), "rb")
        self._answers = os.dup(1)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(2, 1)
        self._is_idle = threading.Event()
        signal.signal(signal.SIGTERM, _leave)
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent gets it too, and ends its workers
        if hasattr(select, "poll"):
            threading.Thread(target=self._watch, daemon=True).start()

    def receive(self) -> bytes | None:
        """The next message; None when the parent has no more."""
        self._is_idle.set()
        head = self._requests.read(HEAD.size)
        if len(head) < HEAD.size:
            signal.signal(signal.SIGTERM, _stay)  # it leaves already, and must not be torn out of that
            return None
        self._is_idle.clear()
        return self._requests.read(*HEAD.unpack(head))

    def send(self, message: bytes) -> None:
        """Sends a message; leaves if the parent has gone."""
        rest = memoryview(HEAD.pack(len(message)) + message)
        try:
            while rest:
                rest = rest[os.write(self._answers, rest) :]
        except OSError:
            _leave()

    def _watch(self) -> None:
        hung_up = select.poll()
        hung_up.register(self._requests, 0)
        hung_up.poll()
        while self._is_idle.wait(_GRACE_S):  # the main thread leaves by itself, or begins what it was sent last
            time.sleep(_IDLE_S)
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(_GRACE_S)
        os._exit(1)


def limit_memory(num_bytes: int) -> None:
    """Has the system refuse memory above a limit, which raises, and write no image of a process that crashes."""
    try:
        import resource
    except ImportError:  # Windows
        return
    for what, most in ((resource.RLIMIT_DATA, num_bytes), (resource.RLIMIT_CORE, 0)):
        soft, hard = resource.getrlimit(what)
        bounds = [bound for bound in (soft, hard, most) if bound != resource.RLIM_INFINITY]
        with suppress(ValueError, OSError):  # macOS knows limits that it refuses to set
            resource.setrlimit(what, (min(bounds), hard))


def _leave(*_: object) -> Never:
    """Ends a worker from inside, which ends the compiler that it runs; who is told twice leaves once."""
    signal.signal(signal.SIGTERM, _stay)
    sys.exit(1)


def _stay(*_: object) -> None:
    """Ignores a signal. `SIG_IGN` would not do: Python complains of a signal that came just before it was set."""
