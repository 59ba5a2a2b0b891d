"""Which files hold IR: text, bitcode, objects with bitcode in them, and archives of such objects."""

import os
from io import BytesIO
from pathlib import Path

from ncc.errors import InputError
from ncc.system.files.archives import ARCHIVE_MAGICS, find_members, list_members, split_member
from ncc.system.files.reading import open_input

IR_EXTENSIONS = frozenset({".ll", ".bc", ".o", ".a"})

HOW_TO_EMBED = "compile with clang and -fembed-bitcode, or with -flto"

_BITCODE_MAGIC = (b"BC\xc0\xde", b"\xde\xc0\x17\x0b")
"""Raw, and in the wrapper that Apple uses."""
_OBJECT_MAGIC = (
    *(b"\x7fELF", b"\0asm", b"\x64\x86", b"\x4c\x01", b"\x64\xaa"),
    *(b"\xcf\xfa\xed\xfe", b"\xce\xfa\xed\xfe", b"\xfe\xed\xfa\xcf", b"\xfe\xed\xfa\xce"),
)
"""ELF, WebAssembly, COFF and Mach-O."""
_SECTIONS = (b".llvmbc", b"__bitcode", b".llvm.lto")
"""Sections that compilers put bitcode in; the helper searches the same ones."""


def is_bitcode(data: bytes) -> bool:
    """Return True if data starts like LLVM bitcode."""
    return data.startswith(_BITCODE_MAGIC)


def is_object(data: bytes) -> bool:
    """Return True if data starts like an object file."""
    return data.startswith(_OBJECT_MAGIC) and b"\0" in data


def is_ir_path(path: str | os.PathLike[str]) -> bool:
    """Return True if a path's extension is one of IR, or if it names a member of an archive."""
    return split_member(path)[1] is not None or Path(path).suffix in IR_EXTENSIONS


def holds_bitcode(data: bytes) -> bool:
    """Return True for bitcode, and for an object that mentions a section of it, which LLVM checks later."""
    return is_bitcode(data) or (is_object(data) and any(name in data for name in _SECTIONS))


def refuse_object(data: bytes, name: str) -> None:
    """Raise `InputError` for a file with only machine code, or with more than one module."""
    if data.startswith(ARCHIVE_MAGICS) or name.endswith(".a"):
        number = len(list_members(BytesIO(data), name))
        raise InputError(f"{name}: an archive (members: {number}); pass its path, or one member as lib.a(member.o)")
    if is_object(data) and not holds_bitcode(data):
        raise InputError(f"{name}: an object file without LLVM bitcode; {HOW_TO_EMBED}")


def modules_of(path: str | os.PathLike[str], folder: str | os.PathLike[str] | None = None) -> list[str]:
    """Return the modules in a file, each as a path for `ncc.system.files.reading.read_input`."""
    name = os.fspath(path)
    if Path(name).suffix not in (".o", ".a"):
        return [name]
    modules = []
    try:
        with open_input(path, folder) as file:
            if Path(name).suffix == ".o":
                return [name] if holds_bitcode(file.read()) else []
            for member, (offset, size) in find_members(file, name).items():
                file.seek(offset)
                if holds_bitcode(file.read(size)):
                    modules.append(f"{name}({member})")
    except InputError:
        return [name]
    return modules
