"""Context counts against a breadth-first search in plain sets."""

import random
import signal
import time
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from fuzz.grammar import random_module
from ncc.errors import InputError
from tests.oracles.contexts import slow_contexts
from tests.rooms import MAX_WIDTH, XFG, build_xfg, count_contexts, native, read_module
from tests.support.refuses import refuses

IR = Path(__file__).parents[2] / "data" / "ir"
SMALL = ["tree.llvm11.ll", "machine.clang19.ll", "shapes.clang14.ll", "saxpy.clang22.ll", "legacy.ll"]


def counted(graph: XFG, labels: list[int], width: int, max_degree: int | None = None) -> Counter[tuple[int, int]]:
    counts = count_contexts(graph, np.array(labels, np.int32), width, max_degree=max_degree)
    keys = list(zip(counts.center.tolist(), counts.context.tolist(), strict=True))
    assert keys == sorted(set(keys))
    assert (counts.count >= 1).all()
    return Counter(dict(zip(keys, counts.count.tolist(), strict=True)))


def check(graph: XFG, labels: list[int], width: int, max_degree: int | None = None) -> None:
    found = counted(graph, labels, width, max_degree)
    assert found == slow_contexts(graph, labels, width, max_degree)
    assert all(found[context, center] == count for (center, context), count in found.items())


@pytest.mark.parametrize("width", [1, 2, 3])
@pytest.mark.parametrize("file", SMALL)
def test_real_modules(file: str, width: int) -> None:
    graph = build_xfg(read_module(IR / file))
    assert graph.num_edges > 50
    check(graph, graph.module.text_id.tolist(), width)
    # statements without a word of the vocabulary are walked through but not counted
    check(graph, [label if label % 3 else -1 for label in graph.module.text_id.tolist()], width)


@pytest.mark.parametrize("width", [1, 2, 4])
@pytest.mark.parametrize("max_degree", [None, 0, 3, 6])
def test_modules_made_up(width: int, max_degree: int | None) -> None:
    for seed in range(15):
        graph = build_xfg(read_module(random_module(random.Random(seed))[1].encode()))
        labels = [i % (seed % 12 + 1) - 1 for i in range(graph.module.num_statements)]
        check(graph, labels, width, max_degree)


def test_pairs_go_both_ways() -> None:
    graph = build_xfg(
        read_module(b"define i32 @f(i32 %a) {\n  %b = add i32 %a, 1\n  %c = add i32 %b, 1\n  ret i32 %c\n}")
    )
    # define and b share a; b and c share b; c and ret share c; no node connects define with c
    statements = list(range(4))
    assert counted(graph, statements, 1) == Counter([(0, 1), (1, 0), (1, 2), (2, 1), (2, 3), (3, 2)])
    assert [counted(graph, statements, width).total() for width in (2, 3)] == [10, 12]


@pytest.mark.parametrize("width", [0, -1, MAX_WIDTH + 1, 1000])
def test_widths_out_of_range(width: int) -> None:
    graph = build_xfg(read_module(b"define void @f() {\n  ret void\n}\n"))
    with refuses(InputError, "width", str(width), str(MAX_WIDTH)):
        count_contexts(graph, np.zeros(2, np.int32), width)


@pytest.mark.parametrize("num_labels", [0, 1, 3])
def test_labels_that_do_not_fit_the_graph(num_labels: int) -> None:
    graph = build_xfg(read_module(b"define void @f() {\n  ret void\n}\n"))
    with refuses(InputError, str(num_labels), "2 statements"):
        count_contexts(graph, np.zeros(num_labels, np.int32))


def test_a_module_without_statements_has_no_contexts() -> None:
    graph = build_xfg(read_module(b"declare void @f()\n"))
    assert len(count_contexts(graph, np.zeros(0, np.int32)).count) == 0


def grid(num_chains: int) -> bytes:
    """IR in which every statement reaches many that no pivot reaches: each is walked from by itself."""
    lines = [f"  %v{i} = add i32 %x, {i}\n  %w{i} = add i32 %v{i}, %v{i // 2}" for i in range(1, num_chains)]
    return ("define void @f(i32 %x) {\n  %v0 = add i32 %x, 0\n" + "\n".join(lines) + "\n  ret void\n}\n").encode()


@pytest.mark.parametrize("name", SMALL)
def test_counts_do_not_depend_on_slices(name, monkeypatch):
    graph = build_xfg(read_module(IR / name))
    label = np.arange(graph.module.num_statements, dtype=np.int32) % 7
    whole = count_contexts(graph, label, 3)
    monkeypatch.setattr(native, "_COUNT", native._COUNT._replace(slice_size=0))
    for got, expected in zip(vars(count_contexts(graph, label, 3)).values(), vars(whole).values(), strict=True):
        assert (got == expected).all()


def test_counting_has_a_deadline(monkeypatch):
    graph = build_xfg(read_module(grid(50), name="grid.ll"))
    monkeypatch.setattr(native, "_COUNT", native._COUNT._replace(slice_size=0))
    monkeypatch.setattr("ncc.ir.graph.contexts.seconds_for", lambda _: 0.0)
    with refuses(InputError, "grid.ll: ", "0 s", "smaller width"):
        count_contexts(graph, graph.module.text_id, 3)


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="this system has no timers")
def test_counting_hears_interrupts(monkeypatch):
    graph = build_xfg(read_module(grid(2000)))
    monkeypatch.setattr(native, "_COUNT", native._COUNT._replace(slice_size=0))

    def slow() -> float:
        time.sleep(0.01)
        return 0.0

    monkeypatch.setattr("ncc.ir.reader.native.time", SimpleNamespace(monotonic=slow))

    def interrupt(*_):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, 0.2)
    try:
        with pytest.raises(KeyboardInterrupt):
            count_contexts(graph, graph.module.text_id, 3)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
