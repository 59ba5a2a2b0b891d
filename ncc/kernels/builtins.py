"""What calls of functions without a body do: built-ins of OpenCL and CUDA, the C library, LLVM's intrinsics."""

import re

from ncc.kernels.instructions import lanes_of

_NOTHING = ("llvm.lifetime", "llvm.assume", "llvm.experimental.noalias", "llvm.invariant")
_BARRIER = re.compile(r"[bB]arrier|__syncthreads|mem_fence")
_ATOMIC = re.compile(r"atom(?:ic)?_")
_QUERY = re.compile(
    r"get_(?:global|local|group|num|work|enqueued|sub_group)_|ptx\.sreg|amdgcn\.work(?:item|group)\.id"
    r"|__spirv_(?:BuiltIn)?(?:Global|Local|Num|Workgroup|EnqueuedWorkgroup|Sub[gG]roup)\w*(?:I[dn]|Size|Workgroups|Offset)"
    r"|llvm\.spv\.(?:thread|group|flattened|global|local|num|workgroup|wave|subgroup)\."
)
_MANGLED = re.compile(r"_Z(\d{1,3})(.*)", re.DOTALL)
_INTRINSIC = re.compile(r"llvm\.(?:nvvm\.|amdgcn\.)?(\w+)")
_PREFIX = re.compile(r"__nv_|__ocml_|fast_|__")
_APPROXIMATE = re.compile(r"native_|half_")
_SUFFIX = re.compile(r"_f32|_f64|[fl]")

_SPECIAL = """
sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh sinpi cospi tanpi asinpi acospi atanpi sincos atan2 atan2pi
exp exp2 exp10 expm1 ex2 log log2 log10 log1p lg2 pow powi pown powr rootn sqrt rsqrt cbrt rcp hypot erf erfc lgamma
tgamma fmod remainder length normalize distance divide fdividef recip
"""
_FUSED = "fma mad fmuladd mix lerp dot"
_FLOAT = "fabs floor ceil round roundeven rint trunc nearbyint sign copysign step degrees radians fract fdim ldexp"
_FUSED_INTEGER = "mad24 mad_hi mad_sat"
_INTEGER = """
abs abs_diff mul24 umul24 mul_hi umulhi mulhi rotate popcount popc ctpop clz ctz ctlz cttz fshl fshr bswap bitreverse
brev add_sat sub_sat uadd sadd usub ssub hadd rhadd
"""
_COMPARISON = """
min max fmin fmax minnum maxnum minimum maximum smin smax umin umax clamp select bitselect isequal isnotequal isgreater
isgreaterequal isless islessequal islessgreater isnan isinf isfinite any all
"""
_KIND = {
    name: (kind, amount)
    for names, kind, amount in (
        (_SPECIAL, "special", 1.0),
        (_FUSED, "float", 2.0),
        (_FLOAT, "float", 1.0),
        (_FUSED_INTEGER, "integer", 2.0),
        (_INTEGER, "integer", 1.0),
        (_COMPARISON, "comparison", 1.0),
    )
    for name in names.split()
}


def builtin_name(callee: str) -> str:
    """A function's name as its source has it: ``_Z3expf``, ``expf``, ``llvm.exp.f32`` and ``__nv_expf`` are all exp."""
    name = callee
    if found := _MANGLED.match(callee):
        name = found[2][: int(found[1])]
    elif found := _INTRINSIC.match(callee):
        name = found[1]
    if found := _PREFIX.match(name):
        name = name[found.end() :]
    for size in (1, 4):  # C's float and long double, and the types of AMD's library
        if name not in _KIND and name[:-size] in _KIND and _SUFFIX.fullmatch(name[-size:]):
            return name[:-size]
    return name


def work_of_call(callee: str, text: str) -> dict[str, float]:
    """What a call does, as amounts of the kinds that `ncc.kernels.kernels_profile` counts.

    Args:
        callee: Name of a function without a body; empty if it is a value.
        text: The statement, for its types.
    """
    if callee.startswith(_NOTHING):
        return {}
    for pattern, kind in ((_BARRIER, "barrier"), (_ATOMIC, "atomic"), (_QUERY, "thread_query")):
        if pattern.search(callee):
            return {kind: 1.0}
    name, lanes = builtin_name(callee), lanes_of(text)
    if name.startswith("convert_"):
        return {"conversion": lanes}
    kind, amount = ("special", 1.0) if _APPROXIMATE.match(name) else _KIND.get(name, ("call", 1.0))
    if kind == "float":
        return {"double" if "double" in text else "float": amount * lanes, "flops": amount * lanes}
    if kind == "special":
        return {"special": lanes, "flops": lanes}
    return {kind: amount * (lanes if kind != "call" else 1.0)}
