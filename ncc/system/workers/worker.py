"""The worker's side of `ncc.system.sandbox.process`: messages to and from its parent, its limits, and its end."""

import os
import resource
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


class ParentPipe:
    """Messages to and from the parent through what were standard input and output; prints go to standard error."""

    def __init__(self) -> None:
        """Take the pipes, and end this process, also in the middle of its work, when the parent closes them."""
        self._requests = os.fdopen(os.dup(0), "rb")
        self._replies = os.dup(1)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(2, 1)
        self._is_idle = threading.Event()
        signal.signal(signal.SIGTERM, _leave)
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent gets it too, and ends its workers
        threading.Thread(target=self._watch, daemon=True).start()

    def receive(self) -> bytes | None:
        """Return the next message; None when the parent has no more."""
        self._is_idle.set()
        head = self._requests.read(HEAD.size)
        if len(head) < HEAD.size:
            signal.signal(signal.SIGTERM, _stay)  # it is leaving already, and must not be interrupted
            return None
        self._is_idle.clear()
        return self._requests.read(*HEAD.unpack(head))

    def send(self, message: bytes) -> None:
        """Send a message; leave if the parent has gone."""
        rest = memoryview(HEAD.pack(len(message)) + message)
        try:
            while rest:
                rest = rest[os.write(self._replies, rest) :]
        except OSError:
            _leave()

    def _watch(self) -> None:
        closed = select.poll()
        closed.register(self._requests, 0)
        closed.poll()
        while self._is_idle.wait(_GRACE_S):  # the main thread leaves by itself, or begins what it was sent last
            time.sleep(_IDLE_S)
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(_GRACE_S)
        os._exit(1)


def limit_memory(num_bytes: int) -> None:
    """Make the system refuse memory beyond a limit, and write no core dumps."""
    for kind, limit in ((resource.RLIMIT_DATA, num_bytes), (resource.RLIMIT_CORE, 0)):
        soft, hard = resource.getrlimit(kind)
        bounds = [bound for bound in (soft, hard, limit) if bound != resource.RLIM_INFINITY]
        with suppress(ValueError, OSError):  # macOS knows limits that it refuses to set
            resource.setrlimit(kind, (min(bounds), hard))


def _leave(*_: object) -> Never:
    """End this worker, which ends the compiler that it runs; a second signal is ignored."""
    signal.signal(signal.SIGTERM, _stay)
    sys.exit(1)


def _stay(*_: object) -> None:
    """Ignore a signal. `SIG_IGN` would not do: Python complains of a signal that came just before it was set."""
