"""Files by their path: never text, and never another file than the one that was checked."""

import shutil
from pathlib import Path

import pytest

from ncc import load_module
from ncc.errors import InputError
from tests.rooms import CachingCompiler, CorpusFile, InputFile, find_inputs, found, read_input

LIKE_IR = "define void @name() {\n ret void\n}\n;.ll"
MODULE = "define void @content() {\n  ret void\n}\n"


@pytest.mark.parametrize("given", ["whole name", "pattern", "folder"])
def test_a_name_that_reads_like_ir_is_no_text(tmp_path, given):
    path = tmp_path / LIKE_IR
    path.write_text(MODULE)
    (item,) = find_inputs([{"whole name": str(path), "pattern": f"{tmp_path}/*.ll", "folder": str(tmp_path)}[given]])
    assert load_module(item.source).function_names == ("content",)
    assert item.name == str(path)


@pytest.fixture
def exchanged(tmp_path, monkeypatch):
    """A folder in which a file is exchanged for a link to a secret once it has been looked at."""
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "a.ll").write_text(MODULE)
    (tmp_path / "code" / "sub").mkdir(parents=True)
    (tmp_path / "code" / "sub" / "a.ll").write_text(MODULE)
    looked_at = found.refuse_link_out

    def exchange(what):
        def refuse_link_out(path, folder):
            inside = looked_at(path, folder)
            if not what.is_symlink():
                secret = tmp_path / "secret" / (what.name if what.is_file() else "")
                shutil.move(what, tmp_path / "was")
                what.symlink_to(secret)
            return inside

        monkeypatch.setattr(found, "refuse_link_out", refuse_link_out)

    return exchange


@pytest.mark.parametrize("what", ["sub/a.ll", "sub"])
def test_what_becomes_a_link_after_it_was_checked_is_not_followed(tmp_path, exchanged, what):
    code = tmp_path / "code"
    exchanged(code / what)
    file = InputFile(str(code / "sub" / "a.ll"), str(code))
    of_corpus = CachingCompiler(tmp_path)
    for read in (load_module, read_input, lambda one: of_corpus.ir_of(CorpusFile(one.path, "", (), one.folder))):
        with pytest.raises(InputError, match=r"a.ll: (can't be read|is a link out of)"):
            read(file)
        (code / what).unlink()
        shutil.move(tmp_path / "was", code / what)


def test_patterns_are_expanded_but_for_names_of_files(tmp_path):
    (tmp_path / "deep").mkdir()
    for name in ("b.ll", "c.ll", "deep/a[1].ll"):
        (tmp_path / name).write_text(MODULE)
    for pattern, names in (("*.ll", ["b.ll", "c.ll"]), ("**/a*.ll", ["a[1].ll"]), ("deep/a[1].ll", ["a[1].ll"])):
        items = find_inputs([f"{tmp_path}/{pattern}"])
        assert [Path(item.name).name for item in items if not item.error] == names, pattern


def test_links_inside_of_a_folder_are_read(tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "a.ll").write_text(MODULE)
    (tmp_path / "b.ll").symlink_to("sub/a.ll")
    (tmp_path / "link").symlink_to("sub")
    for name in ("b.ll", "link/a.ll"):
        assert read_input(InputFile(str(tmp_path / name), str(tmp_path))) == MODULE.encode()
