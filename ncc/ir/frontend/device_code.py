"""Extracts the device part of a CUDA or HIP file whose host part does not compile here.

Programs include libraries that only the host needs, and call them. So the file is preprocessed, with empty files for
headers that are not found, and what the compiler refuses is left out: statements of host functions, and functions of
the device as a whole, so that a kernel is either complete or not there, and then listed with its reason.
"""

import os
import re
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

from ncc.errors import CompileError
from ncc.ir.frontend.clang import OWN_HEADERS, Clang, compile_command, with_extensions
from ncc.ir.frontend.options import CompileOptions
from ncc.ir.frontend.run import CompiledSource, FinishedProcess, run_compiler
from ncc.ir.frontend.scopes import Scopes

_MOST_HEADERS, _MOST_ROUNDS, _MOST_IN_FUNCTION = 60, 40, 6
MOST_TOLD = 10
"""Of what is left out."""
_MOST_BYTES, _LONGEST_HEAD = 2**25, 1000
_LIBRARIES = {
    **{name: name for name in ("thrust", "cub", "cooperative_groups")},
    **dict.fromkeys(("cuda", "cuda_pipeline", "cuda_pipeline_primitives"), "libcudacxx"),
}
_WITHOUT_PYTHON = OWN_HEADERS / "cuda" / "python"
_DEEP = Path("a/b/c/d/e/f/g/h")
_NOT_FOUND = re.compile(r"error: '([^']+)' file not found")
_MARKER = re.compile(r'^# (\d+) "((?:[^"\\]|\\.)*)"([ \d]*)$', re.MULTILINE)
_SAID = re.compile(r"^<stdin>:(\d+):(\d+): (error|fatal error|note|warning): (.*)$", re.MULTILINE)
_HOST = re.compile(r"reference to __host__ (?:function|variable) '")
_NOT_VIABLE = tuple(f"call to __host__ function from {kind} function" for kind in ("__device__", "__global__"))
_BOTH = "__attribute__((host)) __attribute__((device)) "
_TEMPLATE_HEAD = re.compile(r"(?:\s*template\s*<(?:[^<>]|<(?:[^<>]|<[^<>]*>)*>)*>)+\s*")
_ARGUMENTS = r"<(?:[^<>;{}()]|<[^<>;]*>|\([^()]*\))*>"
_LAUNCH = re.compile(rf"(?<![\w:])((?:::)?[A-Za-z_][\w:]*\s*(?:{_ARGUMENTS})?)\s*<<<")
_INSTANCE = re.compile(rf"(?<![\w:])(?:::)?(?:[A-Za-z_]\w*::)*([A-Za-z_]\w*)\s*{_ARGUMENTS}(?!\s*<<<)")
_GLOBAL = "__attribute__((global))"
_ATTRIBUTE = re.compile(r"__attribute__\(\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)\)")
_NAME = re.compile(r"[^(){};]*?([A-Za-z_]\w*)\s*\(")
_BRANCH = re.compile(r"\s*(else\b)?\s*(if\b)?")
_ELSE = re.compile(r"[;}]?\s*else\b")
_KERNEL = re.compile(rb"^define [^\n@]*\b(?:ptx_kernel|amdgpu_kernel) ", re.MULTILINE)


def compile_device_code(
    compiler: Clang,
    source: str | bytes,
    options: CompileOptions,
    readable: Sequence[str | os.PathLike[str]],
) -> CompiledSource | None:
    """Compiles what can be compiled of a file's device code."""
    run = _Runs(compiler, source, options, readable)
    try:
        text, empty = run.preprocess()
        code = _DeviceCodePruner(text, (*options.searched, *_last_folders(run.options.flags))).compile(run)
    except CompileError as error:
        if error.timed_out:
            raise CompileError(
                f"{run.name}: leaving out what does not compile took longer than {options.timeout_s:g} seconds; "
                "a larger time limit (--timeout, timeout_s) gives it longer",
                timed_out=True,
            ) from error
        return None
    if code is None:
        return None
    if not _KERNEL.search(code[0]):
        if not empty:
            return None
        raise _nothing_left(run.name, code[1], empty)
    return CompiledSource(
        ir=code[0],
        command=compile_command(compiler, "cuda", None if isinstance(source, bytes) else source, run.options),
        language="cuda",
        warnings="",
        skipped_functions=tuple(code[1].items()),
        empty_headers=tuple(empty),
    )


def _nothing_left(name: str, skipped_functions: dict[str, str], empty: Sequence[str]) -> CompileError:
    why = "when what does not compile is left out" if skipped_functions else "without headers that are not there"
    lines = [f"{name}: no kernel is left {why}"]
    lines += [f"{function}: {reason}" for function, reason in list(skipped_functions.items())[:MOST_TOLD]]
    if len(skipped_functions) > MOST_TOLD:
        lines.append(f"and {len(skipped_functions) - MOST_TOLD} more functions")
    lines.append(f"headers that were not found: {', '.join(empty)}; where they are on this machine: -I FOLDER")
    if parts := sorted({library for header in empty if (library := _library_of(header)) in _LIBRARIES}):
        lines.append(f"of {', '.join(parts)} ncc has a part; all of it: ncc's extra cuda, or --cuda-path")
    return CompileError("\n  ".join(lines), tuple(skipped_functions.values()))


class _Runs:
    """Runs of the compiler on one file."""

    def __init__(
        self,
        compiler: Clang,
        source: str | bytes,
        options: CompileOptions,
        readable: Sequence[str | os.PathLike[str]],
    ) -> None:
        self.compiler, self.source, self.options, self.readable = compiler, source, options, readable
        self.name = "source text" if isinstance(source, bytes) else source
        self.end = time.monotonic() + options.timeout_s

    def preprocess(self) -> tuple[str, list[str]]:
        """The file as one text, and the headers that were not found."""
        empty: list[str] = []
        with tempfile.TemporaryDirectory(prefix="ncc-headers-") as folder:
            root = Path(folder, _DEEP)
            root.mkdir(parents=True)
            while True:
                ours = ("-idirafter", str(_WITHOUT_PYTHON))
                flags = (*ours, *self.options.flags, "-w", "-E", "-idirafter", str(root), "-idirafter", folder)
                try:
                    return self._run(self.source, flags, self.readable).stdout.decode(errors="replace"), empty
                except CompileError as error:
                    found = next((found for line in error.errors if (found := _NOT_FOUND.search(line))), None)
                    if found is None or found[1] in empty or len(empty) == _MOST_HEADERS:
                        raise
                    if extended := with_extensions(self.options, error.errors, "cuda"):
                        self.options = extended
                        continue
                    empty.append(found[1])
                    path = Path(os.path.normpath(root / found[1].lstrip("/")))
                    if not path.is_relative_to(folder):
                        raise
                    path.parent.mkdir(parents=True, exist_ok=True)
                    path.write_text(_instead_of(found[1]))

    def compile(self, text: str) -> FinishedProcess | CompileError:
        """IR of a preprocessed text, or what is said against it."""
        own = (
            "-DNCC_CUDA_PRELUDE_H",
            "-w",
            "-ferror-limit=0",
            "-ftemplate-backtrace-limit=0",
            "-fno-caret-diagnostics",
        )
        try:
            return self._run(text.encode(), (*self.options.flags, *own), ())
        except CompileError as error:
            if error.timed_out:
                raise
            return error

    def _run(
        self, source: str | bytes, flags: tuple[str, ...], readable: Sequence[str | os.PathLike[str]]
    ) -> FinishedProcess:
        left_s = self.end - time.monotonic()
        if left_s <= 0:
            raise CompileError("time is up", timed_out=True)
        options = replace(self.options, flags=flags, timeout_s=left_s)
        command = compile_command(self.compiler, "cuda", None if isinstance(source, bytes) else source, options)
        return run_compiler(self.compiler, command, options, name=self.name, source=source, readable=readable)


def _last_folders(flags: Sequence[str]) -> tuple[str, ...]:
    return tuple(folder for flag, folder in pairwise(flags) if flag == "-idirafter")


def _library_of(header: str) -> str:
    return header.split("/", maxsplit=1)[0].split(".", maxsplit=1)[0]


def _instead_of(header: str) -> str:
    """What a header that is not found holds: libraries whose names device code uses, or half floats for a .cuh."""
    ours = _LIBRARIES.get(_library_of(header), "cuda_fp16" if header.endswith(".cuh") else "")
    return f'#include "{OWN_HEADERS / "cuda" / ours}.h"\n' if ours else ""


@dataclass(frozen=True)
class _Error:
    """An error of the compiler: its words, the places that it names, in order, and that of a host's declaration."""

    text: str
    places: tuple[int, ...]
    host: int | None = None


class _DeviceCodePruner:
    """A preprocessed text that ever more is left out of."""

    def __init__(self, text: str, searched: tuple[str, ...]) -> None:
        if len(text) > _MOST_BYTES:
            raise CompileError("too long a text")
        self.markers = [line if _MARKER.match(line) else "" for line in text.split("\n")]
        self.text, self.own = _without_markers(text, searched)
        heads = (_ATTRIBUTE.sub("", head[:_LONGEST_HEAD]) for head in self.text.split(_GLOBAL)[1:])
        self.kernels = frozenset(found[1] for head in heads if (found := _NAME.match(head)))
        self.skipped_functions: dict[str, str] = {}
        self.shared: set[int] = set()
        self.tries: dict[int, int] = {}  # by place of a function's brace; what is left out leaves its blanks

    def compile(self, run: _Runs) -> tuple[bytes, dict[str, str]] | None:
        """IR and what was left out, with reasons; None where it does not end."""
        for _ in range(_MOST_ROUNDS):
            result = run.compile(self.text)
            if isinstance(result, FinishedProcess):
                return self._with_lines(run, result), self.skipped_functions
            errors = self._errors(result.said)
            if not errors or not self._leave_out(errors):
                return None
        return None

    def _with_lines(self, run: _Runs, result: FinishedProcess) -> bytes:
        """The IR, where lines are asked for with those of the source."""
        if run.options.debug_lines:
            lines = zip(self.text.split("\n"), self.markers, strict=True)
            again = run.compile("\n".join(marker or line for line, marker in lines))
            result = again if isinstance(again, FinishedProcess) else result
        return result.stdout

    def _errors(self, said: str) -> list[_Error]:
        starts = [0]
        for line in self.text.splitlines(keepends=True):
            starts.append(starts[-1] + len(line.encode()))
        found: list[_Error] = []
        for line, column, kind, words in _SAID.findall(said):
            if "error" in kind:
                found.append(_Error(words, ()))
            if found and int(line) < len(starts):
                error, place = found[-1], self._place(starts[int(line) - 1] + int(column) - 1)
                is_host = words.endswith("declared here") and _HOST.search(error.text)
                host = place if is_host or words.endswith(_NOT_VIABLE) else error.host
                found[-1] = _Error(error.text, (*error.places, place), host)
        return found

    def _place(self, byte: int) -> int:
        if self.text.isascii():
            return byte
        return len(self.text.encode()[:byte].decode(errors="ignore"))

    def _leave_out(self, errors: list[_Error]) -> bool:
        scopes, cuts = Scopes(self.text), dict[tuple[int, int], str]()
        for error in errors:
            if error.host is not None and (at := self._beginning(scopes, error.host)) not in self.shared:
                self.shared.add(at)
                cuts[at, at - 1] = "__attribute__((device)) " if "__host__ variable" in error.text else _BOTH
                continue
            place = next((place for place in error.places if self._is_own(place)), None)
            if place is None:
                continue
            begin, end, instead = self._cut(scopes, place, error.text)
            if self.text[begin : end + 1].strip():
                cuts[begin, end] = instead
        done = -1
        parts, at = [], 0
        for (begin, end), instead in sorted(cuts.items(), key=lambda cut: (cut[0][0], -cut[0][1])):
            if begin <= done:
                continue
            if end < begin:  # nothing is left out here
                parts += [self.text[at:begin], instead]
                at = begin
                continue
            parts += [self.text[at:begin], _blanked(self.text[begin : end + 1], instead)]
            at, done = end + 1, end
        self.text = "".join(parts) + self.text[at:]
        return bool(cuts)

    def _beginning(self, scopes: Scopes, place: int) -> int:
        """Where a declaration begins, behind its template's parameters."""
        scope = scopes.at(place)[-1]
        begin, end = scopes.unit(scope, place)
        found = _TEMPLATE_HEAD.match(self.text, begin, end)
        return found.end() if found else begin

    def _is_own(self, place: int) -> bool:
        return bool(self.own[self.text.count("\n", 0, place)])

    def _cut(self, scopes: Scopes, place: int, reason: str) -> tuple[int, int, str]:
        """First and last character of what is left out for an error, and what comes instead."""
        around = scopes.at(place)
        function = next((block for block in around if block.kind == "function"), None)
        if function is None:  # of a declaration, or of the head of a function
            scope = around[-1]
            while scope.is_whole and scope.parent:
                scope = scope.parent
            begin, end = scopes.unit(scope, place)
            head = next((block for block in scope.blocks if begin <= block.open <= end), None)
            if head is not None and head.kind == "function":
                if head.is_device:
                    self.skipped_functions.setdefault(head.name, reason)
                elif self._launches(head.open, head.close):  # such as a macro's that tests begin with
                    return begin, head.open - 1, f"void ncc_{begin}()"
            return begin, end, ""
        if function.is_device:
            self.skipped_functions.setdefault(function.name, reason)
            return (*scopes.unit(function.parent or scopes.file, function.open), "")
        self.tries[function.open] = tries = self.tries.get(function.open, 0) + 1
        inner = around[-1]
        if tries > 3 * _MOST_IN_FUNCTION or inner is function.parent:
            return (*scopes.unit(function.parent or scopes.file, function.open), "")
        if tries > 2 * _MOST_IN_FUNCTION:
            return function.open + 1, function.close - 1, self._launches(function.open, function.close)
        begin, end = scopes.unit(inner, place)
        launches = self._launches(begin, end)
        statement = self.text[begin : end + 1]
        body = f"{{ {launches} }}" if launches and launches.strip() not in statement else ";"
        branch = _BRANCH.match(statement)  # whatever there is
        is_else, is_if = branch.groups() if branch else (None, None)
        if is_if and _ELSE.match(self.text, end):
            body = f"if (0) {body}"
        return begin, min(end, inner.close - 1), f"else {body}" if is_else else body

    def _launches(self, begin: int, end: int) -> str:
        """Statements that need the kernels which are launched between two places, without their arguments."""
        found = [launch[1] for launch in _LAUNCH.finditer(self.text, begin, end)]
        found += [name[0] for name in _INSTANCE.finditer(self.text, begin, end) if name[1] in self.kernels]
        names = dict.fromkeys(" ".join(name.split()) for name in found)
        return " ".join(f"(void)(&{name});" for name in names if not name.startswith("if"))


def _blanked(text: str, instead: str) -> str:
    """What comes instead of a text, then blanks: as many lines, and where there is room as many characters."""
    blank, end = re.sub(r"[^\n]", " ", text), len(instead)
    while end < len(blank) and (more := len(instead) + blank.count("\n", 0, end)) > end:
        end = more
    return instead + "\n" * blank.count("\n", 0, end) + blank[end:]


def _without_markers(text: str, searched: tuple[str, ...]) -> tuple[str, list[bool]]:
    """A preprocessed text without line markers, and of each of its lines whether it is the source's own."""
    own, lines, is_own = list[bool](), [], True
    for line in text.split("\n"):
        if marker := _MARKER.match(line):
            ours = marker[2].startswith(("<", str(OWN_HEADERS))) and marker[2] != "<stdin>"
            is_system = "3" in marker[3].split() and not marker[2].startswith(searched)
            is_own = not is_system and not ours
        lines.append("" if marker else line)
        own.append(is_own)
    return "\n".join(lines), own
