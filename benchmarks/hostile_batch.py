"""A batch of many files, some of them hostile: what fails, what it costs, and that the good ones are untouched by it.

    python benchmarks/hostile_batch.py FILE... [--files 10000] [-o benchmarks/results/hostile_batch.json]

FILE are good inputs, or folders of them: IR, bitcode or source. They are copied under numbers until there are enough,
and hostile files put among them: truncated bitcode, nesting that overflows LLVM's stack, templates and macros without
end, headers that never end, noise. `ncc embed FOLDER --json` runs over them once; then every different good file is
embedded by itself, and all vectors compared bit for bit. The exit code is 1 where anything is not as it should be.
"""

import argparse
import json
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import ncc
from ncc.errors import NccError
from ncc.ir.inputs import find_inputs
from ncc.system.files.text import command_line
from ncc_lab.environment import environment

TIMEOUT_S = 5
TEMPLATES = """template <int n, long m> struct S { S<n - 1, 2 * m> x; S<n - 1, 2 * m + 1> y; };
template <long m> struct S<0, m> {};
S<40, 0> s;
"""
MACROS = "".join(f"#define A{i} {' '.join([f'A{i - 1}'] * 20)}\n" for i in range(1, 10))
FUNCTION = "define void @f() {\n  %x = alloca BODY\n  ret void\n}\n"


def hostile_files(bitcode: bytes, noise: random.Random) -> dict[str, tuple[str, bytes]]:
    """Kind → extension and content."""
    return {
        "truncated bitcode": (".bc", bitcode[: noise.randrange(100, len(bitcode) - 100)]),
        "text in half": (".ll", FUNCTION.replace("BODY", "[4 x").encode()),
        "text that LLVM's stack can't hold": (".ll", FUNCTION.replace("BODY", "[1 x " * 100_000).encode()),
        "noise as text": (".ll", noise.randbytes(5000).replace(b"\0", b" ")),
        "noise as bitcode": (".bc", b"BC\xc0\xde" + noise.randbytes(5000)),
        "zeros": (".ll", bytes(4000)),
        "nothing": (".ll", b""),
        "templates without end": (".cpp", TEMPLATES.encode()),
        "macros that explode": (".cl", f"#define A0 +1\n{MACROS}int x = 0 A9;\n".encode()),
        "a header that never ends": (".c", b'#include "/dev/zero"\nint f(void) { return 1; }\n'),
        "somebody's passwords": (".c", b'#include "/etc/passwd"\nint f(void) { return 1; }\n'),
        "no language": (".c", noise.randbytes(3000)),
    }


def make_batch(folder: Path, good: list[Path], num_files: int, num_hostile: int) -> tuple[dict, dict]:
    """Fills the folder. Returns name → original of the good files, and name → kind of the hostile ones."""
    noise = random.Random(7)
    bitcode = next(path.read_bytes() for path in good if path.suffix == ".bc")
    places = set(noise.sample(range(num_files), num_hostile))
    originals: dict[str, Path] = {}
    kinds: dict[str, str] = {}
    made = 0
    for number in range(num_files):
        if number in places:
            files = hostile_files(bitcode, noise)
            kind = list(files)[len(kinds) % len(files)]
            suffix, content = files[kind]
            path = folder / f"{number:06d}{suffix}"
            path.write_bytes(content)
            kinds[str(path)] = kind
        else:
            original = good[made % len(good)]
            made += 1
            path = folder / f"{number:06d}{original.suffix}"
            shutil.copyfile(original, path)
            originals[str(path)] = original
    return originals, kinds


def run_batch(folder: Path) -> tuple[int, dict[str, dict], float]:
    """`ncc embed` over the folder: its exit code, name → answer, and seconds."""
    command = [sys.executable, "-m", "ncc", "embed", str(folder), "--json", "--timeout", str(TIMEOUT_S)]
    start = time.perf_counter()
    finished = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    answers = [json.loads(line) for line in finished.stdout.splitlines()]
    return finished.returncode, {answer["input"]: answer for answer in answers}, time.perf_counter() - start


def embed_alone(path: Path) -> list[list[float]]:
    return [ncc.embed(path).vector.tolist()]


def good_files(paths: list[Path]) -> list[Path]:
    """Files, and those of folders, except those that ncc can't embed unchanged."""
    found = []
    for item in find_inputs([str(path) for path in paths]):
        try:
            embed_alone(Path(item.name))
        except NccError:
            continue
        found.append(Path(item.name))
    return found


def _reason(answer: dict) -> str:
    return answer.get("error") or ("answered" if answer else "no answer")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("good", nargs="+", type=Path, metavar="FILE")
    parser.add_argument("--files", type=int, default=10_000)
    parser.add_argument("--hostile", type=int, default=100)
    parser.add_argument("-o", "--output", type=Path)
    options = parser.parse_args()
    good = good_files(options.good)
    with tempfile.TemporaryDirectory() as folder:
        originals, kinds = make_batch(Path(folder), good, options.files, options.hostile)
        code, answers, seconds = run_batch(Path(folder))
        refused = {name for name, answer in answers.items() if not answer["ok"]}
        unnamed = [name for name in refused if Path(name).name not in answers[name]["error"]]
        alone = {original: embed_alone(original) for original in dict.fromkeys(originals.values())}
        differing = [
            name for name, path in originals.items() if answers.get(name, {}).get("vectors") != {"module": alone[path]}
        ]
        reasons = {kind: _reason(answers.get(name, {})).replace(folder + "/", "") for name, kind in kinds.items()}
    result = {
        "files": len(answers),
        "different_good_files": len(alone),
        "hostile": dict(Counter(kinds.values())),
        "exit_code": code,
        "refused": len(refused),
        "refused_good_files": len(refused - set(kinds)),
        "answered_hostile_files": len(set(kinds) - refused),
        "refusals_without_the_name": len(unnamed),
        "vectors_unlike_those_of_the_file_alone": len(differing),
        "seconds": round(seconds, 1),
        "reasons": {kind: reason.partition("\ncommand: ")[0][:200] for kind, reason in reasons.items()},
    }
    print(json.dumps(result, indent=1))
    if options.output:
        command = command_line("python benchmarks/hostile_batch.py")
        options.output.write_text(json.dumps({"command": command, **environment(), **result}, indent=1) + "\n")
    sound = code == 1 and refused == set(kinds) and not unnamed and not differing and len(answers) == options.files
    sys.exit(not sound)


if __name__ == "__main__":
    main()
