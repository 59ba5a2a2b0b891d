"""The version is one everywhere, wheels are what their names say, and shells complete commands."""

import tomllib
import zipfile
from pathlib import Path

import pytest
from click.testing import CliRunner

import ncc
from benchmarks import wheels
from tests.rooms import app

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("path", ["pyproject.toml", "lab/pyproject.toml"])
def test_distributions_have_the_version_of_the_package(path):
    assert tomllib.loads((ROOT / path).read_text())["project"]["version"] == ncc.__version__


def test_the_citation_has_the_version_of_the_package():
    assert f"\nversion: {ncc.__version__}\n" in (ROOT / "CITATION.cff").read_text()


def elf(machine: int, more: bytes = b"") -> bytes:
    """The beginning of a binary for Linux."""
    return b"\x7fELF".ljust(18, b"\0") + machine.to_bytes(2, "little") + more


@pytest.mark.parametrize(
    ("tag", "binaries", "wrong"),
    [
        ("manylinux_2_17_x86_64", [elf(62, b"GLIBC_2.14"), elf(62)], ""),
        ("manylinux_2_17_x86_64", [elf(62, b"GLIBC_2.34"), elf(62)], "asks for glibc"),
        ("manylinux_2_17_aarch64", [elf(62), elf(62)], "not of its platform"),
        ("manylinux_2_17_x86_64", [elf(62)], "has the binaries"),
        ("macosx_11_0_arm64", [b"\xcf\xfa\xed\xfe"], ""),
        ("macosx_11_0_arm64", [b"\xcf\xfa\xed\xfe", elf(62)], "has the binaries"),
        ("win_amd64", [elf(62)], "not of its platform"),
    ],
)
def test_a_wheel_of_another_platform_is_found(tag, binaries, wrong, tmp_path):
    path = tmp_path / f"ncc_ir-0.1.0-py3-none-{tag}.whl"
    with zipfile.ZipFile(path, "w") as wheel:
        for name, content in zip(("ncc/ir/reader/_kernels.so", "ncc/system/sandbox/_confine"), binaries, strict=False):
            wheel.writestr(name, content)
    if wrong:
        with pytest.raises(SystemExit, match=wrong):
            wheels.check(path)
    else:
        assert wheels.check(path) in ("2.14", "-")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_completes_commands_and_values(shell):
    def complete(words: str, current: str) -> str:
        environment = {"_NCC_COMPLETE": f"{shell}_complete", "COMP_WORDS": words}
        environment["COMP_CWORD"] = str(len(words.split())) if shell != "fish" else current
        return CliRunner().invoke(app, env=environment, prog_name="ncc").stdout

    assert "predict-device" in complete("ncc ", "")
    assert "nvidia" in complete("ncc predict-device --platform ", "")
