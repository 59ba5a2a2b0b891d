"""Compiles the C of ncc/ir/native with the clang that the ziglang wheel brings: no compiler is needed.

The kernels become a library; on Linux, the launcher that confines compilers becomes a program beside it. With
``NCC_WHEEL`` set to a platform tag, both are compiled for that platform, and the wheel says so.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_ext import build_ext

TARGETS = {
    "manylinux_2_17_x86_64": "x86_64-linux-gnu.2.17",
    "manylinux_2_17_aarch64": "aarch64-linux-gnu.2.17",
    "macosx_11_0_arm64": "aarch64-macos.11.0",
    "win_amd64": "x86_64-windows-gnu",
}
"""What the compiler calls each platform that there are wheels for."""
WHEEL = os.environ.get("NCC_WHEEL", "")
TARGET = ["-target", TARGETS[WHEEL]] if WHEEL else []


class BuildNative(build_ext):
    """Builds a plain shared library, loaded through ctypes: it is the same for every version of Python."""

    def get_ext_filename(self, fullname: str) -> str:
        """A fixed name, without the interpreter's tag."""
        path = Path(*fullname.split("."))
        is_windows = WHEEL.startswith("win") or (not WHEEL and sys.platform == "win32")
        return str(path) if path.name == "_confine" else f"{path}.{'dll' if is_windows else 'so'}"

    def build_extension(self, ext: Extension) -> None:
        """One call of the compiler; its caches stay in the build folder."""
        out = Path(self.get_ext_fullpath(ext.name)).resolve()
        for folder in (out.parent, Path(self.build_temp)):
            folder.mkdir(parents=True, exist_ok=True)
        cache = str(Path(self.build_temp).resolve() / "zig")
        environment = os.environ | {"ZIG_GLOBAL_CACHE_DIR": cache, "ZIG_LOCAL_CACHE_DIR": cache}
        flags = [*TARGET, "-g0", "-mcpu=baseline", "-fno-sanitize=undefined"]
        flags += ["-O2", "-s"] if out.name == "_confine" else ["-O3", "-shared", "-fPIC", "-fvisibility=hidden"]
        made = Path(self.build_temp).resolve() / out.name  # for Windows, other files appear beside it
        command = [sys.executable, "-m", "ziglang", "cc", *flags, *ext.sources, "-o", str(made)]
        subprocess.run(command, check=True, env=environment)
        shutil.copy(made, out)


class PlatformWheel(bdist_wheel):
    """A wheel for every version of Python on one platform."""

    def get_tag(self) -> tuple[str, str, str]:
        """Python 3, no ABI, and the platform."""
        return "py3", "none", WHEEL or super().get_tag()[2]


def extensions() -> list[Extension]:
    """What there is to build for the platform."""
    found = [Extension("ncc.ir.reader._kernels", sorted(path.as_posix() for path in Path("ncc/ir/native").glob("*.c")))]
    if "linux" in WHEEL or (not WHEEL and sys.platform == "linux"):
        found.append(Extension("ncc.system.sandbox._confine", ["ncc/system/sandbox/confine.c"]))
    return found


if __name__ == "__main__":
    setup(ext_modules=extensions(), cmdclass={"build_ext": BuildNative, "bdist_wheel": PlatformWheel})
