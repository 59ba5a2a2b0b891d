"""The encoder of functions and modules: fitted, written, read, and what it finds alike."""

from dataclasses import replace

import numpy as np
import pytest

from ncc.errors import InputError
from tests.rooms import (
    BITS,
    CompileOptions,
    EncoderTraining,
    LabelledPatterns,
    LinearEncoder,
    PatternCounts,
    compile_source,
    fit_encoder,
    load_pooler,
    optimize_if_needed,
    read_module,
)
from tests.support.refuses import refuses

TRAINING = EncoderTraining(dim=8, min_df=2)
SOURCE = b"""
int sum(const int *p, int n) { int s = 0; for (int i = 0; i < n; i++) s += p[i]; return s; }
int most(const int *p, int n) { int m = p[0]; for (int i = 1; i < n; i++) if (p[i] > m) m = p[i]; return m; }
unsigned bits(unsigned x) { unsigned n = 0; while (x) { n += x & 1; x >>= 1; } return n; }
"""


def groups(num_groups: int, size: int, seed: int) -> LabelledPatterns:
    """Bags that share most patterns with those of their group, and some with all."""
    rng = np.random.default_rng(seed)
    own = rng.choice(1 << BITS, (num_groups, 12), replace=False)
    shared = rng.choice(1 << BITS, 40, replace=False)
    keys = [
        np.unique([*rng.choice(row, 8, replace=False), *rng.choice(shared, 15)]) for row in own for _ in range(size)
    ]
    start = np.cumsum([0, *map(len, keys)])
    key = np.concatenate(keys).astype(np.uint32)
    return LabelledPatterns(
        PatternCounts(start, key, np.ones(len(key), np.int32)), np.repeat(np.arange(num_groups), size)
    )


@pytest.fixture(scope="module")
def encoder() -> LinearEncoder:
    return fit_encoder(groups(4, 20, 1), groups(12, 6, 2), TRAINING, card={"command": "a test"})


def test_bags_of_a_class_are_near_each_other(encoder: LinearEncoder) -> None:
    programs = groups(4, 20, 1)
    vectors = encoder.encode(programs.counts, "module")
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    cosines = vectors @ vectors.T
    np.fill_diagonal(cosines, -1)
    assert (programs.label[cosines.argmax(axis=1)] == programs.label).mean() > 0.95


def test_too_few_classes_or_patterns_are_refused() -> None:
    with refuses(InputError, "two classes"):
        fit_encoder(groups(1, 20, 1), groups(12, 6, 2), TRAINING)
    with refuses(InputError, "two functions"):
        fit_encoder(groups(4, 20, 1), groups(1, 6, 2), TRAINING)
    with refuses(InputError, "patterns"):
        fit_encoder(groups(2, 4, 1), groups(3, 3, 2), replace(TRAINING, min_df=1000))


def test_code_of_new_classes_leaves_those_that_are_known(encoder: LinearEncoder) -> None:
    new = groups(6, 10, 3)
    counts = PatternCounts(
        new.counts.start, encoder.pattern_ids[new.counts.key % len(encoder.pattern_ids)], new.counts.times
    )
    first = slice(0, encoder.num_classes)
    apart, alike = (
        replace(encoder, common_component_weight=share).encode(counts, "module")[:, first] @ encoder.anchors.T
        for share in (0.3, 0)
    )
    assert (apart.max(axis=1) < alike.max(axis=1)).mean() > 0.9
    np.testing.assert_allclose(np.linalg.norm(encoder.anchors, axis=1), 1, atol=1e-5)
    assert np.array_equal(
        replace(encoder, anchors=encoder.anchors[:0]).encode(counts, "module"),
        replace(encoder, common_component_weight=0.0).encode(counts, "module"),
    )


def test_what_is_known_of_functions_is_kept(encoder: LinearEncoder) -> None:
    programs = groups(5, 20, 7)
    key = encoder.pattern_ids[programs.counts.key % len(encoder.pattern_ids)]
    key[programs.counts.start[1::2] - 1] = 1 << BITS | 7  # of a kind that the encoder has not seen
    programs = LabelledPatterns(programs.counts._replace(key=key), programs.label)
    more = fit_encoder(programs, encoder, TRAINING)
    functions = groups(12, 6, 2).counts
    (before, old), (after, new) = (
        (one.encode(functions, "function")[:, one.num_classes :], one.num_classes) for one in (encoder, more)
    )
    assert (old, new, more.dim) == (3, 4, 9)
    assert (before * after).sum(axis=1).min() > 0.999 * (before**2).sum(axis=1).max()
    assert more.pattern_ids.tolist() == [*encoder.pattern_ids.tolist(), 1 << BITS | 7]
    assert (more.card["functions_from"], more.card["builds"]) == ("a test", 72)


def test_unknown_patterns_alone_have_no_vector(encoder: LinearEncoder) -> None:
    unknown = PatternCounts(np.array([0, 1]), np.array([9 << BITS | 5], np.uint32), np.ones(1, np.int32))
    assert not encoder.encode(unknown, "function").any()


def test_code_of_o0_is_optimised_first() -> None:
    pooler = load_pooler("encoder")
    slow, fast = (
        read_module(compile_source(SOURCE, CompileOptions(language="c", optimization=level)).ir)
        for level in ("-O0", "-O2")
    )
    assert slow.is_unoptimized
    assert not fast.is_unoptimized
    assert optimize_if_needed(fast, pooler.abstraction) is None
    better = optimize_if_needed(slow, pooler.abstraction)
    assert better is not None
    assert better.function_names == slow.function_names
    assert better.num_statements < slow.num_statements / 2
    cosines = pooler.vectors(slow, range(3)) @ pooler.vectors(fast, range(3)).T
    assert cosines.argmax(axis=1).tolist() == [0, 1, 2]
    assert np.diag(cosines).min() > 0.8


def test_code_of_an_older_llvm_is_written_as_this_one_does() -> None:
    pooler = load_pooler("encoder")
    old = (
        b"%s = type { i64, [4 x i32] }\n"
        b"define internal i32 @get(%s* %p) {\n  %a = getelementptr inbounds %s, %s* %p, i64 0, i32 1, i64 2\n"
        b"  %v = load i32, i32* %a\n  ret i32 %v\n}\n"
        b"define void @set(%s* %p) {\n  %b = bitcast %s* %p to i8*\n  %v = call i32 @get(%s* %p)\n"
        b"  store i8 3, i8* %b\n  ret void\n}\n"
    )
    new = (
        b"define internal void @get(ptr %p) {\n  ret void\n}\n"
        b"define void @set(ptr %p) {\n  call void @get(ptr %p)\n  store i8 3, ptr %p, align 1\n  ret void\n}\n"
    )
    module, other = read_module(old), read_module(new)
    assert (module.has_typed_geps, other.has_typed_geps, module.is_unoptimized) == (True, False, False)
    written = optimize_if_needed(module, pooler.abstraction)
    assert written is not None
    assert written.function_names == ("get", "set")
    assert "getelementptr" not in written.ir.decode()
    assert optimize_if_needed(other, pooler.abstraction) is None
    np.testing.assert_allclose(pooler.vectors(module, range(2)), pooler.vectors(other, range(2)), atol=1e-6)


def test_what_llvm_cannot_read_is_taken_as_it_is() -> None:
    pooler = load_pooler("encoder")
    body = b"  %q = alloca x86_mmx\n  store x86_mmx %p, x86_mmx* %q\n  ret void\n"  # a type that is gone
    text = b"define void @f(x86_mmx %p) #0 {\n" + body + b"}\nattributes #0 = { noinline optnone }\n"
    module = read_module(text)
    assert module.is_unoptimized
    assert optimize_if_needed(module, pooler.abstraction) is None
    assert pooler.vectors(module, [0, 0]).shape == (2, pooler.dim)


def test_what_nothing_reaches_is_taken_as_it_is() -> None:
    body = b"  %y = shl i32 %x, 1\n  ret i32 %y\n"
    text = b"define internal i32 @twice(i32 %x) #0 {\n" + body + b"}\nattributes #0 = { noinline optnone }\n"
    module = read_module(text)
    assert module.function_names == ("twice",)
    assert module.is_unoptimized
    pooler = load_pooler("encoder")
    assert optimize_if_needed(module, pooler.abstraction) is None
    assert pooler.vectors(module)[0].any()
    assert pooler.vectors(module, [0])[0].any()
