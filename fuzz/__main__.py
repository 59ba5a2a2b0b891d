"""The command: `python -m fuzz`, with exit code 1 if anything was found."""

import argparse
import json
import math
import sys
from dataclasses import asdict
from pathlib import Path

from fuzz.kept import read_input
from fuzz.runner import FuzzConfig, FuzzResult, run_fuzzer
from fuzz.targets import Target, all_targets, find_target
from fuzz.trial import Problem, attempt
from ncc.system.files.text import command_line
from ncc.system.files.writing import write_atomically


def main() -> int:
    """Parses arguments, runs, prints."""
    parser = argparse.ArgumentParser(
        prog="python -m fuzz", description="Mutates real inputs and watches ncc read them."
    )
    add = parser.add_argument
    add("-n", "--executions", type=int, default=20_000, help="over all targets (default %(default)s)")
    add("--seconds", type=float, default=math.inf, help="after which no more are begun")
    add("-j", "--jobs", type=int, default=1, help="processes (default %(default)s)")
    add("--seed", type=int, default=0, help="of all inputs (default %(default)s)")
    add("--only", metavar="TARGET,...", help="these targets; 'fast' and 'slow' name all of a kind")
    add("--memory", type=int, default=2048, metavar="MIB", help="that an input may take (default %(default)s)")
    add("--findings", type=Path, default=Path("runs/fuzz"), help="folder for what is found (default %(default)s)")
    add("--json", action="store_true", help="print one JSON object")
    add("-o", "--output", type=Path, help="write that JSON object to a file")
    add("--list", action="store_true", help="name the targets")
    add("--replay", type=Path, nargs="+", metavar="FILE", help="try inputs that were kept")
    options = parser.parse_args()
    if options.list:
        print("\n".join(f"{target.name:24}{'fast' if target.fast else 'slow'}" for target in all_targets()))
        return 0
    if options.replay:
        return _replay(options.replay)
    try:
        chosen = _chosen(options.only)
    except KeyError as error:
        parser.error(f"no target {error}; see --list")
    config = FuzzConfig(
        executions=options.executions,
        seconds=options.seconds,
        jobs=options.jobs,
        seed=options.seed,
        memory_mib=options.memory,
        findings=options.findings,
    )
    result = run_fuzzer(chosen, config)
    report = json.dumps(_report(result, config), indent=1) + "\n"
    if options.output:
        write_atomically(options.output, report.encode())
    print(report if options.json else _table(result), end="")
    return 1 if result.findings else 0


def _chosen(only: str | None) -> list[Target]:
    if only not in (None, "fast", "slow"):
        return [find_target(name) for name in only.split(",")]
    honest = [target for target in all_targets() if not target.planted]
    return [target for target in honest if only is None or target.fast == (only == "fast")]


def _replay(files: list[Path]) -> int:
    """Tries each file in this process, so that a debugger can be there."""
    found = 0
    for file in files:
        try:
            name, data = read_input(file)
            target = find_target(name)
        except (OSError, KeyError, TypeError, ValueError) as error:
            print(f"{file}: not an input that was kept ({error!r})", file=sys.stderr)
            return 2
        result = attempt(target, data)
        print(f"{file}: {result if isinstance(result, Problem) else 'read' if result else 'refused'}")
        found += isinstance(result, Problem)
    return 1 if found else 0


def _report(result: FuzzResult, config: FuzzConfig) -> dict[str, object]:
    return {
        "command": command_line("python -m fuzz"),
        "seed": config.seed,
        "jobs": config.jobs,
        "executions": result.executions,
        "seconds": round(result.seconds, 1),
        "per_second": round(result.executions / max(result.seconds, 1e-9), 1),
        "targets": {
            name: {
                "executions": sums.executions,
                "accepted": sums.accepted,
                "refused": sums.refused,
                "found": sums.found,
                "per_second_and_process": round(sums.per_second, 1),
            }
            for name, sums in result.targets.items()
        },
        "findings": [asdict(finding) for finding in result.findings],
    }


def _table(result: FuzzResult) -> str:
    lines = [f"{'target':24}{'executions':>11}{'read':>9}{'refused':>9}{'found':>7}{'a second':>10}"]
    for name, sums in result.targets.items():
        counts = f"{sums.executions:11}{sums.accepted:9}{sums.refused:9}{sums.found:7}"
        lines.append(f"{name:24}{counts}{sums.per_second:10.0f}")
    rate = result.executions / max(result.seconds, 1e-9)
    lines.append(f"{result.executions} executions in {result.seconds:.0f} s, {rate:.0f} a second")
    seen: dict[tuple[str, str, str], int] = {}
    for one in result.findings:
        key = (one.target, one.kind, one.where or one.message)
        seen[key] = seen.get(key, 0) + 1
    for (target, kind, where), times in seen.items():
        example = next(
            one for one in result.findings if (one.target, one.kind, one.where or one.message) == (target, kind, where)
        )
        lines.append(f"FOUND {target}: {kind} {where}, {times} times: {example.message} ({example.file})")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main())
