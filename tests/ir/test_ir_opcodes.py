"""The opcode numbers of Python are those of the C enumeration, and the package's names are what they should be."""

import re
from pathlib import Path

import pytest

import ncc.ir
import ncc.native
from ncc.ir import OPCODES, opcode_number


def test_opcodes_stand_in_the_order_of_the_header() -> None:
    header = Path(ncc.native.__file__).with_name("reader.h").read_text()
    macro = header[header.index("#define OPCODES(X)") :].split("\n\n")[0]
    assert tuple(re.findall(r"\bX\((\w+)\)", macro)) == OPCODES


def test_opcode_numbers() -> None:
    assert opcode_number("define") == 0
    assert OPCODES[opcode_number("getelementptr")] == "getelementptr"
    assert len(set(OPCODES)) == len(OPCODES)
    with pytest.raises(ValueError, match="not in tuple"):
        opcode_number("frobnicate")


def test_public_names() -> None:
    assert ncc.ir.__all__ == [
        "OPCODES",
        "Abstraction",
        "Module",
        "NodeKind",
        "is_bitcode",
        "opcode_number",
        "print_canonically",
        "read_module",
    ]
    assert all(hasattr(ncc.ir, name) for name in ncc.ir.__all__)
