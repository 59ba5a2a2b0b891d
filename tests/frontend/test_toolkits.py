"""Headers of CUDA toolkits: where they come from, and what is none."""

import pytest

from ncc.errors import InputError
from ncc.frontend import CompileOptions, compile_source

_SOURCE = b"""
#include <cuda_runtime.h>
#include <cufft.h>
__global__ void twice(cufftReal *x) { x[threadIdx.x] *= CUFFT_TWO; }
"""


@pytest.fixture
def toolkit(tmp_path):
    include = tmp_path / "toolkit" / "include"
    include.mkdir(parents=True)
    (include / "cuda.h").write_text("#define CUDA_VERSION 12040\n")
    (include / "vector_types.h").write_text("#if !defined(__VECTOR_TYPES_H__)\nstruct float4 { float x; };\n#endif\n")
    (include / "cufft.h").write_text('#include "vector_types.h"\ntypedef float cufftReal;\n#define CUFFT_TWO 2\n')
    return tmp_path / "toolkit"


def test_a_toolkit_has_the_headers_that_ours_lack(toolkit):
    found = compile_source(_SOURCE, CompileOptions(language="cuda", cuda_path=str(toolkit)))
    assert b"_Z5twicePf" in found.ir
    assert not found.empty_headers


def test_the_environment_names_a_toolkit(toolkit, monkeypatch):
    monkeypatch.setenv("NCC_CUDA_PATH", str(toolkit))
    assert b"_Z5twicePf" in compile_source(_SOURCE, CompileOptions(language="cuda")).ir
    monkeypatch.setenv("NCC_CUDA_PATH", str(toolkit / "include"))
    with pytest.raises(InputError, match=r"NCC_CUDA_PATH: .*include: is no CUDA toolkit: expected a folder with"):
        compile_source(_SOURCE, CompileOptions(language="cuda"))


@pytest.mark.parametrize(
    ("text", "version"), [("#define CUDA_VERSION 99010\n", "version 99"), ("nothing", "an unknown version")]
)
def test_a_toolkit_of_an_unknown_version_is_refused(toolkit, text, version):
    (toolkit / "include" / "cuda.h").write_text(text)
    with pytest.raises(InputError, match=f"a CUDA toolkit of {version}; expected 9 to 13; without one"):
        compile_source(_SOURCE, CompileOptions(language="cuda", cuda_path=str(toolkit)))


def test_where_a_toolkits_headers_break_ours_alone_are_taken(toolkit):
    (toolkit / "include" / "cufft.h").write_text("this is no header\n")
    source = b"#include <cufft.h>\n__global__ void one(float *x) { x[0] = 1; }\n"
    found = compile_source(source, CompileOptions(language="cuda", cuda_path=str(toolkit)))
    assert found.empty_headers == ("cufft.h",)
