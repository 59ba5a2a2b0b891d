"""The process that `ncc.ir.llvm` talks to: reads modules from standard input, prints them to standard output.

A request is four numbers of 8 bytes (length, bytes of memory, seconds, whether to verify) and the data; the answer a
byte (0 fine, 1 refused, 2 out of memory), 8 bytes of length, and LLVM's printing or message. Knows nothing of ncc, so
that it starts fast; the folder that holds llvmlite is its argument.
"""

import contextlib
import signal
import struct
import sys

if __name__ == "__main__":
    sys.path.append(sys.argv[1])

import llvmlite.binding as llvm

_REQUEST = struct.Struct("<4Q")
_ANSWER = struct.Struct("<BQ")
_FINE, _REFUSED, _MEMORY = range(3)


def print_module(data: bytes, verify: bool) -> tuple[int, bytes]:
    """Status and answer."""
    try:
        if data.startswith((b"BC\xc0\xde", b"\xde\xc0\x17\x0b")):
            module = llvm.parse_bitcode(data)
        else:
            module = llvm.parse_assembly(data.decode("utf-8", "backslashreplace"))
        if verify:
            module.verify()
        return _FINE, str(module).encode()
    except MemoryError:
        return _MEMORY, b""
    except (RuntimeError, UnicodeError) as error:
        return _REFUSED, str(error).encode("utf-8", "backslashreplace")


def limit(memory: int, seconds: int) -> None:
    """Sets the limits of a request, where the system has them."""
    if hasattr(signal, "alarm"):
        # the parent kills sooner; this is for when the parent itself was killed
        signal.alarm(seconds)
        import resource

        with contextlib.suppress(ValueError, OSError):  # that of a worker that started this; the next one bounds it too
            hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
            resource.setrlimit(resource.RLIMIT_DATA, (hard, hard))
        hard = resource.getrlimit(resource.RLIMIT_AS)[1]
        with contextlib.suppress(ValueError, OSError):  # macOS knows the limit and refuses to set it
            soft = memory if hard == resource.RLIM_INFINITY else min(memory, hard)
            resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def main() -> None:
    """Serves requests until standard input ends."""
    requests, answers = sys.stdin.buffer, sys.stdout.buffer
    while len(head := requests.read(_REQUEST.size)) == _REQUEST.size:
        length, memory, seconds, verify = _REQUEST.unpack(head)
        limit(memory, seconds)
        status, answer = print_module(requests.read(length), bool(verify))
        answers.write(_ANSWER.pack(status, len(answer)))
        answers.write(answer)
        answers.flush()
        if hasattr(signal, "alarm"):
            signal.alarm(0)


if __name__ == "__main__":
    main()
