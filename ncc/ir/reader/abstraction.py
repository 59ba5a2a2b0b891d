"""Settings of abstraction: the parts of a statement that are kept in a word, by `ncc/ir/native/statements.c`.

Reference: Ben-Nun et al. 2018, section 4.1. What callees, immediates and large structures keep is ours to choose.
"""

import functools
from dataclasses import dataclass
from pathlib import Path

from ncc.errors import InputError


@dataclass(frozen=True, kw_only=True)
class Abstraction:
    """How statements are abstracted.

    Attributes:
        keep_callees: LLVM intrinsics, external functions of ``known_callees.txt`` (libm, libc, the C++ runtime, OpenCL,
            SPIR-V; mangled or not), and the variables that are SPIR-V's registers keep their name
            (``@get_global_id``, ``@llvm.fmuladd``, ``@__spirv_BuiltInWorkgroupId``); False abstracts them to ``<@ID>``.
        keep_immediates: Integers -1, 0, 1, 2, other powers of two and other negative ones keep a separate bucket
            (``<INT:0>``); False abstracts them all to ``<INT>``.
        max_struct_fields: Structures with more fields, those of nested structures included, are written ``{...}``:
            what a large one is made of names the project that it is from rather than what is done; None for no limit.
        keep_casts: Casts of typed pointers to other ones, of which LLVM has none since 15, are statements; False lets
            the result be another name of the operand.
    """

    keep_callees: bool = True
    keep_immediates: bool = False
    max_struct_fields: int | None = 4
    keep_casts: bool = False

    def __post_init__(self) -> None:
        if self.max_struct_fields is not None and not 0 <= self.max_struct_fields < 1 << 31:
            value = f"{self.max_struct_fields!s:.40}"
            raise InputError(f"max_struct_fields is {value}; expected 0 or more and less than 2^31")

    @classmethod
    def paper(cls) -> "Abstraction":
        """Return the published abstraction: no names or immediates, but casts (Ben-Nun et al. 2018, section 4.1)."""
        return cls(keep_callees=False, keep_immediates=False, max_struct_fields=None, keep_casts=True)

    @property
    def known_callees(self) -> bytes | None:
        """Names that are kept, one per line; None keeps none."""
        return _known_callees() if self.keep_callees else None


@functools.cache
def _known_callees() -> bytes:
    return Path(__file__).with_name("known_callees.txt").read_bytes().rstrip()
