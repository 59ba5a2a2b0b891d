"""What host code tells of a launch: values, buffers, and names that the launch's sizes settle."""

from pathlib import Path

import pytest

from tests.rooms import HostCode, Launch, call_known, evaluate_expression, host_arguments, split_arguments
from tests.support.text import rows

_CODE = (Path(__file__).parent / "calls.cu").read_text()


def _read(kernel, grid, block, program_arguments=None):
    return HostCode(_CODE, program_arguments).arguments_of(kernel, Launch.of(grid, block, {}))


@pytest.mark.parametrize(("text", "value"), rows("expressions.txt"))
def test_expressions_have_the_values_that_c_gives_them(text, value):
    def call(function, texts):
        return call_known(function, [evaluate_expression(one, {"a": 3}.get, lambda *_: None) for one in texts])

    assert str(evaluate_expression(text, {"a": 3}.get, call)) == value


def test_arguments_are_split_outside_of_brackets():
    assert split_arguments("f(a, b), {c, d}, e[1, 2]") == ["f(a, b)", "{c, d}", "e[1, 2]"]
    assert split_arguments(" ") == []


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
    assert not _read("other", [1], [1]).found


def test_code_that_is_no_code_tells_nothing():
    for text in (
        "k<<<",
        "k<<<a, b>>>",
        "k<<<1, 1>>>(f(",
        "void f(int a) { k<<<a, a>>>(a); } int main() { f(",
        "#define A A\nk<<<A, 1>>>(A)",
    ):
        HostCode(text).arguments_of("k", Launch.of([1], [1], {}))


def test_files_beside_are_read_where_a_file_launches_nothing(tmp_path):
    (tmp_path / "kernel.cu").write_text("__global__ void fill(double *x, int n);")
    (tmp_path / "main.cpp").write_text(_CODE)
    found = host_arguments(tmp_path / "kernel.cu", "fill", Launch.of([4], [256], {}))
    assert found.values[1] == 1024


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
    found = HostCode(_DEFAULTS, given).arguments_of("rows", Launch.of([grid], [256], {}))
    assert found.values == values
    assert found.conflicts == conflicts


@pytest.mark.parametrize(("kernel", "n"), [("sum<double, 128>", 10), ("void sum<float, (int)256>(T1)", 1 << 18)])
def test_an_instance_has_the_arguments_of_its_own_launch(kernel, n):
    found = HostCode(_DEFAULTS, []).arguments_of(kernel, Launch.of([64], [256], {}))
    assert found.values == {1: n}
