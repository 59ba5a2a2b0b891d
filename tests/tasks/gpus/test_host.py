"""What host code tells of a launch: values, buffers, and names that the launch's sizes settle."""

import pytest

from tests.rooms import HostCode, Launch, evaluate_expression, host_arguments, split_arguments

_CODE = """
#define THREADS 128
#define CEIL(a, b) (((a) + (b) - 1) / (b))
typedef double real;
struct Pair { float a, b; int *next; };
int halved(int v) { return v / 2; }
void run(float *data, int count, int radius = 3) {
  Pair *pairs;
  cudaMalloc(&pairs, count * sizeof(Pair));
  smooth<real, 4><<<CEIL(count, THREADS), THREADS>>>(data, pairs, count, radius, halved(count));
}
int main(int argc, char *argv[]) {
  int n = atoi(argv[1]); // the size
  int unused = 0, filled = 0;
  fscanf(file, "%d", &filled);
  real *d_x;
  cudaMalloc((void **)&d_x, n * sizeof(real));
  float *d_y;
  cudaMalloc((void **)&d_y, sizeof(float) << 10);
  run(d_y, 5000);
  fill<<<(n + 255) / 256, 256>>>(d_x, n, 1.5f, unused, filled);
}
"""


def _read(kernel, grid, block, program_arguments=None):
    return HostCode(_CODE, program_arguments).arguments_of(kernel, Launch.of(grid, block, {}))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("7 / 2 * 2.0", 6.0),
        ("-7 / 2", -3),
        ("1 << 4 | 3", 19),
        ("010 + 0x10", 24),
        ("08", None),
        ("(unsigned int)(3.0f + 1) % 3", 1),
        ("sizeof(float4) * 2ul", 32),
        ("a > 2 ? a : 1", 3),
        ("std::max<int>(a, 8)", 8),
        ("dim3(a, 2)", (3, 2, 1)),
        ("a + missing", None),
        ("1 / 0", None),
        ("1 << 70", None),
        ("(((", None),
    ],
)
def test_expressions_have_the_values_that_c_gives_them(text, value):
    from tests.rooms import call_known

    def call(function, texts):
        return call_known(function, [evaluate_expression(one, {"a": 3}.get, lambda *_: None) for one in texts])

    assert evaluate_expression(text, {"a": 3}.get, call) == value


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


_DEFAULTS = """
template <typename T, int B> __global__ void sum(const T *x, int n) {}
int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 1 << 20;
  int m = argc > 2 ? atoi(argv[2]) : 100;
  rows<<<(n * 32 + 255) / 256, 256>>>(x, n, m);
  sum<float, 256><<<64, 256>>>(x, n / 4);
  sum<double, 128><<<1, 128>>>(y, 10);
}
"""


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
