"""OpenCL C to IR with the prelude of ours, by the bundled clang and by a user's own."""

import pytest

from ncc.errors import CompileError
from tests.rooms import CompileOptions, compile_source
from tests.support.clangs import CLANGS
from tests.support.refuses import refuses


@pytest.mark.parametrize("clang", CLANGS)
@pytest.mark.parametrize("name", ["language.cl", "atomics.cl"])
def test_compiles_without_warnings(sources, clang, name):
    compiled = compile_source(sources / name, CompileOptions(clang=clang))
    assert compiled.warnings == ""
    assert b"define dso_local spir_kernel void @" in compiled.ir
    assert b'target triple = "spir64"' in compiled.ir


@pytest.mark.parametrize("standard", ["CL1.2", "CL2.0", "CL3.0"])
def test_other_standards_through_flags(sources, standard):
    assert compile_source(sources / "language.cl", CompileOptions(flags=(f"-cl-std={standard}",))).warnings == ""


@pytest.mark.parametrize("standard", ["CL1.0", "CL1.1", "CL1.2", "CL2.0", "CL3.0"])
def test_the_prelude_alone_in_every_standard(standard):
    options = CompileOptions(language="opencl", flags=(f"-cl-std={standard}", "-Wall", "-Werror"))
    assert compile_source(b"kernel void f(global float4 *p) { p[0] = sin(p[1]); }", options).ir


def test_address_spaces_are_kept():
    text = b"kernel void f(global int *g, constant int *c, local int *l) { l[0] = c[0]; g[0] = l[1]; }"
    ir = compile_source(text, CompileOptions(language="opencl")).ir
    for space in (1, 2, 3):
        assert f"ptr addrspace({space})".encode() in ir


TYPES = ["char", "uchar", "short", "ushort", "int", "uint", "long", "ulong", "float", "double", "half"]
BYTES = dict(zip(TYPES, [1, 1, 2, 2, 4, 4, 8, 8, 4, 8, 2], strict=True))


def test_pointers_of_other_types_are_taken_as_drivers_take_them():
    text = b"kernel void a(global ulong *o) { ulong8 v = 0; ulong *p = &v; p[get_local_id(0)] = 1; o[0] = v.s3; }"
    assert b"define" in compile_source(text, CompileOptions(language="opencl")).ir


def test_every_vector_type_has_its_size_and_its_conversions():
    checks = []
    for name, num_bytes in BYTES.items():
        for width in (2, 3, 4, 8, 16):
            lanes = 4 if width == 3 else width
            checks.append(f"typedef char check_{name}{width}[sizeof({name}{width}) == {lanes * num_bytes} ? 1 : -1];")
            checks.append(f"{name}{width} as_{width}_{name}({name}{width} x) {{ return as_{name}{width}(x); }}")
            checks.append(f"{name}{width} of_{name}{width}(int{width} x) {{ return convert_{name}{width}(x); }}")
    compile_source("\n".join(checks).encode(), CompileOptions(language="opencl"))


def test_constants_have_their_values():
    text = b"""
    #define CHECK(name, condition) typedef char name[(condition) ? 1 : -1];
    CHECK(ints, INT_MAX == 0x7fffffff && INT_MIN == -INT_MAX - 1 && UINT_MAX == 0xffffffffu)
    CHECK(longs, LONG_MAX == (long)(ULONG_MAX >> 1) && LONG_MIN == -LONG_MAX - 1)
    CHECK(chars, CHAR_MIN == -128 && CHAR_MAX == 127 && UCHAR_MAX == 255 && CHAR_BIT == 8)
    CHECK(fences, (CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE) == 3)
    CHECK(orders, memory_order_relaxed < memory_order_seq_cst)
    kernel void f(global float *p, global double *d) {
      p[0] = FLT_MAX; p[1] = INFINITY; p[2] = M_PI_F; p[3] = FLT_EPSILON; d[0] = DBL_MAX; d[1] = M_PI;
    }
    """
    ir = compile_source(text, CompileOptions(language="opencl")).ir.decode()
    for constant in ("0x47EFFFFFE0000000", "0x7FF0000000000000", "0x400921FB60000000", "0x3E80000000000000"):
        assert f"store float {constant}" in ir
    for constant in ("0x7FEFFFFFFFFFFFFF", "0x400921FB54442D18"):
        assert f"store double {constant}" in ir


def test_an_error_in_our_own_header_is_named_as_such():
    # Whoever defines one of its names breaks the prelude, not a file of theirs.
    options = CompileOptions(language="opencl", defines=("uchar=3",))
    with refuses(CompileError, "\n  ncc's own header opencl/types.h:"):
        compile_source(b"kernel void f() {}", options)


def test_no_header_of_the_system_is_read():
    with refuses(CompileError, "'stdio.h' file not found"):
        compile_source(b"#include <stdio.h>\n", CompileOptions(language="opencl"))
