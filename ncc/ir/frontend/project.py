"""Hints in a project's files: flags in its ``compile_commands.json``, and folders of headers that no search path names.

Build files, which are not run, say where headers are. So a header that a compiler does not find is searched among
the project's own files, and the nearest one of that name is taken.
"""

import functools
import itertools
import json
import os
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from ncc.errors import InputError, InputFileError
from ncc.ir.frontend.allowed_paths import Tree, is_code, is_home_or_temp, look_at
from ncc.ir.frontend.options import CompileOptions
from ncc.system.files.reading import read_input
from ncc.system.sandbox.limits import input_limit

# os.path, for hundreds of thousands of paths, and as os.walk writes them
# ruff: noqa: PTH100, PTH114, PTH116, PTH118, PTH119, PTH120

_MAX_COMMAND_LETTERS = 2**20
"""Half of Linux' limit for a program's arguments."""
_WITH_VALUE = r"(-include|-isystem|-iquote|-I|-D|-U)(.*)"
"""Flags that are kept with their value, which may be the next word."""
_FEATURES = (
    r"16|32|64|x32|3dnowa?|mmx|s?sse[\w.]*|avx[\w.]*|amx-\w+|v?aes|v?pclmul\w*|fma4?|f16c|bmi2?|lzcnt|popcnt|movbe|adx"
    r"|rdrnd|rdseed|sha(?:512)?|xsave\w*|crc32?|crypto|cx16|sahf|xop|tbm|gfni|altivec|vsx|msa|lsx|lasx|simd128|thumb"
)
_WHOLE = (
    rf"--?std=[\w+:]+|-m(?:no-)?(?:{_FEATURES})|-m(?:arch|cpu|tune|fpu|abi|float-abi|fpmath)=[\w.+-]+"
    r"|-fno-exceptions|-fno-rtti|-fsigned-char|-funsigned-char|-fopenmp"
)
"""Flags that are kept unchanged."""
_DROPPED_WITH_VALUE = (
    r"--(?:analyzer-output|config|imacros|include|param|serialize-diagnostics|sysroot|target|vfsoverlay)"
    r"|-[ABFGLTbeloxuz]|-M[FJQT]|-X[\w-]+|-(?:arch|cxx-isystem|dependency-file|dumpdir|fplugin|load|plugin|resource-dir)"
    r"|-i(?:dirafter|framework|macros|multilib|nclude-pch|prefix|sysroot|system-after|vfsoverlay|withprefix|withprefixbefore)"
    r"|-m(?:eabi|llvm|mlir|odule-dependency-dir|thread-model|ultiply_defined|ultiply_defined_unused)"
    r"|-(?:rpath|serialize-diagnostics|specs|stdlib\+\+-isystem|target|undefined|working-directory|wrapper)"
)
"""Other options of clang and gcc whose value is the next word."""


def own_flags(source: str | os.PathLike[str] | bytes, options: CompileOptions) -> tuple[str, ...]:
    """Return the accepted flags from a file's command in the options' database, as single words with absolute paths."""
    if (database := options.commands) is None or isinstance(source, bytes):
        return ()
    file = os.path.abspath(source)
    entry = load_commands(database).get(file)
    if entry is None:
        return ()
    root = os.path.dirname(os.path.abspath(database))
    try:
        words = entry.get("arguments") or entry["command"]
        if sum(map(len, words)) > _MAX_COMMAND_LETTERS:
            raise ValueError
        words = shlex.split(words) if isinstance(words, str) else words
        if b"\0" in b"".join(map(os.fsencode, words)):
            raise ValueError
        return tuple(_kept(words, os.path.join(root, entry["directory"]), root))
    except (ValueError, KeyError, TypeError) as error:
        expected = (
            f"expected a line for a shell or a list of strings, at most {_MAX_COMMAND_LETTERS} letters without NUL"
        )
        raise InputError(f"{database}: the command of {file:.200} can't be used; {expected}") from error


def with_own_flags(source: str | os.PathLike[str] | bytes, options: CompileOptions) -> CompileOptions:
    """Return options with a file's own flags before the others, and without a database."""
    return replace(options, commands=None, flags=(*own_flags(source, options), *options.flags))


def load_commands(path: str | os.PathLike[str]) -> Mapping[str, Mapping[str, Any]]:
    """Map files to their entries in a compilation database."""
    try:
        status = os.stat(path)
        if status.st_size > input_limit() // 8:  # JSON takes twenty times as much memory
            raise InputError(f"{path}: has {status.st_size:,} bytes, too many for a compilation database")
        return _load(os.path.abspath(path), status.st_mtime_ns)
    except OSError as error:
        raise InputFileError(f"{path}: can't be read: {error.strerror}") from error
    except json.JSONDecodeError as error:
        raise InputFileError(f"{path}: not a compilation database: it is not JSON ({error})") from error
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        expected = "expected a list of objects with 'directory', 'file' and 'arguments' or 'command'"
        raise InputFileError(f"{path}: not a compilation database: {expected}") from error


@functools.lru_cache(maxsize=4)
def _load(path: str, _modified: int) -> Mapping[str, Mapping[str, Any]]:
    entries = json.loads(read_input(path, is_regular=True))
    root = os.path.dirname(path)
    return {os.path.normpath(os.path.join(root, entry["directory"], entry["file"])): entry for entry in entries}


def _kept(words: Iterable[str], directory: str, root: str) -> Iterator[str]:
    """Yield flags as single words, so that none can take the next flag, or a source, as its value."""
    words = (word for word in words if word != "-Xclang")  # what follows means the same without it, or is dropped
    for word in itertools.takewhile(lambda word: word != "--", words):
        if re.fullmatch(_DROPPED_WITH_VALUE, word):
            next(words, None)
        elif match := re.fullmatch(_WITH_VALUE, word, re.DOTALL):
            flag, value = match[1], match[2] or next(words, "")
            if flag in ("-D", "-U"):
                yield from (flag + value,) if value else ()
            elif value and _may_be_read(path := str(Path(directory, value)), root, is_file=flag == "-include"):
                yield flag + path
        elif re.fullmatch(_WHOLE, word):
            yield word


@functools.lru_cache(maxsize=2**12)
def _may_be_read(path: str, root: str, *, is_file: bool) -> bool:
    """Return False for folders that no build needs but a stranger's database may name, such as hidden ones."""
    real = os.path.realpath(path)
    parts = set(Path(real).parts) - set(Path(os.path.realpath(root)).parts)
    if any(part.startswith(".") for part in parts) or f"{real}/".startswith(("/proc/", "/dev/", "/run/", "/sys/")):
        return False
    return is_code(real) if is_file else not is_home_or_temp(real)


_INCLUDE = rb'(?m)^[ \t]*#[ \t]*include(?:_next)?[ \t]*["<]([^">\n]+)[">]'
_MAX_FILES, _MAX_FOLDERS = 3000, 64
_MAX_FILE_BYTES = 2**22


def header_folders(source: str, roots: Sequence[str | os.PathLike[str]]) -> tuple[str, ...]:
    """Find folders to search for the headers that a source and its headers include."""
    path, *projects = (os.path.abspath(name) for name in (source, *roots))
    if not any(Path(path).parent.is_relative_to(project) for project in projects):
        projects.append(os.path.dirname(path))
    trees = [look_at(project) for project in projects if not is_home_or_temp(project)]
    folders: dict[str, None] = {}
    waiting = [path]
    seen = set(waiting)
    while waiting and len(seen) < _MAX_FILES:
        path = waiting.pop(0)
        for name in _included(path):
            header = _resolve(name, path, folders, trees)
            if header and header not in seen and len(folders) < _MAX_FOLDERS:
                seen.add(header)
                waiting.append(header)
    return tuple(folders)


def _resolve(name: str, path: str, folders: dict[str, None], trees: Sequence[Tree]) -> str | None:
    """Return the file that an include names; add the folder in which it is found to the others."""
    candidates = [file for tree in trees for file in tree.by_name.get(os.path.basename(name), ())]
    for folder in (os.path.dirname(path), *folders):
        beside = os.path.normpath(os.path.join(folder, name))
        if beside in candidates:
            return beside
    ending = os.sep + name.removeprefix("./").replace("/", os.sep)
    fitting = [file for file in candidates if file.endswith(ending)]
    if not fitting:
        return None
    nearest = min(fitting, key=lambda file: (-os.path.commonpath([file, path]).count(os.sep), len(file), file))
    folders[nearest[: -len(ending)]] = None
    return nearest


def _included(path: str) -> list[str]:
    if not os.path.islink(path):  # may lead anywhere
        with suppress(OSError), Path(path).open("rb") as file:
            return [os.fsdecode(name) for name in re.findall(_INCLUDE, file.read(_MAX_FILE_BYTES))]
    return []
