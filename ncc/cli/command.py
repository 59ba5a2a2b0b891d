"""What all commands share: help without Python's type names, and a word on interrupted work."""

from typing import Any

from typer.core import TyperArgument, TyperCommand

from ncc.cli.output import fail

_INTERRUPTED = 130
_NAMES = {"int": "N", "float": "X", "str": "TEXT", "Path": "FILE"}


class _NamedArgument(TyperArgument):
    """An argument whose name says what it is."""

    def display_type_rich(self, ctx: Any) -> str | None:  # noqa: ARG002
        """Nothing."""
        return None

    def get_usage_pieces(self, ctx: Any) -> list[str]:  # noqa: ARG002
        """Its name, in brackets where it may be left out."""
        name = (self.metavar or str(self.name)).strip("[]")
        return [name if self.required else f"[{name}]"]


def _shown_type(parameter: Any, ctx: Any) -> str | None:
    """What typer calls the type of an option's values; None for a version of typer that has another way to tell."""
    shown = getattr(parameter, "display_type_rich", None)
    return shown(ctx=ctx) if shown else None


class NccCommand(TyperCommand):
    """A command."""

    after_stop = ""
    """What is said of work that its user stopped."""

    def get_params(self, ctx: Any) -> list[Any]:
        """The arguments and options, those without a name for their values with one."""
        found: list[Any] = super().get_params(ctx)
        for parameter in found:
            if isinstance(parameter, TyperArgument):
                parameter.__class__ = _NamedArgument
            elif parameter.metavar is None and not getattr(parameter, "is_flag", False):
                kind = (_shown_type(parameter, ctx) or "").strip("<>").removesuffix(" range")
                parameter.metavar = _NAMES.get(kind, kind) or None
        return found

    def invoke(self, ctx: Any) -> Any:
        """Runs the command, unless its user stops it."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            fail("stopped" + self.after_stop, code=_INTERRUPTED)


class ResumableCommand(NccCommand):
    """A command that goes on where it was stopped."""

    after_stop = "; give the command again to go on"
