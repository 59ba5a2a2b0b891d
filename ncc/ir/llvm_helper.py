"""The process that `ncc.ir.llvm` talks to: reads modules from standard input, prints them to standard output.

A request is 8 bytes of length and the data; the answer a byte (0 fine, 1 refused), 8 bytes of length, and LLVM's
printing or message. Knows nothing of ncc, so that it starts fast.
"""

import sys

import llvmlite.binding as llvm


def print_module(data: bytes) -> tuple[int, bytes]:
    """Status and answer."""
    try:
        if data.startswith((b"BC\xc0\xde", b"\xde\xc0\x17\x0b")):
            return 0, str(llvm.parse_bitcode(data)).encode()
        return 0, str(llvm.parse_assembly(data.decode("utf-8", "backslashreplace"))).encode()
    except (RuntimeError, UnicodeError, MemoryError) as error:
        return 1, (str(error) or type(error).__name__).encode("utf-8", "backslashreplace")


def main() -> None:
    """Serves requests until standard input ends."""
    requests, answers = sys.stdin.buffer, sys.stdout.buffer
    while len(head := requests.read(8)) == 8:
        status, answer = print_module(requests.read(int.from_bytes(head, "little")))
        answers.write(bytes([status]) + len(answer).to_bytes(8, "little"))
        answers.write(answer)
        answers.flush()


if __name__ == "__main__":
    main()
