"""Every verb's JSON over the inputs of `cases`, what it writes, and a page of its plain output are what they were."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

import ncc
from tests.fixtures.pages import data_of
from tests.golden.cases import CASES, CODE, IR, MODULES, PAGES, ROOT
from tests.rooms import KernelWork, code_columns, divergent_share, read_module
from tests.support.goldens import Goldens, comparable, digest
from tests.support.verbs import run_here

FUNCTIONS = {MODULES[0]: "total", MODULES[-1]: "blend", CODE[0]: "dot"}
"""Inputs that are drawn → the function that a picture shows."""


@pytest.mark.parametrize("name", CASES)
def test_a_verb_answers_as_it_did(name: str, goldens: Goldens) -> None:
    finished = run_here(*CASES[name], "--json")
    goldens.check(name, {"code": finished.code, "rows": comparable(finished.rows, roots={f"{ROOT}/": ""})})


@pytest.mark.parametrize("pooling", ["encoder", "mean"])
def test_what_was_indexed_is_found(pooling: str, goldens: Goldens, tmp_path: Path) -> None:
    index = tmp_path / "index"
    inputs = ["index", *MODULES[:5], CODE[0], CODE[-1], "-o", index, "--pooling", pooling]
    answers = {
        "index": run_here(*inputs, "--json").row,
        "again": run_here(*inputs, "--json").row,
        "search": run_here("search", index, CODE[0], "--top", "3", "--json").rows,
        "function": run_here("search", index, MODULES[0], "--function", "main", "--top", "4", "--json").rows,
        "duplicates": run_here(
            "search", index, "--duplicates", "--threshold", "0.9", "--min-statements", "4", "--json"
        ).rows,
    }
    goldens.check(f"search-{pooling}", comparable(answers, roots={f"{ROOT}/": "", str(tmp_path): "FOLDER"}))


def test_similarities_are_what_they_were(goldens: Goldens) -> None:
    inputs = MODULES[:5]
    found = {
        f"{one} {other}": ncc.similarity(Path(one), Path(other)) for one in inputs for other in inputs if one < other
    }
    found["of a source"] = ncc.similarity(Path(MODULES[0]), Path(CODE[0]))
    goldens.check("similarity", comparable(found))


@pytest.mark.parametrize("ending", ["graphml", "json", "svg", "html"])
def test_a_graph_is_drawn_as_it_was(ending: str, goldens: Goldens, tmp_path: Path) -> None:
    found = {}
    for name, function in FUNCTIONS.items():
        output = tmp_path / f"graph.{ending}"
        shown = ("--function", function) if ending == "svg" else ()
        finished = run_here("graph", name, "-o", output, *shown)
        assert finished.code == 0, finished.err
        content = output.read_bytes()
        if ending == "html":  # its scripts have tests of their own
            content = json.dumps(data_of(content.decode())).encode()
        found[name] = f"{digest(content)}, {len(content)} bytes"
    goldens.check(f"graph-{ending}", found)


def kernel_columns(path: str) -> dict[str, Any]:
    """Columns of the device head about a kernel in IR, and the feature of coarsening."""
    embedding = ncc.load_embedding()
    module = read_module(Path(path), abstraction=embedding.abstraction)
    words, _ = embedding.vocabulary.encode(module.texts)
    inputs = KernelWork(module, module.first_kernel).features(embedding.vectors[words[module.text_id]])
    return {
        "code": code_columns(inputs)[0].tolist(),
        "work": inputs.work[0].tolist(),
        "profile": dict(enumerate(inputs.profile[0].tolist())),
        "coarsening": divergent_share(module),
    }


def test_columns_of_kernels_are_what_they_were(goldens: Goldens) -> None:
    names = [f"{IR}/saxpy.{kind}.ll" for kind in ("clang14", "clang16-typed", "clang22")]
    goldens.check("columns", comparable({name: kernel_columns(name) for name in names}))


@pytest.mark.parametrize("name", PAGES)
def test_a_page_reads_as_it_did(name: str, pages: Goldens) -> None:
    finished = run_here(*PAGES[name])
    parts = [f"exit code {finished.code}", finished.out, *(["messages:", finished.err] if finished.err else [])]
    text = "\n".join(re.sub(r"[ \t]+$", "", part, flags=re.MULTILINE).rstrip() for part in parts)
    pages.check(name, f"{text}\n")
