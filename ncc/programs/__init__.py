"""What a whole program says beyond its statements' types: which functions are its own, constants, calls by name."""

from ncc.programs.description import Program, describe_program
from ncc.programs.names import is_library_function, library_name

__all__ = ["Program", "describe_program", "is_library_function", "library_name"]
