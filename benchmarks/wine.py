"""Makes a folder with Python for Windows, a wheel of ncc and what it needs, to be run by Wine.

python benchmarks/wine.py dist/ncc_ir-0.1.0-py3-none-win_amd64.whl FOLDER
wine FOLDER/python.exe -m ncc info

There is no Python for Windows on PyPI, but panda3d's wheel brings its library and the compiled half of the standard
library, for programs that are frozen. The other half is that of the Python that runs this, which must be 3.11; the
program is five lines of C.
"""

import argparse
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
LIBRARIES = "panda3d==1.10.16"
PROGRAM = """
#include <windows.h>
#include <shellapi.h>
int main(void) {
  int argc;
  wchar_t **argv = CommandLineToArgvW(GetCommandLineW(), &argc);
  return ((int (*)(int, wchar_t **))GetProcAddress(LoadLibraryW(L"python311.dll"), "Py_Main"))(argc, argv);
}
"""
WINDOWS = ("--only-binary=:all:", "--platform", "win_amd64", "--python-version", "3.11")


def run(*command: object) -> None:
    subprocess.run([sys.executable, "-m", *map(str, command)], check=True)


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
    with tempfile.TemporaryDirectory() as scratch:
        run("pip", "download", "-q", "--no-deps", *WINDOWS, "-d", scratch, LIBRARIES)
        [wheel] = Path(scratch).glob("*.whl")
        with zipfile.ZipFile(wheel) as archive:
            for name in archive.namelist():
                if name.startswith("deploy_libs/") and not name.startswith("deploy_libs/api-"):
                    place = folder / "DLLs" if name.endswith(".pyd") else folder
                    place.mkdir(exist_ok=True)
                    (place / Path(name).name).write_bytes(archive.read(name))
        program = Path(scratch, "python.c")
        program.write_text(PROGRAM)
        run(*("ziglang", "cc", "-target", "x86_64-windows-gnu", program, "-lshell32", "-o", folder / "python.exe"))
    packages = folder / "Lib" / "site-packages"
    run("pip", "install", "-q", "-c", ROOT / "constraints.txt", *WINDOWS, "--target", packages, arguments.wheel)


if __name__ == "__main__":
    main()
