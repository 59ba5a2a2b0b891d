"""Back-off: from a statement to ever more general forms of it, so that none is ever without a vector.

The paper maps every statement outside the vocabulary to one UNK; here it takes the nearest form that is known.
"""

import functools
import re
from collections.abc import Iterator
from enum import IntEnum

__all__ = ["BackoffLevel", "generalisations", "generalise", "in_newer_steps", "of_any_version"]


class BackoffLevel(IntEnum):
    """How far a statement had to be generalised before it was known."""

    EXACT = 0
    FLAGS = 1
    ALIGNMENT = 2
    SIZES = 3
    TYPES = 4
    OPERATION = 5
    OPCODE = 6


_FLAGS = re.compile(
    r" (?:nuw|nsw|exact|disjoint|nneg|samesign|inbounds|nusw|volatile|weak|fast|nnan|ninf|nsz|arcp|contract|afn|reassoc"
    r"|inalloca|swifterror|cleanup)\b"
)
_INFERRED = ("nuw", "nusw", "nneg", "disjoint", "samesign", "contract")
_CONSTANT_OFFSET = re.compile(
    r"(?P<address><%ID> = getelementptr(?: inbounds)?)(?: nuw| nusw)* (?P<type>.+)"
    r"(?P<base>, ptr(?: addrspace\([^)]*\))? <[%@]ID>)"
    r"(?P<variable>(?:, i\d+ <(?:%ID|INT)>)*?)(?P<constant>(?:, i\d+ <INT>)+)"
)
_BUCKET = re.compile(r"<INT:[^>]*>")
_TAIL = re.compile(r"\b(?:tail|musttail|notail) ")
_ALIGNMENT = re.compile(r", (?:align|addrspace) ?\(?\d+\)?| syncscope\(\"[^\"]*\"\)")
_ADDRESS_SPACE = re.compile(r" ?addrspace\([^)]*\)")
_PLACEHOLDER = re.compile(r"<(%ID|@ID|LABEL|INT|FLOAT|STRING)>")
_LENGTH = re.compile(r"\[\d+ x ")
_INTEGER = re.compile(r"\bi\d+\b")
_FLOAT = re.compile(r"\b(?:half|bfloat|float|double|x86_fp80|fp128|ppc_fp128)\b")
_VECTOR = re.compile(r"<(?:vscale x )?\d+ x ([^<>\[\]{}]*)>")
_ARRAY = re.compile(r"\[N x [^\[\]{}<>]*\]")
_STRUCT = re.compile(r"<?\{(?!\})[^{}\[\]<>]*\}>?|\{\}")
_INDICES = re.compile(r"(?:, \d+)+$")
_OPERATION = re.compile(
    r"^(?:<%ID> = )?(?P<opcode>[a-z_0-9]+)"
    r"(?: (?P<predicate>(?:[us]?(?:gt|ge|lt|le)|eq|ne|o(?:eq|gt|ge|lt|le|ne)|ord|uno|u(?:eq|ne)))\b)?"
)
_CALLEE = re.compile(r"(@[\w.$]+|<@ID>|<%ID>|\basm)(?:\(| …)")
_SAME_FUNCTION = {
    "get_local_id": r"nvvm\.read\.ptx\.sreg\.tid\.|amdgcn\.workitem\.id\.|spirv_BuiltInLocalInvocationId",
    "get_group_id": r"nvvm\.read\.ptx\.sreg\.ctaid\.|amdgcn\.workgroup\.id\.|spirv_BuiltInWorkgroupId",
    "get_local_size": r"nvvm\.read\.ptx\.sreg\.ntid\.|spirv_BuiltIn(?:Enqueued)?WorkgroupSize",
    "get_num_groups": r"nvvm\.read\.ptx\.sreg\.nctaid\.|spirv_BuiltInNumWorkgroups",
    "get_global_id": r"spirv_BuiltInGlobalInvocationId",
    "get_global_size": r"spirv_BuiltInGlobalSize",
    "get_sub_group_local_id": r"nvvm\.read\.ptx\.sreg\.laneid|amdgcn\.mbcnt\.|spirv_BuiltInSubgroupLocalInvocationId",
    "get_sub_group_size": r"nvvm\.read\.ptx\.sreg\.warpsize|amdgcn\.wavefrontsize|spirv_BuiltInSubgroupSize",
    "barrier": r"nvvm\.(?:barrier0|barrier\.cta\.sync|barrier\.sync)|amdgcn\.s\.barrier|spirv_ControlBarrier",
    "sub_group_shuffle": r"nvvm\.shfl\.|amdgcn\.(?:ds\.b?permute|update\.dpp|mov\.dpp|readlane)|spirv_Group\w*Shuffle",
}
"""OpenCL's name of what other GPU languages call otherwise → beginnings of their names behind ``@llvm.`` or ``@__``."""
_OF_GPU = re.compile(
    r"@(?:llvm\.|__)(?:" + "|".join(f"(?P<{name}>{names})" for name, names in _SAME_FUNCTION.items()) + ")"
)
_CALLS = frozenset({"call", "invoke", "callbr"})


def of_any_version(text: str) -> str:
    """A statement, or lines of them, without what depends on the LLVM that wrote it: flags that only newer ones infer.

    >>> of_any_version("<%ID> = getelementptr inbounds nuw i32, ptr <%ID>, i64 <%ID>")
    '<%ID> = getelementptr inbounds i32, ptr <%ID>, i64 <%ID>'
    """
    for flag in _INFERRED:
        text = text.replace(f" {flag} ", " ")
    return text.replace("trunc nsw ", "trunc ").replace(" undef", " poison")


def in_newer_steps(text: str) -> str:
    """An address as LLVM computes it since version 19: constant distances in bytes, in a step of their own.

    Of an address that takes two steps then, the first; other statements as they are.

    >>> in_newer_steps("<%ID> = getelementptr inbounds { ptr, i32 }, ptr <%ID>, i32 <INT>, i32 <INT>")
    '<%ID> = getelementptr inbounds nuw i8, ptr <%ID>, i64 <INT>'
    >>> in_newer_steps("<%ID> = getelementptr inbounds { ptr, i32 }, ptr <%ID>, i64 <%ID>, i32 <INT>")
    '<%ID> = getelementptr inbounds { ptr, i32 }, ptr <%ID>, i64 <%ID>'
    """
    found = _CONSTANT_OFFSET.fullmatch(text)
    if not found:
        return text
    address, type_, base, variable, constant = found.groups()
    if variable:
        return f"{address} {type_}{base}{variable}"
    of_a_field = " nuw" if "inbounds" in address and constant.count(",") > 1 else ""  # never before its structure
    return f"{address}{of_a_field} i8{base}, i64 <INT>"


def _without_flags(text: str) -> str:
    """Without flags, and integers without the buckets that `Abstraction.keep_immediates` gives them."""
    return _BUCKET.sub("<INT>", _TAIL.sub("", _FLAGS.sub("", text)))


def _without_alignment(text: str) -> str:
    return _ADDRESS_SPACE.sub("", _ALIGNMENT.sub("", text))


def _without_sizes(text: str) -> str:
    """Arrays of any length are ``[N x …]``."""
    return _LENGTH.sub("[N x ", text)


def _without_types(text: str) -> str:
    """Integers of any width are ``int``, floats ``fp``; aggregates lose what is inside them, vectors their length."""
    text = _PLACEHOLDER.sub(r"\\\1\\", text)
    text = _FLOAT.sub("fp", _INTEGER.sub("int", text))
    previous = ""
    while text != previous:
        previous = text
        text = _STRUCT.sub("struct", _ARRAY.sub("array", _VECTOR.sub(r"vector of \1", text)))
    text = _INDICES.sub(", N", text)
    return re.sub(r"\\([%@A-Z]+)\\", r"<\1>", text)


def _operation(text: str) -> str:
    """The opcode with its predicate, or with the function that it calls: of a GPU's registers, as OpenCL calls it."""
    found = _OPERATION.match(text)
    if not found:
        return text
    opcode = found["opcode"]
    if opcode in _CALLS:
        callee = _CALLEE.search(text)
        name = callee[1] if callee else "<@ID>"
        of_gpu = _OF_GPU.match(name)
        return f"{opcode} {f'@{of_gpu.lastgroup}' if of_gpu else name} …"
    return f"{opcode} {found['predicate']} …" if found["predicate"] else f"{opcode} …"


def opcode_of(text: str) -> str:
    """The opcode of a statement or of any of its generalisations."""
    found = _OPERATION.match(_without_flags(text))
    return found["opcode"] if found else text


def generalisations(text: str) -> Iterator[str]:
    """The forms of `generalise` one by one, so that a search can stop at the first that it knows."""
    yield text
    text = _without_flags(text)
    yield text
    text = _without_alignment(text)
    yield text
    bare = text
    text = _without_sizes(text)
    yield text
    yield _without_types(text)
    yield _operation(bare)
    yield opcode_of(bare)


@functools.lru_cache(maxsize=1 << 16)
def generalise(text: str) -> tuple[str, ...]:
    """An abstracted statement and its generalisations, one for each `BackoffLevel`.

    Neighbouring levels may agree: a statement without flags is its own form without flags.

    >>> for form in generalise("<%ID> = add nsw i32 <%ID>, <INT>"): print(form)
    <%ID> = add nsw i32 <%ID>, <INT>
    <%ID> = add i32 <%ID>, <INT>
    <%ID> = add i32 <%ID>, <INT>
    <%ID> = add i32 <%ID>, <INT>
    <%ID> = add int <%ID>, <INT>
    add …
    add
    """
    return tuple(generalisations(text))
