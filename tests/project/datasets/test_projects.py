"""The projects that functions are looked for in: the recipe names what is fetched, and archives are checked."""

import hashlib
import io
import tarfile
from pathlib import Path

import pytest

from datasets.projects import __main__ as projects
from tests.rooms import load_recipe


def _archive(path: Path) -> str:
    with tarfile.open(path, "w:gz") as archive:
        for name in ("lib-1/scripts/pnglibconf.h.prebuilt", "lib-1/png.c"):
            member = tarfile.TarInfo(name)
            member.size = 4
            archive.addfile(member, io.BytesIO(b"int;"))
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_the_recipe_has_every_project():
    recipe = load_recipe(Path(projects.__file__).with_name("projects.toml"))
    assert [source.name for source in recipe.sources] == list(projects.ARCHIVES)
    assert {source.folder for source in recipe.sources} == {f"$PROJECTS/{name}" for name in projects.ARCHIVES}


def test_a_project_is_fetched_once_and_checked(tmp_path, monkeypatch):
    checksum = _archive(tmp_path / "libpng.tar.gz")
    monkeypatch.setattr(projects, "DEBIAN", tmp_path.as_uri())
    monkeypatch.setattr(projects, "ARCHIVES", {"libpng": ("libpng.tar.gz", checksum)})
    projects.fetch("libpng", tmp_path)
    assert (tmp_path / "libpng" / "pnglibconf.h").read_text() == "int;"
    (tmp_path / "libpng.tar.gz").write_bytes(b"other")
    projects.fetch("libpng", tmp_path)  # which is there
    (tmp_path / "libpng").rename(tmp_path / "aside")
    with pytest.raises(SystemExit, match="SHA-256"):
        projects.fetch("libpng", tmp_path)
