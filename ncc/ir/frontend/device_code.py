"""Extracts the device part of a CUDA or HIP file whose host part does not compile here.

The file is preprocessed, with empty files for headers that are not found, and what the compiler refuses is removed:
statements of host functions, and functions of the device as a whole, so that a kernel is whole, or listed as skipped.
"""

import os
import re
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path

from ncc.errors import CompileError
from ncc.ir.frontend.clang import OWN_HEADERS, with_extensions
from ncc.ir.frontend.options import CompileOptions
from ncc.ir.frontend.run import CompiledSource, TranslationUnit
from ncc.ir.frontend.scopes import Scopes

_MAX_HEADERS, _MAX_ROUNDS, _MAX_IN_FUNCTION = 60, 40, 6
MAX_LISTED = 10
"""Skipped functions in a message."""
_MAX_CHARS, _MAX_HEAD = 2**25, 1000
_LIBRARIES = {
    **{name: name for name in ("thrust", "cub", "cooperative_groups")},
    **dict.fromkeys(("cuda", "cuda_pipeline", "cuda_pipeline_primitives"), "libcudacxx"),
}
_WITHOUT_PYTHON = OWN_HEADERS / "cuda" / "python"
_DEEP = Path("a/b/c/d/e/f/g/h")
_NOT_FOUND = r"error: '([^']+)' file not found"
_MARKER = r'^# (\d+) "((?:[^"\\]|\\.)*)"([ \d]*)$'
_MESSAGE = r"(?m)^<stdin>:(\d+):(\d+): (error|fatal error|note|warning): (.*)$"
_HOST = r"reference to __host__ (?:function|variable) '"
_NOT_VIABLE = tuple(f"call to __host__ function from {kind} function" for kind in ("__device__", "__global__"))
_BOTH = "__attribute__((host)) __attribute__((device)) "
_TEMPLATE_HEAD = r"(?:\s*template\s*<(?:[^<>]|<(?:[^<>]|<[^<>]*>)*>)*>)+\s*"
_ARGUMENTS = r"<(?:[^<>;{}()]|<[^<>;]*>|\([^()]*\))*>"
_LAUNCH = rf"(?<![\w:])((?:::)?[A-Za-z_][\w:]*\s*(?:{_ARGUMENTS})?)\s*<<<"
_INSTANCE = rf"(?<![\w:])(?:::)?(?:[A-Za-z_]\w*::)*([A-Za-z_]\w*)\s*{_ARGUMENTS}(?!\s*<<<)"
_GLOBAL = "__attribute__((global))"
_ATTRIBUTE = r"__attribute__\(\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)\)"
_NAME = r"[^(){};]*?([A-Za-z_]\w*)\s*\("
_BRANCH = r"\s*(else\b)?\s*(if\b)?"
_ELSE = r"[;}]?\s*else\b"
_KERNEL = rb"(?m)^define [^\n@]*\b(?:ptx_kernel|amdgpu_kernel) "


def compile_device_code(unit: TranslationUnit, options: CompileOptions) -> CompiledSource | None:
    """Compile as much as possible of a file's device code."""
    run = _Runs(unit, options)
    try:
        text, empty = run.preprocess()
        last = (folder for flag, folder in pairwise(run.options.flags) if flag == "-idirafter")
        ir, skipped = _DeviceCodePruner(text, (*options.searched, *last)).compile(run)
    except CompileError as error:
        if error.timed_out:
            raise CompileError(
                f"{unit.name}: removing code that does not compile took longer than {options.timeout_s:g} seconds; "
                "raise the time limit (--timeout, timeout_s)",
                timed_out=True,
            ) from error
        return None
    if not re.search(_KERNEL, ir):
        if not empty:
            return None
        raise _nothing_left(unit.name, skipped, empty)
    command, skipped_functions = unit.command(run.options), tuple(skipped.items())
    return CompiledSource(ir=ir, command=command, skipped_functions=skipped_functions, empty_headers=tuple(empty))


def _nothing_left(name: str, skipped: dict[str, str], empty: Sequence[str]) -> CompileError:
    why = "when what does not compile is left out" if skipped else "without headers that are not there"
    lines = [f"{name}: no kernel is left {why}"]
    lines += [f"{function}: {reason}" for function, reason in list(skipped.items())[:MAX_LISTED]]
    if len(skipped) > MAX_LISTED:
        lines.append(f"and {len(skipped) - MAX_LISTED} more functions")
    lines.append(f"headers not found: {', '.join(empty)}; pass their folders (-I FOLDER)")
    if parts := sorted({library for header in empty if (library := _library_of(header)) in _LIBRARIES}):
        lines.append(f"of {', '.join(parts)} ncc has a part; all of it: ncc's extra cuda, or --cuda-path")
    return CompileError("\n  ".join(lines), tuple(skipped.values()))


class _Runs:
    """Runs of the compiler on one file within a common time limit."""

    def __init__(self, unit: TranslationUnit, options: CompileOptions) -> None:
        self.unit, self.options = unit, options
        self.end = time.monotonic() + options.timeout_s

    def preprocess(self) -> tuple[str, list[str]]:
        """Return the preprocessed file, and the headers that were not found."""
        empty: list[str] = []
        with tempfile.TemporaryDirectory(prefix="ncc-headers-") as folder:
            root = Path(folder, _DEEP)
            root.mkdir(parents=True)
            while True:
                ours = ("-idirafter", str(_WITHOUT_PYTHON))
                flags = (*ours, *self.options.flags, "-w", "-E", "-idirafter", str(root), "-idirafter", folder)
                try:
                    return self._run(self.unit, flags).decode(errors="replace"), empty
                except CompileError as error:
                    match = next(filter(None, (re.search(_NOT_FOUND, line) for line in error.errors)), None)
                    if match is None or match[1] in empty or len(empty) == _MAX_HEADERS:
                        raise
                    if extended := with_extensions(self.options, error.errors, "cuda"):
                        self.options = extended
                        continue
                    empty.append(match[1])
                    path = Path(os.path.normpath(root / match[1].lstrip("/")))
                    if not path.is_relative_to(folder):
                        raise
                    path.parent.mkdir(parents=True, exist_ok=True)
                    path.write_text(_replacement_header(match[1]))

    def compile(self, text: str) -> bytes:
        """Compile a preprocessed text."""
        own = ("-DNCC_CUDA_PRELUDE_H", "-w", "-ferror-limit=0", "-ftemplate-backtrace-limit=0")
        unit = replace(self.unit, source=text.encode(), readable=())
        return self._run(unit, (*self.options.flags, *own, "-fno-caret-diagnostics"))

    def _run(self, unit: TranslationUnit, flags: tuple[str, ...]) -> bytes:
        left_s = self.end - time.monotonic()
        if left_s <= 0:
            raise CompileError("time limit reached", timed_out=True)
        return unit.run(replace(self.options, flags=flags, timeout_s=left_s)).stdout


def _library_of(header: str) -> str:
    return header.split("/", maxsplit=1)[0].split(".", maxsplit=1)[0]


def _replacement_header(name: str) -> str:
    """Return the text that replaces a missing header: libraries that device code uses, or half floats for a .cuh."""
    ours = _LIBRARIES.get(_library_of(name), "cuda_fp16" if name.endswith(".cuh") else "")
    return f'#include "{OWN_HEADERS / "cuda" / ours}.h"\n' if ours else ""


@dataclass
class _Error:
    """An error of the compiler: its text, the positions it names, in order, and that of a host's declaration."""

    text: str
    positions: list[int] = field(default_factory=list)
    host: int | None = None


class _DeviceCodePruner:
    """A preprocessed text from which parts are removed until it compiles."""

    def __init__(self, text: str, searched: tuple[str, ...]) -> None:
        if len(text) > _MAX_CHARS:
            raise CompileError("the text is too long")
        self.markers: list[str] = []
        self.is_own: list[bool] = []
        """For each line, whether it comes from the source itself."""
        lines, is_own = [], True
        for line in text.split("\n"):
            if marker := re.match(_MARKER, line):
                is_ours = marker[2].startswith(("<", str(OWN_HEADERS))) and marker[2] != "<stdin>"
                is_system = "3" in marker[3].split() and not marker[2].startswith(searched)
                is_own = not is_system and not is_ours
            lines.append("" if marker else line)
            self.markers.append(line if marker else "")
            self.is_own.append(is_own)
        self.text = "\n".join(lines)
        heads = (re.sub(_ATTRIBUTE, "", head[:_MAX_HEAD]) for head in self.text.split(_GLOBAL)[1:])
        self.kernels = frozenset(match[1] for head in heads if (match := re.match(_NAME, head)))
        self.skipped: dict[str, str] = {}
        self.shared: set[int] = set()
        self.tries: dict[int, int] = {}  # position of a function's brace → reason; skipped code is replaced with blanks

    def compile(self, run: _Runs) -> tuple[bytes, dict[str, str]]:
        """Return the IR and the removed parts with reasons; the error if nothing can be removed for it."""
        for _ in range(_MAX_ROUNDS):
            try:
                ir = run.compile(self.text)
            except CompileError as error:
                if error.timed_out or not self._leave_out(self._errors(error.stderr)):
                    raise
                continue
            if run.options.debug_lines:  # only those of the source
                lines = zip(self.text.split("\n"), self.markers, strict=True)
                with suppress(CompileError):
                    ir = run.compile("\n".join(marker or line for line, marker in lines))
            return ir, self.skipped
        raise CompileError("too many parts do not compile")

    def _errors(self, stderr: str) -> list[_Error]:
        starts = [0]
        for line in self.text.splitlines(keepends=True):
            starts.append(starts[-1] + len(line.encode()))
        encoded = None if self.text.isascii() else self.text.encode()
        errors: list[_Error] = []
        for line, column, kind, message in re.findall(_MESSAGE, stderr):
            if "error" in kind:
                errors.append(_Error(message))
            if errors and int(line) < len(starts):
                error, position = errors[-1], starts[int(line) - 1] + int(column) - 1
                if encoded is not None:
                    position = len(encoded[:position].decode(errors="ignore"))
                error.positions.append(position)
                is_host = message.endswith("declared here") and re.search(_HOST, error.text)
                if is_host or message.endswith(_NOT_VIABLE):
                    error.host = position
        return errors

    def _leave_out(self, errors: list[_Error]) -> bool:
        scopes, cuts = Scopes(self.text), dict[tuple[int, int], str]()
        for error in errors:
            if error.host is not None and (start := self._start(scopes, error.host)) not in self.shared:
                self.shared.add(start)
                cuts[start, start - 1] = "__attribute__((device)) " if "__host__ variable" in error.text else _BOTH
                continue
            own = (place for place in error.positions if self.is_own[self.text.count("\n", 0, place)])
            position = next(own, None)
            if position is None:
                continue
            start, end, replacement = self._cut(scopes, position, error.text)
            if self.text[start : end + 1].strip():
                cuts[start, end] = replacement
        done = -1
        parts, position = [], 0
        for (start, end), replacement in sorted(cuts.items(), key=lambda cut: (cut[0][0], -cut[0][1])):
            if start <= done:
                continue
            parts += [self.text[position:start], _blanked(self.text[start : end + 1], replacement)]
            position, done = end + 1, max(done, end)
        self.text = "".join(parts) + self.text[position:]
        return bool(cuts)

    def _start(self, scopes: Scopes, position: int) -> int:
        """Return the start of a declaration after its template parameters."""
        start, end = scopes.unit(scopes.at(position)[-1], position)
        match = re.compile(_TEMPLATE_HEAD).match(self.text, start, end)
        return match.end() if match else start

    def _cut(self, scopes: Scopes, position: int, reason: str) -> tuple[int, int, str]:
        """Return the first and last character of the part to remove for an error, and its replacement."""
        around = scopes.at(position)
        function = next((block for block in around if block.kind == "function"), None)
        if function is None:  # inside a declaration or a function's header
            scope = around[-1]
            while scope.is_whole and scope.parent:
                scope = scope.parent
            start, end = scopes.unit(scope, position)
            head = next((block for block in scope.blocks if start <= block.open <= end), None)
            if head is not None and head.kind == "function":
                if head.is_device:
                    self.skipped.setdefault(head.name, reason)
                elif self._launches(head.open, head.close):  # as from a macro that begins tests
                    return start, head.open - 1, f"void ncc_{start}()"
            return start, end, ""
        whole = (*scopes.unit(function.parent or scopes.file, function.open), "")
        if function.is_device:
            self.skipped.setdefault(function.name, reason)
            return whole
        self.tries[function.open] = tries = self.tries.get(function.open, 0) + 1
        inner = around[-1]
        if tries > 3 * _MAX_IN_FUNCTION or inner is function.parent:
            return whole
        if tries > 2 * _MAX_IN_FUNCTION:
            return function.open + 1, function.close - 1, self._launches(function.open, function.close)
        start, end = scopes.unit(inner, position)
        launches = self._launches(start, end)
        statement = self.text[start : end + 1]
        body = f"{{ {launches} }}" if launches and launches.strip() not in statement else ";"
        branch = re.match(_BRANCH, statement)  # everything that is left
        is_else, is_if = branch.groups() if branch else (None, None)
        if is_if and re.compile(_ELSE).match(self.text, end):
            body = f"if (0) {body}"
        return start, min(end, inner.close - 1), f"else {body}" if is_else else body

    def _launches(self, start: int, end: int) -> str:
        """Return statements that reference, without arguments, the kernels launched between two positions."""
        launched = [match[1] for match in re.compile(_LAUNCH).finditer(self.text, start, end)]
        instances = re.compile(_INSTANCE).finditer(self.text, start, end)
        launched += [match[0] for match in instances if match[1] in self.kernels]
        names = dict.fromkeys(" ".join(name.split()) for name in launched)
        return " ".join(f"(void)(&{name});" for name in names if not name.startswith("if"))


def _blanked(text: str, replacement: str) -> str:
    """Return a replacement padded with blanks to the lines, and if possible the characters, of the text."""
    blank, end = re.sub(r"[^\n]", " ", text), len(replacement)
    while end < len(blank) and (more := len(replacement) + blank.count("\n", 0, end)) > end:
        end = more
    return replacement + "\n" * blank.count("\n", 0, end) + blank[end:]
