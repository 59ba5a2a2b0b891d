"""How often the reader accepts what LLVM refuses: mutants of real modules, each asked of both.

    python -m fuzz.differential [--mutants 4000] [--faults] [--seed 0] [--examples 3]

The reader need not be a verifier, but a damaged file must not get vectors in silence. Prints the share of refused
mutants that the reader accepts, and LLVM's reasons for these, most frequent first. With ``--faults`` types, names and
lines are changed rather than bytes, and LLVM verifies what it parses.
"""

import argparse
import random
import re
from collections import Counter, defaultdict
from dataclasses import dataclass, field

from fuzz.faults import add_fault
from fuzz.targets.ir import mutate_ir, texts
from ncc.ir.reader import native
from ncc.ir.reader.llvm import LLVMRefusalError, LLVMWork, print_module

__all__ = ["Differences", "compare"]

_QUOTED = re.compile(r"'[^']*'")
_REASON = re.compile(r"error: (.*)")
_EXCERPT = re.compile(r"error: .*\n(.*)")


@dataclass
class Differences:
    """Answers of both readers to mutants.

    Attributes:
        refused: Mutants that LLVM refuses.
        accepted: LLVM's reason → number of these that the reader accepts.
        examples: Lines that LLVM points at, by reason.
    """

    refused: int = 0
    accepted: Counter[str] = field(default_factory=Counter)
    examples: defaultdict[str, list[str]] = field(default_factory=lambda: defaultdict(list))

    @property
    def rate(self) -> float:
        """Share of the refused mutants that the reader accepts."""
        return self.accepted.total() / max(self.refused, 1)


def is_valid(text: bytes) -> bool:
    """Whether LLVM verifies a text."""
    try:
        print_module(text, LLVMWork.VERIFY)
    except LLVMRefusalError:
        return False
    return True


def accepts(text: bytes) -> bool:
    """Whether the reader by itself takes a text."""
    try:
        native.read_text(text, known_callees=None)
    except native.IRSyntaxError:
        return False
    return True


def compare(num_mutants: int, seed: int, *, faults: bool = False) -> Differences:
    """Compare both readers on `num_mutants` mutants of the fixtures' modules."""
    dice, seeds, found = random.Random(seed), texts(), Differences()
    mutate, work = (add_fault, LLVMWork.VERIFY) if faults else (mutate_ir, LLVMWork.PRINT)
    if faults:
        seeds = [text for text in seeds if is_valid(text)]
    for _ in range(num_mutants):
        text = mutate(dice, seeds)
        if b"\0" in text:
            continue
        try:
            print_module(text, work)
        except LLVMRefusalError as error:
            found.refused += 1
            if accepts(text):
                message = str(error)
                match = _REASON.search(message)
                reason = _QUOTED.sub("'…'", match[1]) if match else message[:80]
                found.accepted[reason] += 1
                excerpt = _EXCERPT.search(message)
                found.examples[reason].append(excerpt[1].strip() if excerpt else "")
    return found


def main() -> None:
    """Prints what was found."""
    parser = argparse.ArgumentParser(description="How often the reader accepts what LLVM refuses.")
    parser.add_argument("--mutants", type=int, default=4000)
    parser.add_argument("--faults", action="store_true", help="Change types, names and lines rather than bytes.")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--examples", type=int, default=3, help="Lines to show for each reason.")
    options = parser.parse_args()
    found = compare(options.mutants, options.seed, faults=options.faults)
    total = found.accepted.total()
    print(
        f"{options.mutants} mutants, seed {options.seed}: LLVM refuses {found.refused}, of which the reader accepts "
        f"{total} ({found.rate:.1%})"
    )
    for reason, count in found.accepted.most_common():
        print(f"{count:6} {reason}")
        for line in found.examples[reason][: options.examples]:
            print(f"           {line[:150]}")


if __name__ == "__main__":
    main()
