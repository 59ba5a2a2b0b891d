"""Fetches the projects of ``projects.toml``, and makes what their own builds would make of them.

    python -m datasets.projects -o FOLDER


SQLite's one file of source is put together by its own makefile, which needs make, a C compiler and tclsh.
"""

import argparse
import hashlib
import io
import shutil
import subprocess
import tarfile
import urllib.request
from pathlib import Path

DEBIAN = "http://deb.debian.org/debian/pool/main"
ARCHIVES = {
    "lua": (
        "l/lua5.4/lua5.4_5.4.4.orig.tar.gz",
        "164c7849653b80ae67bec4b7473b884bf5cc8d2dca05653475ec2ed27b9ebf61",
    ),
    "zlib": (
        "z/zlib/zlib_1.2.13.dfsg.orig.tar.bz2",
        "71feb7947e3c00ef125f83b79a4e529bde31171e5babe48b391f06758d1ab0a1",
    ),
    "sqlite": (
        "s/sqlite3/sqlite3_3.40.1.orig.tar.xz",
        "aaa776260ab4dc976db34aa7891819484c8676b5b2783123ebc6301e2ca5d655",
    ),
    "libpng": (
        "libp/libpng1.6/libpng1.6_1.6.39.orig.tar.gz",
        "a00e9d2f2f664186e4202db9299397f851aea71b36a35e74910b8820e380d441",
    ),
    "redis": (
        "r/redis/redis_7.0.15.orig.tar.gz",
        "4b1dc4ee6d622a09fff9c6777191209750fb5e5a725ef78ea012d6eef4c22982",
    ),
    "leveldb": (
        "l/leveldb/leveldb_1.23.orig.tar.gz",
        "9a37f8a6174f09bd622bc723b55881dc541cd50747cbd08831c2a82d620f6d76",
    ),
    "re2": (
        "r/re2/re2_20220601%2bdfsg.orig.tar.xz",
        "3bc61251da3b0b97be40a8a127818c517c62516e4eda11fc901d29496663df54",
    ),
}
"""Project → path below the archive's pool, and SHA-256."""


def fetch(name: str, output: Path) -> None:
    """Puts a project's sources into a folder of its name, where they are not there yet.

    Raises:
        SystemExit: The archive is not the one that is expected.
    """
    place, checksum = ARCHIVES[name]
    if (output / name).is_dir():
        return
    with urllib.request.urlopen(f"{DEBIAN}/{place}", timeout=120) as answer:
        data = answer.read()
    found = hashlib.sha256(data).hexdigest()
    if found != checksum:
        raise SystemExit(f"{place}: SHA-256 is {found}; expected {checksum}")
    partial = output / f".{name}"
    shutil.rmtree(partial, ignore_errors=True)
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        archive.extractall(partial, filter="data")
    (root,) = (path for path in partial.iterdir() if path.is_dir())
    prepare(name, root)
    root.rename(output / name)
    shutil.rmtree(partial)


def prepare(name: str, folder: Path) -> None:
    """Makes the files that the project's own build would make of others."""
    if name == "libpng":
        shutil.copy(folder / "scripts" / "pnglibconf.h.prebuilt", folder / "pnglibconf.h")
    elif name == "redis":
        lines = ('#define REDIS_GIT_SHA1 "00000000"', '#define REDIS_GIT_DIRTY "0"', '#define REDIS_BUILD_ID "0"')
        about = '#include "version.h"\n#define REDIS_BUILD_ID_RAW REDIS_VERSION REDIS_BUILD_ID\n'
        (folder / "src" / "release.h").write_text("\n".join(lines) + "\n" + about)
    elif name == "sqlite":
        for command in (["sh", "./configure", "--disable-tcl"], ["make", "sqlite3.c"]):
            subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)


def main() -> None:
    """Runs the command."""
    parser = argparse.ArgumentParser(description="Fetches the projects that functions are looked for in.")
    parser.add_argument("projects", nargs="*", metavar="PROJECT", help=f"Some of {', '.join(ARCHIVES)}; default all.")
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="FOLDER", help="Folder for their sources.")
    arguments = parser.parse_args()
    if unknown := set(arguments.projects) - set(ARCHIVES):
        parser.error(f"no project {', '.join(sorted(unknown))}; expected some of {', '.join(ARCHIVES)}")
    arguments.output.mkdir(parents=True, exist_ok=True)
    for name in arguments.projects or ARCHIVES:
        fetch(name, arguments.output)
        print(name, flush=True)


if __name__ == "__main__":
    main()
