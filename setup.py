"""Compiles the C kernels of ncc/native with the clang that the ziglang wheel brings: no compiler is needed."""

import os
import subprocess
import sys
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext


class BuildKernels(build_ext):
    """Builds a plain shared library, loaded through ctypes: it is the same for every version of Python."""

    def get_ext_filename(self, fullname: str) -> str:
        """A fixed name, without the interpreter's tag."""
        return str(Path(*fullname.split("."))) + ".so"

    def build_extension(self, ext: Extension) -> None:
        """One call of the compiler; its caches stay in the build folder."""
        out = Path(self.get_ext_fullpath(ext.name)).resolve()
        out.parent.mkdir(parents=True, exist_ok=True)
        cache = str(Path(self.build_temp).resolve() / "zig")
        environment = os.environ | {"ZIG_GLOBAL_CACHE_DIR": cache, "ZIG_LOCAL_CACHE_DIR": cache}
        flags = ["-O3", "-g0", "-mcpu=baseline", "-shared", "-fPIC", "-fvisibility=hidden", "-fno-sanitize=undefined"]
        command = [sys.executable, "-m", "ziglang", "cc", *flags, *ext.sources, "-o", str(out)]
        subprocess.run(command, check=True, env=environment)


SOURCES = sorted(path.as_posix() for path in Path("ncc/native").glob("*.c"))

setup(ext_modules=[Extension("ncc.native._kernels", SOURCES)], cmdclass={"build_ext": BuildKernels})
