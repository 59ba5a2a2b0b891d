"""The worker's side of a pool: messages from and to its parent, its limits, and its end."""

import logging
import os
import pickle
import signal
import sys
import threading
import time
from collections.abc import Generator
from contextlib import suppress
from typing import Any, Never

from ncc.errors import NccError
from ncc.system.sandbox import confine
from ncc.system.sandbox.limits import GIGABYTE
from ncc.system.sandbox.process import HEAD
from ncc.system.workers.failures import describe_defect, is_defect

_GRACE_S = 2.0


class ParentPipe:
    """Messages to and from the parent through the original standard input and output; prints go to standard error."""

    def __init__(self) -> None:
        """Take the pipes, and end this process, also in the middle of its work, when the parent closes them."""
        self._requests = os.fdopen(os.dup(0), "rb")
        self._replies = os.dup(1)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(2, 1)
        signal.signal(signal.SIGTERM, _leave)
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent gets it too, and ends its workers
        if sys.platform != "win32":  # ends after its current item
            threading.Thread(target=self._watch, daemon=True).start()

    def receive(self) -> bytes | None:
        """Return the next message; None when the parent has no more."""
        head = self._requests.read(HEAD.size)
        if len(head) < HEAD.size:
            signal.signal(signal.SIGTERM, _stay)  # it is leaving already, and must not be interrupted
            return None
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
        import select

        closed = select.poll()
        closed.register(self._requests, 0)
        closed.poll()
        time.sleep(_GRACE_S)  # an idle main thread leaves by itself
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(_GRACE_S)
        os._exit(1)


def serve(memory_bytes: int) -> None:
    """Answer requests until the parent has no more; a generator's items are answered one by one."""
    if sys.platform != "win32":
        import resource

        for kind, limit in ((resource.RLIMIT_DATA, memory_bytes), (resource.RLIMIT_CORE, 0)):
            soft, hard = resource.getrlimit(kind)
            bounds = [bound for bound in (soft, hard, limit) if bound != resource.RLIM_INFINITY]
            with suppress(ValueError, OSError):  # macOS refuses to set some limits that it defines
                resource.setrlimit(kind, (min(bounds), hard))
    logging.getLogger(confine.__name__).setLevel(logging.ERROR)  # the parent has warned
    parent = ParentPipe()

    def reply(kind: str, value: Any = None) -> None:
        parent.send(pickle.dumps((kind, value)))

    reply("ready")
    while request := parent.receive():
        try:
            function, args, kwargs = pickle.loads(request)
            result = function(*args, **kwargs)
            if isinstance(result, Generator):
                for _ in result:
                    reply("item")
                result = None
            reply("result", result)
        except NccError as error:
            reply("error", error)
        except MemoryError:
            reply("memory", f"needs more memory than {memory_bytes / GIGABYTE:.3g} GB")
        except Exception as error:
            if is_defect(error):
                reply("defect", describe_defect(error))
            else:
                reply("error", type(error)(*error.args))


def _leave(*_: object) -> Never:
    """End this worker, which ends the compiler that it runs; a second signal is ignored."""
    signal.signal(signal.SIGTERM, _stay)
    sys.exit(1)


def _stay(*_: object) -> None:
    """Ignore a signal. `SIG_IGN` would not do: Python complains of a signal that came just before it was set."""
