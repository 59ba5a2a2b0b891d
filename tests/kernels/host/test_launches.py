"""What host code tells of a launch: values, buffers, and names that the launch's sizes settle."""

import os
from pathlib import Path

import pytest

from tests.rooms import CompileOptions, HostCode, Launch, read_host
from tests.support.text import rows

_CODE = (Path(__file__).parent / "calls.cu").read_text()


def _read(kernel, grid, block, program_arguments=None):
    return HostCode(_CODE, program_arguments).launch_at(kernel, Launch.of(grid, block, {}))


@pytest.mark.parametrize(("text", "value"), rows("expressions.txt"))
def test_expressions_have_the_values_that_c_gives_them(text, value):
    found = HostCode(f"int main() {{ int a = 3; k<<<1, 1>>>({text}); }}").launch_at("k", Launch.of(1, 1, {}))
    assert found.values.get(0) == (None if value == "None" else float(value))


def test_calls_pass_values_buffers_and_defaults():
    found = _read("smooth", [40], [128])
    assert found.values == {2: 5000, 3: 3, 4: 2500}
    assert found.buffers == {0: 4096, 1: 5000 * 16}


def test_the_programs_arguments_tell_sizes():
    found = _read("fill", [4], [256], ["1000"])
    assert found.values == {1: 1000, 2: 1.5, 3: 0}  # what fscanf fills in is not known
    assert found.buffers == {0: 8000}
    assert not found.inferred


def test_the_launchs_sizes_tell_what_the_text_does_not():
    found = _read("fill", [4], [256])
    assert found.inferred == {"argv[1]": 1024}
    assert found.values[1] == 1024
    assert found.buffers == {0: 8192}


def test_a_kernel_that_nothing_launches_is_not_found():
    assert not _read("other", [1], [1]).place


def test_code_that_is_no_code_tells_nothing():
    for text in (
        "k<<<",
        "k<<<a, b>>>",
        "k<<<1, 1>>>(f(",
        "void f(int a) { k<<<a, a>>>(a); } int main() { f(",
        "#define A A\nk<<<A, 1>>>(A)",
    ):
        HostCode(text).launch_at("k", Launch.of([1], [1], {}))


def _arguments(text, **arguments):
    return HostCode(text).launch_at("k", Launch.of([4], [32], arguments))


_DOUBLING = "".join("n = n * n * 9999999999;\n" for _ in range(60))


@pytest.mark.parametrize(
    "text",
    [
        "#define f(n) f(n+1)+f(n+2)\nint main() { k<<<4, 32>>>(x, f(1)); }",
        "int f(int n) { return f(n+1)+f(n+2); } int main() { k<<<4, 32>>>(x, f(1)); }",
        f"int main() {{ int n = 3;\n{_DOUBLING} k<<<4, 32>>>(x, n); }}",
        "int main() { k<<<4, 32>>>(x, pow(10, 1000000000)); }",
    ],
)
def test_values_that_never_end_are_unknown(text):
    found = _arguments(text)
    assert found.place
    assert not found.values


def test_an_answer_says_that_host_code_was_too_long():
    found = _arguments("int main() {" + "k<<<4, 32>>>(x, 7);\n" * 50_000 + "}")
    assert found.values == {1: 7}
    assert "too long" in found.conflicts[0]


@pytest.mark.parametrize("grid", ["1 / 0", "-4", "dim3(4, n / 0)", "dim3(2, -1)", "none", "below"])
def test_impossible_sizes_are_unknown(tmp_path, grid):
    (tmp_path / "sizes.h").write_text("/* one\n */\n#define N \\\n  4\n")
    path = tmp_path / "k.cu"
    sizes = "int n = N; dim3 none(4, n / 0), below(n, 2 - n);"
    path.write_text(f'#include "sizes.h"\nint main() {{\n  {sizes}\n  k<<<{grid}, 32>>>(x);\n}}\n')
    (found,) = read_host(path, "k").launches("k")
    assert (found.grid, found.block, found.place) == (None, (32, 1, 1), f"{path}:4")


def test_dimensions_keep_their_names():
    text = "int main() { int N = 128; dim3 g(N/32,N/32); dim3 bl(32,32); k<<<g, bl>>>(x, N); }"
    found = HostCode(text).launch_at("k", Launch.of([4, 4], [32, 32], {}))
    assert (found.values, found.inferred, found.conflicts) == ({1: 128}, {}, ())


def test_explicit_arguments_win_over_what_host_code_says(tmp_path):
    kernel = "__global__ void k(float *x, int n) {}\n"
    (tmp_path / "k.cu").write_text(kernel)
    (tmp_path / "main.cu").write_text(
        f"{kernel}void run(float *x, int n) {{ k<<<n / 32, 32>>>(x, n); }}\n"
        "int main() { int N = 1024; cudaMalloc(&d, N * N * sizeof(float)); run(d, N); }\n"
    )
    for arguments in ({"n": 4096}, {"1": 4096}):
        found = read_host(tmp_path / "k.cu", "k").launch_at("k", Launch.of([128], [32], arguments))
        assert (found.buffers, found.values, found.conflicts) == ({0: 4 * 4096**2}, {1: 4096}, ())


def test_an_explicit_argument_is_no_other_functions_name():
    text = """__global__ void k(float *x, int n) {}
    void run(float *x, int n) { k<<<4, 32>>>(x, n); }
    int main() { int n = 16; cudaMalloc(&d, n * 4); run(d, n * n); }"""
    assert _arguments(text, n=9).buffers == {0: 64}


_DEFAULTS = (Path(__file__).parent / "defaults.cu").read_text()


@pytest.mark.parametrize(
    ("given", "grid", "values", "conflicts"),
    [
        (["4000"], 500, {1: 4000, 2: 100}, ()),
        (["4000", "50"], 500, {1: 4000, 2: 50}, ()),
        (["1000"], 512, {1: 1000, 2: 100}, ("grid x is 125 in the host code, 512 here",)),
        ([], 512, {1: 1 << 20, 2: 100}, ("grid x is 131,072 in the host code, 512 here",)),
        (None, 64, {1: 512, 2: 100}, ()),
        (None, 131072, {1: 1 << 20, 2: 100}, ()),
    ],
)
def test_programs_arguments_go_before_sizes_and_sizes_before_defaults(given, grid, values, conflicts):
    found = HostCode(_DEFAULTS, given).launch_at("rows", Launch.of([grid], [256], {}))
    assert found.values == values
    assert found.conflicts == conflicts


@pytest.mark.parametrize(("kernel", "n"), [("sum<double, 128>", 10), ("void sum<float, (int)256>(T1)", 1 << 18)])
def test_an_instance_has_the_arguments_of_its_own_launch(kernel, n):
    found = HostCode(_DEFAULTS, []).launch_at(kernel, Launch.of([64], [256], {}))
    assert found.values == {1: n}


_HERE = Path(__file__).parent


def test_opencl_launches_have_work_items_arguments_and_buffers():
    (launch,) = read_host(_HERE / "vadd.c", "vadd").launches("vadd")
    assert (launch.grid, launch.block) == ((64, 2, 1), (64, 1, 1))
    assert (launch.values, launch.buffers) == ({2: 4095}, {0: 16384, 1: 16384})
    assert launch.place.endswith("vadd.c:24")
    assert [launch.origins[key].rpartition("/")[2] for key in (0, 2)] == ["vadd.c:1", "vadd.c:1"]


def test_the_cpp_wrappers_launches_are_read():
    first, second = read_host(_HERE / "wrapper.cpp", "scale").launches("scale")
    assert (first.grid, first.block, first.values, first.buffers) == ((32, 1, 1), (128, 1, 1), {1: 255}, {0: 32768})
    assert (second.grid, second.block) == ((256, 1, 1), (16, 16, 1))  # of 4,096 by 2 work-items
    assert second.origins["block"] == "assumed, the driver chooses"


def test_opencl_sizes_are_compared_as_work_items():
    code = read_host(_HERE / "vadd.c", "vadd")
    assert code.launch_at("vadd", Launch.of([64, 2], 64, {})).conflicts == ()
    assert (
        "global size x is 4,096 in the host code, 2,048 here" in code.launch_at("vadd", Launch.of(32, 64, {})).conflicts
    )


def test_an_explicit_argument_goes_before_all_that_it_contradicts():
    text = "int main() { int n = 64; cudaMalloc(&d, n * 4); cudaMalloc(&e, 512); k<<<4, 32>>>(d, n * n, e); }"
    followed = HostCode(text).launch_at("k", Launch.of([4], [32], {"1": 10_000}))
    assert (followed.buffers, followed.values) == ({0: 400, 2: 512}, {1: 10_000})  # n is 100
    contradicted = HostCode(text).launch_at("k", Launch.of([4], [32], {"1": 5000}))
    assert (contradicted.buffers, contradicted.values) == ({2: 512}, {1: 5000})
    assert contradicted.conflicts == ("argument 1 is 4,096 in the host code, 5,000 here",)


@pytest.mark.parametrize(
    ("body", "value"),
    [
        ("int n = 6; if (n % 4 != 0) n = (n / 4 + 1) * 4; k<<<1, 1>>>(n);", 8),
        ("int n = 8; if (n % 4 != 0) n = (n / 4 + 1) * 4; k<<<1, 1>>>(n);", 8),
        ("int n = 8; if (argc > 9) n = atoi(argv[9]); k<<<1, 1>>>(n);", 8),
        ("int m, n; n = m = 0; read(&n); k<<<1, 1>>>(n);", None),
        ("int n = 0; while (more()) n++; k<<<1, 1>>>(n);", None),
        ("struct { float a[4]; char *b; } s[2]; k<<<1, 1>>>(sizeof(s));", 48),
        ("unsigned short s[3]; k<<<1, 1>>>(sizeof(s) / sizeof(*s));", 3),
        ("float n = 7; k<<<1, 1>>>((int)(n / 2));", 3),
        ("int n = 7; k<<<1, 1>>>(ceil((float)n / 2));", 4),
        ("dim3 g(16, 4), b(g.y); k<<<1, 1>>>(g.x * b.x);", 64),
        ("dim3 g; g.x = 16; g.y = 4; k<<<1, 1>>>(g.y);", 4),
        ("dim3 g = dim3(); k<<<g, 1>>>(g.z);", 1),
    ],
)
def test_values_follow_c(body, value):
    text = f"int main(int argc, char **argv) {{ {body} }}"
    assert HostCode(text, []).launch_at("k", Launch.of(1, 1, {})).values.get(0) == value


def test_a_part_that_is_copied_is_not_the_whole():
    allocated = "int main() { cudaMalloc(&d, size()); for (;;) cudaMemcpy(d, h, 64, up); k<<<4, 32>>>(d); }"
    assert _arguments(allocated).buffers == {}
    elsewhere = "int main() { cudaMemcpy(d, h, 64, up); cudaMemcpy(d, h, 4096, up); k<<<4, 32>>>(d); }"
    assert _arguments(elsewhere).buffers == {0: 4096}


def test_other_programs_in_a_folder_are_not_mixed(tmp_path):
    (tmp_path / "k.cu").write_text("__global__ void k(float *x, int n) {}\n")
    (tmp_path / "a.cu").write_text("#define N 1024\nint main() { other<<<N, 1>>>(x); }\n")
    (tmp_path / "b.cu").write_text("int N = 64;\nint main() { cudaMalloc(&x, N); k<<<N, 1>>>(x, N); }\n")
    found = read_host(tmp_path / "k.cu", "k").launch_at("k", Launch.of(64, 1, {}))
    assert (found.values, found.buffers, found.conflicts) == ({1: 64}, {0: 64}, ())
    assert found.origins[1] == f"{tmp_path / 'b.cu'}:1"


_STRUCTURES = "".join(f"struct S{i} {{ {f'struct S{i + 1} m;' * 60} }};" for i in range(9))
_WRAPPERS = "".join(f"void w{i}(cl_kernel k) {{ {f'w{i + 1}(k);' * 60} }}" for i in range(9))
_HOSTILE = {
    **{text[:5]: text for text in ("(" * 30_000, "a<" * 9_000, "{" * 30_000, "k<<<" * 9_000, "-(a)&" * 4_000)},
    "a line": "x " * 450_000,
    "backslashes": "\\" * 900_000,
    "comments": "/*/ " * 200_000,
    "quotes": '"' + '\\"' * 400_000,
    "a file's name": f'#line 1 "{"A" * 300_000}"\n' + "\n" * 600_000,
    "a line's number": f'#line {"9" * 6000} "x"',
    "conditions": "#if a\nx\n" * 120_000,
    "assignments": ("a=" * 395 + "5;") * 1000,
    "structures": f"{_STRUCTURES} int main() {{ k<<<1, 1>>>(sizeof(struct S0) / 0); }}",
    "an array": f"struct S {{ int x{'[9000000000]' * 40_000}; }}; int main() {{ k<<<1, 1>>>(sizeof(struct S)); }}",
    "launches": "int f(int n) { return f(n + 1) + f(n + 2); } int main() {" + "k<<<f(1), 1>>>(f(7));" * 99 + "}",
    "branches": "int main() { int n = 1;" + "if (c > n) { n = n + 1; }" * 20_000 + "k<<<1, 1>>>(n); }",
    "arguments": "int main() {"
    + "clSetKernelArg(k, 1, 4, &n);" * 28_000
    + "clEnqueueNDRangeKernel(q, k, 1, 0, &g, 0);" * 900,
    "names": _WRAPPERS + "void w9(cl_kernel k) { clEnqueueNDRangeKernel(q, k, 1, 0, &g, 0); }",
}


@pytest.mark.parametrize("text", _HOSTILE.values(), ids=_HOSTILE)
def test_hostile_text_ends_in_time(text):
    code = HostCode(text)
    assert not code.launch_at("k", Launch.of(1, 1, {})).values
    assert not any(launch.values for launch in code.launches("k"))


def test_only_what_the_source_may_read_is_read(tmp_path):
    folder = tmp_path / "program"
    (folder / "sub").mkdir(parents=True)
    (tmp_path / "out.h").write_text("#define N 7\nint main() { k<<<N, 1>>>(x); }\n")
    (folder / ".hidden.h").write_text("#define N 8\n")
    (folder / "link.h").symlink_to("../out.h")
    (folder / "main.cu").symlink_to("../out.h")
    os.mkfifo(folder / "pipe.h")
    headers = "../out.h", tmp_path / "out.h", "link.h", ".hidden.h", "pipe.h", "n" * 5000, "sub/n.h"
    (folder / "k.cu").write_text("".join(f'#include "{name}"\n' for name in headers) + "int n = N;\n")
    assert read_host(folder / "k.cu", "k").launches("k") == []
    (folder / "sub" / "n.h").write_text("int main() { k<<<64, 1>>>(N); }\n")
    (found,) = read_host(folder / "k.cu", "k").launches("k")
    assert (found.grid, found.values, found.place) == ((64, 1, 1), {}, f"{folder}/sub/n.h:1")
    options = CompileOptions(include_paths=(str(tmp_path),))
    (found,) = (one for one in read_host(folder / "k.cu", "k", options).launches("k") if one.grid == (64, 1, 1))
    assert found.values == {0: 8}  # of a folder that is named, hidden files too


def test_macros_of_the_command_line_choose_what_is_read(tmp_path):
    text = "#ifndef N\n#define N 8\n#endif\n#ifdef GPU\nint main() { k<<<N, 1>>>(x, N); }\n#endif\n"
    (tmp_path / "k.cu").write_text(text)
    options = CompileOptions(defines=("GPU", "N=64"))
    assert [launch.grid for launch in read_host(tmp_path / "k.cu", "k", options).launches("k")] == [(64, 1, 1)]
    assert read_host(tmp_path / "k.cu", "k").launches("k") == []
