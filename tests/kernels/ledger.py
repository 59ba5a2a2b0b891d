"""The ledger of a kernel as plain values: its features by name, and its statements in the module's order."""

from tests.rooms import FEATURE_NAMES, CountedStatement, Work


def named(work: Work) -> dict[str, float]:
    """Name of each feature → value."""
    return dict(zip(FEATURE_NAMES, work.features().tolist(), strict=True))


def ledger(work: Work) -> list[CountedStatement]:
    """The statements that count, in the module's order."""
    return sorted(work.statements, key=lambda counted: counted.instruction.statement)


def patterns(work: Work) -> list[str]:
    """How neighbors access global memory at each statement; empty if they don't."""
    return [_pattern(counted) for counted in ledger(work)]


def _pattern(counted: CountedStatement) -> str:
    access = counted.accesses[0] if counted.accesses else None
    return access.pattern if access and access.space == "global" else ""
