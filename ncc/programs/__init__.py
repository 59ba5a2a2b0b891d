"""What a whole program says beyond its statements' types: which functions are its own, constants, calls by name."""

from ncc.programs.description import Program, describe_program
from ncc.programs.names import is_library_function, library_name
from ncc.programs.ngrams import hashed_ngrams

__all__ = ["Program", "describe_program", "hashed_ngrams", "is_library_function", "library_name"]
