"""Makes a folder with Python for Windows, a wheel of ncc and what it needs, to be run by Wine.

python benchmarks/wine.py dist/ncc_ir-0.1.0-py3-none-win_amd64.whl FOLDER

PyPI has no Python for Windows, but the wheel of panda3d brings its library and the compiled part of the standard
library. The other part is that of the Python that runs this, which must be 3.11. Added are a program, and a python3.dll
that leads to python311.dll, for modules that run on every Python.
"""

import argparse
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
LIBRARIES = "panda3d==1.10.16"
NOT_FOR_WINDOWS = ("ziglang",)
"""Packages whose version in constraints.txt has no wheel for Windows; they have the next one."""
FOR_WINE_8 = ("numpy==1.26.4", "safetensors==0.4.3")
"""Newer ones ask for functions of the C library, and for a library, that Wine 8 lacks."""
PROGRAM = """
#include <windows.h>
#include <shellapi.h>
int main(void) {
  int argc;
  wchar_t **argv = CommandLineToArgvW(GetCommandLineW(), &argc);
  return ((int (*)(int, wchar_t **))GetProcAddress(LoadLibraryW(L"python311.dll"), "Py_Main"))(argc, argv);
}
"""
WINDOWS = ("-q", "--only-binary=:all:", "--platform", "win_amd64", "--python-version", "3.11")


def run(*command: object) -> None:
    subprocess.run([sys.executable, "-m", *map(str, command)], check=True)


def compile_program(folder: Path, scratch: Path) -> None:
    """Make python.exe and python3.dll beside python311.dll."""
    names = sorted(set(re.findall(rb"(?<=\0)_?Py\w+(?=\0)", (folder / "python311.dll").read_bytes())))
    exports = "".join(f'".ascii \\" -export:{name.decode()}=python311.{name.decode()}\\"\\n"\n' for name in names)
    library = f'__asm__(".section .drectve,\\"yn\\"\\n"\n{exports});\nint DllMain(void) {{ return 1; }}\n'
    for name, text, flags in (("python.exe", PROGRAM, ["-lshell32"]), ("python3.dll", library, ["-shared"])):
        source = scratch / f"{Path(name).stem}.c"
        source.write_text(text)
        out = scratch / name
        run("ziglang", "cc", "-target", "x86_64-windows-gnu", "-s", source, *flags, "-o", out)
        shutil.copy(out, folder)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("wheel", type=Path, help="wheel of ncc for Windows")
    parser.add_argument("folder", type=Path, help="new folder")
    arguments = parser.parse_args()
    if sys.version_info[:2] != (3, 11):
        raise SystemExit("run this by Python 3.11, whose standard library is copied")
    folder = arguments.folder.resolve()
    unwanted = shutil.ignore_patterns("site-packages", "dist-packages", "lib-dynload", "test", "__pycache__")
    shutil.copytree(sysconfig.get_path("stdlib"), folder / "Lib", ignore=unwanted)
    packages = folder / "Lib" / "site-packages"
    (folder / "DLLs").mkdir()
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name)
        run("pip", "download", "--no-deps", *WINDOWS, "-d", scratch, LIBRARIES)
        [wheel] = scratch.glob("*.whl")
        with zipfile.ZipFile(wheel) as archive:
            for member in archive.namelist():
                if member.startswith("deploy_libs/") and not member.startswith("deploy_libs/api-"):
                    place = folder / "DLLs" if member.endswith(".pyd") else folder
                    (place / Path(member).name).write_bytes(archive.read(member))
        compile_program(folder, scratch)
        lines = (ROOT / "constraints.txt").read_text().splitlines()
        constraints = scratch / "constraints.txt"
        constraints.write_text("\n".join(line for line in lines if not line.startswith(NOT_FOR_WINDOWS)))
        run("pip", "install", *WINDOWS, "-c", constraints, "--target", packages, arguments.wheel)
    run("pip", "install", *WINDOWS, "--no-deps", "--upgrade", "--target", packages, *FOR_WINE_8)


if __name__ == "__main__":
    main()
