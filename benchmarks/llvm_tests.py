"""LLVM's own tests, read by ncc and by LLVM: verdicts, functions, opcodes and numbers of operands.

    python benchmarks/llvm_tests.py FOLDER [--jobs 2]

FOLDER holds `llvm/test` of a release's source. Each `.ll` file below it is read in a worker process, so that one that
ends LLVM counts as refused and no more. LLVM accepts a file that it parses and verifies. Every difference is listed
under its cause: the message of who refuses, or the first instruction that is another.
"""

import argparse
import importlib
import json
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import llvmlite.binding as llvm

import ncc
from ncc.errors import NccError
from ncc.ir.reader.abstraction import Abstraction
from ncc.ir.reader.native import OPCODES
from ncc.ir.reader.reader import print_canonically, read_module
from ncc.system.files.text import command_line
from ncc.system.workers.pool import Pool
from ncc_lab.environment import environment

RESULT = Path(__file__).with_name("results") / "llvm_tests.json"
EXAMPLES = 3
"""Files that the result names for each cause."""
LEAST_READ = 0.9999
BODY_OF = "__clang_ocl_kern_imp_"
"""What clang puts before the name of a kernel's body, of which ncc reads one copy."""
ABSTRACTION = Abstraction(keep_casts=True)

Functions = list[tuple[str, list[tuple[str, int]]]]
"""Names, empty where LLVM has but a number; opcode and number of operands of each instruction."""


class Verdicts(NamedTuple):
    """Messages of LLVM and of ncc about a file, empty where they accept it, and how their readings differ."""

    by_llvm: str
    by_ncc: str
    difference: str = ""
    instructions: int = 0


def functions_of_llvm(text: str) -> Functions:
    """Parses and verifies; operands as ncc counts them."""
    module = llvm.parse_assembly(text, llvm.create_context())
    module.verify()
    return [
        (function.name, [instruction_of(one) for block in function.blocks for one in block.instructions])
        for function in module.functions
        if not function.is_declaration and not function.name.startswith(BODY_OF)
    ]


def instruction_of(value: llvm.ValueRef) -> tuple[str, int]:
    """A number that LLVM counts otherwise than its text has operands is given as in the text."""
    opcode = value.opcode
    if opcode in ("alloca", "call", "invoke", "callbr"):  # one element, and bundles' constants, are not in ncc's
        return opcode, 0
    number = sum(1 for _ in value.operands)
    if opcode == "phi":  # blocks
        number *= 2
    elif opcode == "shufflevector":  # the mask
        number = 3
    return opcode, number


def functions_of_ncc(data: bytes) -> Functions:
    """The same data from ncc's arrays."""
    module = read_module(data, abstraction=ABSTRACTION)
    numbers = (module.operand_start[1:] - module.operand_start[:-1]).tolist()
    opcodes = [OPCODES[opcode] for opcode in module.opcode.tolist()]
    counted = [
        (opcode, 0 if opcode in ("alloca", "call", "invoke", "callbr") else number)
        for opcode, number in zip(opcodes, numbers, strict=True)
    ]
    names = ("" if name.isdigit() else name for name in module.function_names)
    return [(name, [counted[number] for number in module.body(function)]) for function, name in enumerate(names)]


def compare(path: str, *, with_llvm: bool = True) -> Verdicts:
    """Reads a file both ways, in a worker; what LLVM upgrades while it reads is compared as LLVM prints it."""
    data = Path(path).read_bytes()
    by_llvm = by_ncc = ""
    theirs: Functions = []
    ours: Functions = []
    if with_llvm:
        try:
            theirs = functions_of_llvm(data.decode("utf-8", "backslashreplace"))
        except RuntimeError as error:
            by_llvm = cause_of(str(error))
    try:
        ours = functions_of_ncc(data)
    except NccError as error:
        by_ncc = cause_of(str(error))
    if by_llvm or by_ncc or not with_llvm:
        return Verdicts(by_llvm, by_ncc)
    difference = difference_of(ours, theirs)
    if difference and not difference_of(functions_of_ncc(print_canonically(data)), theirs):
        difference = "LLVM upgrades an older module"
    return Verdicts("", "", difference, sum(len(body) for _, body in theirs))


def difference_of(ours: Functions, theirs: Functions) -> str:
    """The first difference, without names."""
    if len(ours) != len(theirs):
        return "number of functions"
    for (name, body), (their_name, their_body) in zip(ours, theirs, strict=True):
        if name != their_name:
            return "names of functions"
        for one, other in zip(body, their_body, strict=False):
            if one[0] != other[0]:
                return f"{one[0]} where LLVM has {other[0]}"
            if one != other:
                return f"number of operands of {one[0]}"
        if len(body) != len(their_body):
            return "number of instructions"
    return ""


def cause_of(message: str) -> str:
    """A message's first line, or LLVM's reason, without place, names and numbers."""
    reason = re.search(r"^(?:.*?:\d+:\d+: )(?:error: )?(.*)", message, re.MULTILINE)
    text = reason[1] if reason else message.strip().partition("\n")[0]
    return re.sub(r"'[^']*'|[%@!]\S+|\d+", "…", text) or "no reason"


def verdicts_of(paths: list[Path], jobs: int) -> Iterator[tuple[Path, Verdicts]]:
    """In order; a file that ends the worker is read again without LLVM."""
    here = importlib.import_module(Path(__file__).stem)  # by a name that a worker knows
    with Pool(1) as alone:
        results = Pool(jobs).in_order(map(str, paths), here.compare, name_of=str, runs_inline=lambda _: False)
        for path, result in zip(paths, results, strict=True):
            try:
                yield path, result()
            except NccError:
                verdicts = alone.call(str(path), here.compare, str(path), with_llvm=False)
                yield path, Verdicts("LLVM ends the process", verdicts.by_ncc)


def main() -> None:
    """Compares, prints differences, and writes `benchmarks/results/llvm_tests.json`."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("-o", "--output", type=Path, default=RESULT)
    options = parser.parse_args()
    counts: Counter[str] = Counter()
    causes: defaultdict[str, defaultdict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for path, verdicts in verdicts_of(sorted(options.folder.rglob("*.ll")), options.jobs):
        by_llvm, by_ncc, difference, instructions = verdicts
        counts["files"] += 1
        counts["instructions"] += instructions
        counts["accepted by LLVM"] += not by_llvm
        counts["accepted by both"] += not by_llvm and not by_ncc
        counts["refused by both"] += bool(by_llvm and by_ncc)
        counts["equal"] += not (by_llvm or by_ncc or difference)
        kinds = {"refused by ncc alone": by_ncc, "refused by LLVM alone": by_llvm, "read otherwise": difference}
        for kind, cause in kinds.items():
            if cause and not (by_llvm and by_ncc):
                causes[kind][cause].append(str(path.relative_to(options.folder)))
    listed: dict[str, list[dict[str, Any]]] = {
        kind: [
            {"cause": cause, "files": len(files), "examples": files[:EXAMPLES]}
            for cause, files in sorted(found.items(), key=lambda item: -len(item[1]))
        ]
        for kind, found in sorted(causes.items())
    }
    result = {"share_read": round(counts["accepted by both"] / max(counts["accepted by LLVM"], 1), 6), **counts}
    print(json.dumps(result, indent=1))
    for kind, rows in listed.items():
        print(f"{kind}:")
        for row in rows:
            print(f"{row['files']:7,}  {row['cause']}  ({', '.join(row['examples'])})")
    about = {"command": command_line("python benchmarks/llvm_tests.py"), "ncc": ncc.__version__, **environment()}
    options.output.write_text(json.dumps(about | result | {"differences": listed}, indent=1) + "\n")
    sys.exit(result["share_read"] < LEAST_READ)


if __name__ == "__main__":
    main()
