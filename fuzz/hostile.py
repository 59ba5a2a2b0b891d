"""Files that are made to stop a run, to take a machine's time or memory, or to read what is not theirs; and such a run.

    python -m fuzz.hostile FOLDER [--files 10000] [--seed 7] [--jobs 2] [--timeout 5] [-o FIGURES.json]

The folder is filled, and ``ncc embed FOLDER --json --jobs N`` runs over it, as one user's command would. Figures are
how long that took, what memory it took with all its processes, and how many files of each kind got vectors. The exit
code is 1 where an input has no answer, a link out of the folder was followed, or ncc reported a defect in itself.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

Maker = Callable[[random.Random], bytes]
"""From randomness to the content of a file."""

_SAMPLES = Path(__file__).parents[1] / "tests" / "data" / "ir"
_LIKE_IR = "define void @name() {\n ret void\n}\n;"
_ODD_NAMES = (_LIKE_IR, "@args", "-o", "=1+1", "a\udcffb", "\u202eevil", "a b\tc", "$(id)", "%s%n", "..x", "\x1b[2J")
_SECRETS = (
    "/etc/passwd",
    "/etc/hostname",
    "/proc/self/environ",
    "../../../../../../etc/passwd",
    "/dev/zero",
    ".hidden/key",
)
_BOMBS = (
    "template <int n, long m> struct S {{ S<n - 1, 2 * m> x; S<n - 1, 2 * m + 1> y; }};\n"
    "template <long m> struct S<0, m> {{}};\nS<{depth}, 0> s;\n",
    "constexpr long f(long n) {{ long s = 0; for (long i = 0; i < n * n; i++) s += i; return s; }}\n"
    "constexpr long x = f({depth}000);\n",
    "#define A(x) x x x x x x x x\nint i = 0 A(A(A(A(A(A(A(A(A(+{depth})))))))));\n",
)


def _function(body: str) -> bytes:
    return f"define void @f(i32 %x, ptr %p) {{\n{body}\n  ret void\n}}\n".encode()


def _many(draw: random.Random, most: int = 20_000) -> int:
    """Mostly few, now and then many."""
    return int(most ** draw.random()) + 1


def _globals(draw: random.Random) -> bytes:
    names = (draw.randbytes(8).hex() for _ in range(_many(draw)))
    return "".join(f"@x{name} = global i8 0\n" for name in names).encode() + _function("")


def _numbers(draw: random.Random) -> bytes:
    count = _many(draw)
    return "".join(f"define void @f{i}(i8 %{count * 40}) {{ ret void }}\n" for i in range(count)).encode()


def _padded_types(draw: random.Random) -> bytes:
    count = _many(draw)
    return (
        f"%T = type [{'0' * draw.randrange(4050)}1 x i8]\ndeclare void @g(...)\n".encode()
        + _function(f"  call void @g({', '.join(['%T 0'] * count)})")
    )  # fmt: skip


def _growing_types(draw: random.Random) -> bytes:
    depth = draw.randrange(2, 60)
    lines = ["%T0 = type { i8, i8 }"] + [f"%T{i} = type {{ %T{i - 1}, %T{i - 1} }}" for i in range(1, depth)]
    return "\n".join(lines).encode() + b"\n" + _function(f"  %a = alloca %T{depth - 1}")


def _switches(draw: random.Random) -> bytes:
    count = _many(draw, 12_000)
    cases = " ".join(f"i32 {i}, label %e" for i in range(count))
    slots = "\n".join(f"  %a{i} = alloca i8" for i in range(count))
    return f"define void @f(i32 %x) {{\n{slots}\n  switch i32 %x, label %e [{cases}]\ne:\n  ret void\n}}\n".encode()


def _back_edges(draw: random.Random) -> bytes:
    count = _many(draw, 12_000)
    blocks = "".join(f"b{i}:\n br i1 %c, label %h, label %b{i + 1}\n" for i in range(count))
    head = "define spir_kernel void @k(i1 %c) {\n br label %h\nh:\n br label %b0\n"
    return f"{head}{blocks}b{count}:\n ret void\n}}\n".encode()


def _phis(draw: random.Random) -> bytes:
    count = _many(draw, 3000)
    edges = ", ".join(f"[ {i}, %b{i} ]" for i in range(count))
    blocks = "".join(f"b{i}:\n br label %e\n" for i in range(count))
    targets = " ".join(f"i32 {i}, label %b{i}" for i in range(count))
    head = f"define i32 @f(i32 %x) {{\n switch i32 %x, label %b0 [{targets}]\n"
    return f"{head}{blocks}e:\n %r = phi i32 {edges}\n ret i32 %r\n}}\n".encode()


def _nested(draw: random.Random) -> bytes:
    opening, closing = draw.choice([("[1 x ", "]"), ("{ ", " }"), ("<{ ", " }>"), ("bitcast (", ")"), ("!{", "}")])
    depth = _many(draw, 100_000)
    return _function(f"  %a = alloca {opening * depth}i8{closing * (depth if draw.random() < 0.5 else depth - 1)}")


def _mutated(draw: random.Random) -> bytes:
    text = bytearray(draw.choice(sorted(_SAMPLES.glob("*.ll"))).read_bytes())
    for _ in range(draw.randrange(1, 20)):
        at = draw.randrange(len(text))
        kind = draw.randrange(4)
        if kind == 0:
            text[at] = draw.randrange(256)
        elif kind == 1:
            del text[at : at + draw.randrange(1, 50)]
        elif kind == 2:
            text[at:at] = text[at : at + draw.randrange(1, 500)] * draw.randrange(1, 50)
        else:
            text[at:at] = draw.choice([b"{", b'"', b"!0", b"\0", b"99999999999999999999", b"\xff\xfe", b"...", b"%0"])
    return bytes(text)


def _bitcode(draw: random.Random) -> bytes:
    data = bytearray(draw.choice(sorted(_SAMPLES.glob("*.bc"))).read_bytes())
    if draw.random() < 0.3:
        return b"BC\xc0\xde" + draw.randbytes(_many(draw))
    for _ in range(draw.randrange(1, 10)):
        data[draw.randrange(4, len(data))] = draw.randrange(256)
    return bytes(data[: draw.randrange(20, len(data))] if draw.random() < 0.5 else data)


def _noise(draw: random.Random) -> bytes:
    return draw.choice([b"", b"\xff\xfe", b"\xef\xbb\xbf", b"define "]) + draw.randbytes(_many(draw))


def _long_line(draw: random.Random) -> bytes:
    return _function("  %r = add i32 " + draw.choice([" ", "1", "(", '"', "%x", "; "]) * _many(draw, 1_000_000))


def _theft(draw: random.Random) -> bytes:
    name = draw.choice(_SECRETS)
    said = draw.choice(
        [
            f'char c[] = {{\n#embed "{name}"\n}};\n',
            f'#include "{name}"\n',
            f'__asm__(".incbin \\"{name}\\"");\n',
            f'#if __has_include("{name}")\n#include "{name}"\n#endif\n',
        ]
    )
    return f"{said}int f(void) {{ return {draw.randrange(9)}; }}\n".encode()


def _bomb(draw: random.Random) -> bytes:
    return draw.choice(_BOMBS).format(depth=draw.randrange(8, 60)).encode()


def _large_source(draw: random.Random) -> bytes:
    count = _many(draw, 3000)
    return draw.choice(
        [
            f"int a[{count}000000] = {{[0 ... {count}] = 1}};\nint *f(void) {{ return a; }}\n",
            "int f(int x) { return " + "(" * count + "x" + ")" * count + "; }\n",
            "".join(f"int f{i}(int x) {{ return x + {i}; }}\n" for i in range(count)),
            '#include __FILE__\nint f(void) { return 1; }\n',
            "void f(void) { " + "{" * count + "}" * count + " }\n",
            "int f(int x) { switch (x) {" + "".join(f"case {i}: return {i};" for i in range(count)) + "} return 0; }\n",
        ]
    ).encode()  # fmt: skip


def _kernel(draw: random.Random) -> bytes:
    width = draw.choice(["", 16, 64, 4096])
    loops = "".join(f"for (int i{i} = 0; i{i} < n; i{i}++) " for i in range(_many(draw, 300)))
    return f"kernel void k(global float *p, int n) {{ float{width} v = 0; {loops}p[0] += 1; }}\n".encode()


KINDS: dict[str, tuple[int, tuple[str, ...], Maker]] = {
    "globals": (6, (".ll",), _globals),
    "numbers": (6, (".ll",), _numbers),
    "padded types": (5, (".ll",), _padded_types),
    "growing types": (4, (".ll",), _growing_types),
    "switches": (5, (".ll",), _switches),
    "back edges": (5, (".ll",), _back_edges),
    "phis": (4, (".ll",), _phis),
    "nesting": (4, (".ll",), _nested),
    "mutated text": (22, (".ll",), _mutated),
    "bitcode": (8, (".bc",), _bitcode),
    "noise": (8, (".ll", ".bc", ".c"), _noise),
    "long lines": (3, (".ll",), _long_line),
    "theft": (8, (".c", ".cpp", ".cu"), _theft),
    "bombs": (1, (".cpp",), _bomb),
    "large sources": (5, (".c",), _large_source),
    "kernels": (3, (".cl",), _kernel),
    "sparse": (1, (".ll", ".c", ".bc"), lambda _: b""),
    "links": (2, (".ll", ".c"), lambda _: b""),
}
"""Kind → how often, extensions, and what makes a file of it."""


def make_files(folder: Path, num_files: int, seed: int) -> dict[str, str]:
    """Fills a folder with hostile files; returns the kind of each by its path."""
    draw = random.Random(seed)
    weights = [weight for weight, _, _ in KINDS.values()]
    (folder / ".hidden").mkdir()
    (folder / ".hidden" / "key").write_text("1, 2, 3")
    kinds = {}
    for number in range(num_files):
        kind = draw.choices(list(KINDS), weights)[0]
        _, extensions, make = KINDS[kind]
        odd = draw.choice(_ODD_NAMES) if draw.random() < 0.1 else ""
        path = folder / f"{odd}{number:06d}{draw.choice(extensions)}"
        if kind == "links":
            path.symlink_to(draw.choice(["/etc/passwd", "/dev/zero", path.name, "nowhere"]))
        else:
            path.write_bytes(make(draw))
        if kind == "sparse":
            os.truncate(path, draw.choice([3, 5, 50]) * 2**30)
        kinds[str(path)] = kind
    return kinds


def _memory_bytes(root: int) -> int:
    """Resident memory of a process and all that it started: what several share counts for each."""
    pages: dict[int, int] = {}
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                words = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            pages[int(entry.name)] = int(words[21])
            children.setdefault(int(words[1]), []).append(int(entry.name))
    family = [root]
    for pid in family:
        family += children.get(pid, [])
    return sum(pages.get(pid, 0) for pid in family) * os.sysconf("SC_PAGE_SIZE")


def run(folder: Path, kinds: dict[str, str], jobs: int, timeout_s: float) -> dict[str, object]:
    """One command over all files: what it took, and what became of them."""
    command = [sys.executable, "-m", "ncc", "embed", str(folder), "--json", "--jobs", str(jobs)]
    command += ["--timeout", f"{timeout_s:g}"]
    began, largest = time.monotonic(), 0
    with tempfile.TemporaryFile() as out:
        process = subprocess.Popen(command, stdout=out, stderr=subprocess.DEVNULL)
        while process.poll() is None:
            largest = max(largest, _memory_bytes(process.pid))
            time.sleep(0.1)
        seconds = time.monotonic() - began
        out.seek(0)
        answers = [json.loads(line) for line in out]
    fine = Counter(kinds[answer["input"]] for answer in answers if answer["ok"])
    said = [str(answer["error"]) for answer in answers if not answer["ok"]]
    return {
        "files": len(kinds),
        "seconds": round(seconds, 1),
        "memory_mb": largest >> 20,
        "exit_code": process.returncode,
        "answers": len(answers),
        "in_order": [answer["input"] for answer in answers] == sorted(kinds, key=Path),
        "links_followed": fine["links"],
        "defects": sum("defect of ncc" in error for error in said),
        "workers_lost": sum("its worker" in error or "took longer" in error for error in said),
        "kinds": {kind: [fine[kind], number] for kind, number in Counter(kinds.values()).items()},
    }


def main() -> int:
    """Fills a folder, runs over it, prints the figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("folder", type=Path, help="An empty folder, or one to make.")
    parser.add_argument("--files", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--timeout", type=float, default=5.0, help="Of each compilation, in seconds.")
    parser.add_argument("-o", "--output", type=Path, help="Also write the figures, as JSON.")
    options = parser.parse_args()
    options.folder.mkdir(exist_ok=True)
    figures = run(
        options.folder, make_files(options.folder, options.files, options.seed), options.jobs, options.timeout
    )
    print(json.dumps(figures, indent=2))
    if options.output:
        options.output.write_text(json.dumps(figures, indent=2) + "\n")
    whole = figures["answers"] == figures["files"] and figures["in_order"]
    return int(not whole or any(figures[name] for name in ("links_followed", "defects")))


if __name__ == "__main__":
    sys.exit(main())
