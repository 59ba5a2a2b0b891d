"""The process that `ncc.ir.reader.llvm` talks to: reads modules from standard input, prints them to standard output.

It writes an answer without text once it has started. A request is four numbers of 8 bytes (length, bytes of memory,
seconds, work) and the data; the answer a byte (0 fine, 1 refused, 2 out of memory), 8 bytes of length, and LLVM's
printing or message. It imports nothing of ncc, so that it starts fast; its argument is llvmlite's folder, the only one
beside Python's own that it may read.
"""

import contextlib
import importlib.util
import re
import signal
import struct
import sys

if __name__ == "__main__":  # not by sys.path, for which the folder around it would have to be readable
    _spec = importlib.util.spec_from_file_location("llvmlite", f"{sys.argv[1]}/__init__.py")
    assert _spec is not None
    assert _spec.loader is not None
    sys.modules["llvmlite"] = importlib.util.module_from_spec(_spec)
    _spec.loader.exec_module(sys.modules["llvmlite"])

import llvmlite.binding as llvm

_REQUEST = struct.Struct("<4Q")
_ANSWER = struct.Struct("<BQ")
_BITCODE = (b"BC\xc0\xde", b"\xde\xc0\x17\x0b")
_FINE, _REFUSED, _MEMORY = range(3)
_PRINT, _VERIFY, _OPTIMISE, _SIMPLIFY = range(4)
_INRANGE = re.compile(rb", inrange (?=i\d)")
"""Of an index, as LLVM 4 to 18 print it in constant addresses of C++'s virtual tables; later ones refuse it."""
_UNOPTIMISED = re.compile(r"^attributes #\d+ = \{.*\boptnone\b.*$", re.MULTILINE)


def print_module(data: bytes, work: int) -> tuple[int, bytes]:
    """Status and answer."""
    try:
        if data.startswith(_BITCODE):
            module = llvm.parse_bitcode(data)
        elif b"\0" in data:
            module = llvm.parse_bitcode(find_bitcode(data))
        else:
            data = _INRANGE.sub(lambda found: b",".ljust(len(found[0])), data)  # messages keep their columns
            module = llvm.parse_assembly(data.decode("utf-8", "backslashreplace"))
        if work == _VERIFY:
            module.verify()
        if work == _OPTIMISE:
            module = optimised(module)
        if work == _SIMPLIFY:
            simplify(module)
        return _FINE, str(module).encode()
    except MemoryError:
        return _MEMORY, b""
    except (RuntimeError, UnicodeError) as error:
        return _REFUSED, str(error).encode("utf-8", "backslashreplace")


def find_bitcode(data: bytes) -> bytes:
    """The bitcode that a compiler put into an object file."""
    sections = llvm.ObjectFileRef.from_data(data).sections()
    found = [section.data() for section in sections if section.name() in (b".llvmbc", b"__bitcode", b".llvm.lto")]
    if not any(one.startswith(_BITCODE) for one in found):
        raise RuntimeError("none of its sections holds bitcode")
    return next(one for one in found if one.startswith(_BITCODE))


def optimised(module: llvm.ModuleRef) -> llvm.ModuleRef:
    """A module of -O0 as -O2 leaves it, but for loops that are unrolled or made vectors."""
    module.verify()
    text = _UNOPTIMISED.sub(lambda found: re.sub(r"\b(?:optnone|noinline) ", "", found[0]), str(module))
    text = text.replace(" = { }\n", ' = { "none" }\n')  # a group of attributes must not be empty
    module = llvm.parse_assembly(text)
    builder = pass_builder()
    builder.getModulePassManager().run(module, builder)
    return module


def simplify(module: llvm.ModuleRef) -> None:
    """Writes instructions as this LLVM does, such as members' addresses in bytes, without results that nobody uses."""
    module.verify()
    passes = llvm.create_new_module_pass_manager()
    passes.add_dead_arg_elimination_pass()
    passes.add_instruction_combine_pass()
    passes.run(module, pass_builder())


def pass_builder() -> llvm.PassBuilder:
    """What runs passes, for this machine."""
    llvm.initialize_native_target()
    machine = llvm.Target.from_default_triple().create_target_machine()
    options = llvm.create_pipeline_tuning_options(speed_level=2)
    options.loop_unrolling = options.loop_vectorization = options.slp_vectorization = False
    return llvm.create_pass_builder(machine, options)


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
    answers.write(_ANSWER.pack(_FINE, 0))
    answers.flush()
    while len(head := requests.read(_REQUEST.size)) == _REQUEST.size:
        length, memory, seconds, work = _REQUEST.unpack(head)
        limit(memory, seconds)
        status, answer = print_module(requests.read(length), work)
        answers.write(_ANSWER.pack(status, len(answer)))
        answers.write(answer)
        answers.flush()
        if hasattr(signal, "alarm"):
            signal.alarm(0)


if __name__ == "__main__":
    main()
