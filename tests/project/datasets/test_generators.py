"""Synthetic programs: reproducible, named as promised, and every one compiles."""

import os
import re
from pathlib import Path

import pytest

from datasets.generators import GENERATORS, generate
from ncc.errors import InputError
from tests.rooms import CompileOptions, compile_source, read_module
from tests.support.refuses import refuses

NAMES = ("gemm", "stencil", "eigen")


def eigen_folder():
    for folder in (os.environ.get("NCC_EIGEN"), "/usr/include/eigen3"):
        if folder and (Path(folder) / "Eigen" / "Dense").is_file():
            return folder
    return pytest.skip("Eigen's headers are neither in the folder that NCC_EIGEN names nor in /usr/include/eigen3")


def defined_functions(path, options):
    ir = compile_source(path, options).ir
    read_module(ir)
    return re.findall(r"^define [^@]*@(?:\"[^\"]+\"|[\w.$]+)", ir.decode(), re.MULTILINE)


def test_there_are_three_generators():
    assert tuple(GENERATORS) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_a_seed_gives_the_same_programs_again(name):
    assert list(generate(name, 10, seed=3)) == list(generate(name, 10, seed=3))


@pytest.mark.parametrize("name", NAMES)
def test_seeds_give_different_programs(name):
    texts = [text for seed in (1, 2, 3) for _, text in generate(name, 10, seed=seed)]
    assert len(set(texts)) == 30


@pytest.mark.parametrize("name", NAMES)
def test_a_program_does_not_depend_on_how_many_are_asked_for(name):
    assert list(generate(name, 4)) == list(generate(name, 9))[:4]


@pytest.mark.parametrize(
    ("name", "extensions"), [("gemm", {"c", "cpp", "cl"}), ("stencil", {"c", "cpp", "cl"}), ("eigen", {"cpp"})]
)
def test_files_are_named_by_generator_number_and_language(name, extensions):
    files = [file for file, _ in generate(name, 40)]
    assert [file.partition(".")[0] for file in files] == [f"{name}-{index:05d}" for index in range(40)]
    assert {file.partition(".")[2] for file in files} == extensions


@pytest.mark.parametrize("name", ["gemm", "stencil"])
def test_about_one_program_in_five_is_of_kernels(name):
    texts = {file: text for file, text in generate(name, 200) if file.endswith(".cl")}
    assert 20 <= len(texts) <= 60
    assert all("kernel " in text for text in texts.values())


def test_an_unknown_generator_is_refused_at_once():
    with refuses(InputError, "no generator 'fft'", "stencil", "eigen"):
        generate("fft", 1)


def test_stencils_have_one_to_four_dimensions():
    found = {dims for _, text in generate("stencil", 40) for dims in re.findall(r"\bstencil(\d)d_\d\(", text)}
    assert found == {"1", "2", "3", "4"}


@pytest.mark.parametrize("name", ["gemm", "stencil"])
def test_programs_compile_and_can_be_read(tmp_path, name):
    for file, text in generate(name, 12):
        (tmp_path / file).write_text(text)
        functions = defined_functions(tmp_path / file, CompileOptions(flags=("-w",)))
        assert len(functions) >= 3, file
        assert not any(re.search(r"\b(internal|private)\b", function) for function in functions), file


@pytest.mark.full
def test_programs_of_eigen_compile_and_can_be_read(tmp_path):
    options = CompileOptions(include_paths=(eigen_folder(),), flags=("-w",))
    for file, text in generate("eigen", 3):
        (tmp_path / file).write_text(text)
        functions = defined_functions(tmp_path / file, options)
        own = {match for function in functions for match in re.findall(r"eigen_\d", function)}
        assert own == set(re.findall(r"\beigen_\d", text)), file
