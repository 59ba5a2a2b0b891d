"""OpenCL C with work-items merged: each work-group of a launch does what several did, one after the other.

A work-item then does the work of as many items a whole work-group apart, so that neighbours still touch neighbouring
memory, and barriers and local memory mean what they meant.

Reference: Magni, Dubach, O'Boyle, PACT 2014, section 3 (thread coarsening; the stride here is a work-group).
"""

import re
from collections.abc import Sequence

from ncc.errors import InputError
from ncc.ir.frontend.scopes import Scopes
from ncc.kernels.measure.arguments import Argument

FACTORS = (1, 2, 4, 8, 16, 32)
"""How many work-items may become one."""

_IDS = {
    "get_group_id": "((d) == 0 ? get_group_id(0) * {factor} + ncc_step : get_group_id(d))",
    "get_num_groups": "((d) == 0 ? get_num_groups(0) * {factor} : get_num_groups(d))",
    "get_global_size": "((d) == 0 ? get_global_size(0) * {factor} : get_global_size(d))",
    # a macro is not expanded in its own expansion, but others are: this is the merged group's number
    "get_global_id": "((d) == 0 ? get_group_id(0) * get_local_size(0) + get_local_id(0) : get_global_id(d))",
}
_COMMENTS = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_KERNEL = re.compile(r"\b(?:__)?kernel\b")
_OWN_MEMORY = re.compile(r"[;{}]\s*(?:__)?local\s[^;*()]*;")
_SHARES = re.compile(r"\b(__local|local)\b")


def without_other_kernels(source: str, kernel: str) -> str:
    """A source of which one kernel is left, with all that is not a kernel, on the lines that they were on."""
    parts, at = [], 0
    text = _COMMENTS.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), source)
    for block in Scopes(text).functions():
        begins = _KERNEL.search(block.header)
        if begins and block.name != kernel:
            begin, end = block.begin + begins.start(), block.close + 1
            parts += [text[at:begin], re.sub(r"[^\n]", " ", text[begin:end])]
            at = end
    return "".join([*parts, text[at:]])


def check_factors(given: Sequence[int]) -> tuple[int, ...]:
    """Coarsening factors in order, 1 among them, which speedups are over.

    Raises:
        InputError: One is none of `FACTORS`.
    """
    if not set(given) <= set(FACTORS):
        found, expected = (", ".join(map(str, some)) for some in (given, FACTORS))
        raise InputError(f"coarsen is {found}; expected some of {expected}")
    return tuple(sorted({1, *given}))


def coarsen_source(source: str, kernel: str, arguments: Sequence[Argument], factor: int) -> str:
    """The same kernel with so many work-groups of dimension 0 merged into one.

    The kernel becomes a function that is told which of them it does. This goes wrong where what it calls asks for
    numbers of work-groups or of all work-items: compare outputs.

    Raises:
        InputError: The kernel declares local memory of its own, which functions may not.
    """
    if _OWN_MEMORY.search(_body(source, kernel)):
        raise InputError(
            f"kernel {kernel}: declares local memory of its own, so that its work-items are not merged; expected it as "
            "an argument"
        )
    ids = {name: text.format(factor=factor) for name, text in _IDS.items()}
    named = ", ".join(f"__{one.space} {one.type_name} {one.name}" for one in arguments)
    passed = ", ".join(one.name for one in arguments)
    wait = "if (ncc_step) barrier(CLK_LOCAL_MEM_FENCE); " if _SHARES.search(source) else ""
    return "\n".join(
        [
            "__constant uint ncc_step = 0;",
            *(f"#define {name}(d) {text}" for name, text in ids.items()),
            f"#define {kernel}(...) ncc_part(__VA_ARGS__, const uint ncc_step)",
            "#line 1",
            source,
            *(f"#undef {name}" for name in (*ids, kernel)),
            f"__kernel void {kernel}({named}) {{",
            # unrolled barriers take PoCL half a minute
            "" if wait else "#pragma unroll",
            f"  for (uint ncc_step = 0; ncc_step < {factor}; ncc_step++) {{ {wait}ncc_part({passed}, ncc_step); }}",
            "}\n",
        ]
    )


def _body(source: str, kernel: str) -> str:
    """The text of a kernel from its first brace on; nothing where macros hide it."""
    text = _COMMENTS.sub(" ", source)
    found = re.search(rf"\b{re.escape(kernel)}\s*\([^;{{]*\{{", text)
    if not found:
        return ""
    depth = 0
    for brace in re.finditer("[{}]", text[found.end() - 1 :]):
        depth += 1 if brace[0] == "{" else -1
        if not depth:
            return text[found.end() - 1 : found.end() - 1 + brace.end()]
    return ""
