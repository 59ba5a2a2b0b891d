"""The process that `ncc.ir.reader.llvm` talks to: reads modules from standard input, prints them to standard output.

A request is four numbers of 8 bytes (length, bytes of memory, seconds, work) and the data; the answer, and the first
one to none, a byte (0 fine, 1 refused, 2 out of memory), 8 bytes of length, and LLVM's printing or message. It imports
nothing of ncc, to start fast; its argument is llvmlite's folder, which it may read.
"""

import contextlib
import importlib.util
import re
import signal
import struct
import sys

if sys.platform != "win32":
    import resource

if __name__ == "__main__":  # not through sys.path, which would require the enclosing folder to be readable
    _spec = importlib.util.spec_from_file_location("llvmlite", f"{sys.argv[1]}/__init__.py")
    assert _spec is not None
    assert _spec.loader is not None
    sys.modules["llvmlite"] = importlib.util.module_from_spec(_spec)
    _spec.loader.exec_module(sys.modules["llvmlite"])

import llvmlite.binding as llvm

_REQUEST, _ANSWER = struct.Struct("<4Q"), struct.Struct("<BQ")
_BITCODE = (b"BC\xc0\xde", b"\xde\xc0\x17\x0b")
_FINE, _REFUSED, _MEMORY = range(3)
_PRINT, _VERIFY, _OPTIMIZE, _SIMPLIFY = range(4)
_INRANGE = re.compile(rb", inrange (?=i\d)")
"""An index in constant addresses of C++'s virtual tables as LLVM 4 to 18 print it; later versions refuse it."""
_UNOPTIMIZED = re.compile(r"^attributes #\d+ = \{.*\boptnone\b.*$", re.MULTILINE)


def print_module(data: bytes, work: int) -> tuple[int, bytes]:
    """Return status and answer."""
    try:
        module = parse(data)
        if work != _PRINT:
            module.verify()
        if work == _OPTIMIZE:
            module = optimize(module)
        if work == _SIMPLIFY:
            # canonicalize: members' addresses in bytes, for instance, and no unused results
            passes = llvm.create_new_module_pass_manager()
            passes.add_dead_arg_elimination_pass()
            passes.add_instruction_combine_pass()
            passes.run(module, pass_builder())
        return _FINE, str(module).encode()
    except MemoryError:
        return _MEMORY, b""
    except (RuntimeError, UnicodeError) as error:
        return _REFUSED, str(error).encode("utf-8", "backslashreplace")


def parse(data: bytes) -> llvm.ModuleRef:
    """Parse text, bitcode, or the bitcode that a compiler put into an object file."""
    if data.startswith(_BITCODE):
        return llvm.parse_bitcode(data)
    if b"\0" not in data:
        data = _INRANGE.sub(lambda match: b",".ljust(len(match[0])), data)  # messages keep their columns
        return llvm.parse_assembly(data.decode("utf-8", "backslashreplace"))
    for section in llvm.ObjectFileRef.from_data(data).sections():
        is_bitcode = section.name() in (b".llvmbc", b"__bitcode", b".llvm.lto")
        if is_bitcode and section.data().startswith(_BITCODE):
            return llvm.parse_bitcode(section.data())
    raise RuntimeError("none of its sections contains bitcode")


def optimize(module: llvm.ModuleRef) -> llvm.ModuleRef:
    """Optimize a module of -O0 like -O2, without unrolling loops or making vectors."""
    text = _UNOPTIMIZED.sub(lambda match: re.sub(r"\b(?:optnone|noinline) ", "", match[0]), str(module))
    text = text.replace(" = { }\n", ' = { "none" }\n')  # a group of attributes must not be empty
    module = llvm.parse_assembly(text)
    builder = pass_builder()
    builder.getModulePassManager().run(module, builder)
    return module


def pass_builder() -> llvm.PassBuilder:
    """Make a pass builder for this machine."""
    llvm.initialize_native_target()
    machine = llvm.Target.from_default_triple().create_target_machine()
    options = llvm.create_pipeline_tuning_options(speed_level=2)
    options.loop_unrolling = options.loop_vectorization = options.slp_vectorization = False
    return llvm.create_pass_builder(machine, options)


def limit(memory: int, seconds: int) -> None:
    """Set the limits of a request; Windows has none."""
    if sys.platform == "win32":
        return
    signal.alarm(seconds)  # the parent kills sooner; this is for when the parent itself was killed
    # the parent worker may have a limit on data; the limit on the address space replaces it
    for kind, wanted in ((resource.RLIMIT_DATA, resource.RLIM_INFINITY), (resource.RLIMIT_AS, memory)):
        hard = resource.getrlimit(kind)[1]
        bounds = [bound for bound in (wanted, hard) if bound != resource.RLIM_INFINITY]
        with contextlib.suppress(ValueError, OSError):  # macOS refuses to set some limits that it defines
            resource.setrlimit(kind, (min(bounds, default=resource.RLIM_INFINITY), hard))


def main() -> None:
    """Serve requests until standard input ends."""
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
        if sys.platform != "win32":
            signal.alarm(0)


if __name__ == "__main__":
    main()
