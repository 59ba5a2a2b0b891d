"""Arguments made by type, size and comments."""

import numpy as np
import pytest

from ncc.errors import InputError
from tests.rooms import Argument, NDRange, evaluate_size, fill, launch_range, read_annotations
from tests.support.refuses import refuses

LINE = NDRange((1024,), (64,), 1024)
SQUARE = NDRange((32, 32), (8, 8), 1024)


def _argument(type_name, space="global", name="a", annotations=None):
    return Argument("k", name, type_name, space, is_const=False, annotations=annotations or {})


def _made(argument, nd_range=LINE, seed=0):
    return fill(argument, nd_range, np.random.default_rng(seed))


@pytest.mark.parametrize(
    ("type_name", "dtype", "count"),
    [
        ("float*", np.float32, 1024),
        ("int4*", np.int32, 4096),
        ("double3*", np.float64, 4096),
        ("uchar*", np.uint8, 1024),
    ],
)
def test_buffers_have_an_element_for_each_work_item(type_name, dtype, count):
    values = _made(_argument(type_name))
    assert (values.dtype, len(values)) == (dtype, count)
    assert values.min() >= 0
    assert values.max() <= (1 if values.dtype.kind == "f" else 1023)
    assert len(np.unique(values)) > 100


def test_whole_scalars_are_the_number_of_work_items_of_a_row():
    assert _made(_argument("int", "private")).tolist() == [1024]
    assert _made(_argument("int", "private"), SQUARE).tolist() == [32]
    assert _made(_argument("char", "private")).tolist() == [127]


def test_what_is_drawn_depends_on_the_seed_alone():
    assert (_made(_argument("float*"), seed=1) == _made(_argument("float*"), seed=1)).all()
    assert (_made(_argument("float*"), seed=1) != _made(_argument("float*"), seed=2)).any()


def test_comments_say_what_arguments_are():
    annotations = read_annotations(
        "// ncc: a: size N + 1, values 8 * i\n  // ncc: k.b: below 3\n// ncc: k: items W / 4, local 32\n"
    )
    a, b = (_argument("int*", name=name, annotations=annotations) for name in "ab")
    assert _made(a)[:3].tolist() == [0, 8, 16]
    assert a.num_bytes(LINE) == 4 * 1025
    assert set(_made(b)) == {0, 1, 2}
    assert launch_range("k", annotations, 1, 4096, 64) == NDRange((1024,), (32,), 4096)


def test_two_dimensions_are_a_square():
    assert launch_range("k", {}, 2, 4096, 64) == NDRange((64, 64), (8, 8), 4096)
    assert launch_range("k", {}, 2, 4096, 128) == NDRange((64, 64), (16, 8), 4096)


@pytest.mark.parametrize("type_name", ["image2d_t", "sampler_t", "pipe int", "struct S*", "Pair*", "event_t"])
def test_images_and_the_like_are_refused_by_name(type_name):
    with refuses(InputError, "kernel k", "argument 'a'", type_name.removesuffix("*")):
        _made(_argument(type_name))


@pytest.mark.parametrize("text", ["N ** 9", "__import__('os')", "M", "N /", "N / 0", "f(N)", "'a'"])
def test_expressions_are_of_numbers_and_names_alone(text):
    with pytest.raises(InputError):
        evaluate_size(text, {"N": 4})


def test_comments_that_nobody_understands_are_refused():
    with refuses(InputError, "shape 3", "size, values, below, items, local"):
        read_annotations("// ncc: a: shape 3")


@pytest.mark.parametrize(
    "rule", ["local 1e400", "items \0", "size " + "1+" * 100 + "1", "below " + "(" * 150, "values i / 0"]
)
def test_rules_that_cannot_be_computed_are_refused_where_they_are_read(rule):
    with refuses(InputError, "comment 'ncc: k: "):
        read_annotations(f"// ncc: k: {rule}\n")


def test_spaces_in_a_comment_take_no_time():
    with refuses(InputError, "400,010 characters"):
        read_annotations(f"// ncc: k: 1{' ' * 400_000}1")


@pytest.mark.parametrize(
    ("type_name", "rule", "reason"),
    [
        ("int*", "values i * 4e9", "beyond the type int*"),
        ("half*", "values 1e5", "beyond the type half*"),
        ("int*", "values 5 / i", "divide by zero"),
        ("float*", "values 1.0" + " * i" * 20, "beyond the type float*"),
        ("int*", "size 0.5", "would have 0 elements"),
    ],
)
def test_values_that_an_argument_cannot_hold_are_refused(type_name, rule, reason):
    with refuses(InputError, reason):
        _made(_argument(type_name, annotations=read_annotations(f"// ncc: a: {rule}")))


def test_a_square_has_no_more_work_items_than_are_asked_for():
    nd_range = launch_range("k", read_annotations("// ncc: k: items 67108865 * 67108865 - 1, local 1"), 2, 1, 1)
    assert nd_range.global_size == (67108864, 67108864)


def test_a_work_group_must_fit():
    with refuses(InputError, "work-group of 256", "64 work-items"):
        launch_range("k", {}, 1, 64, 256)
