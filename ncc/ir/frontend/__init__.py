"""Source to LLVM IR: C, C++, OpenCL C and CUDA device code, by a clang run as a subprocess.

The first step; its result goes to `ncc.ir.reader`.
"""

from ncc.ir.frontend.compile import compile_source
from ncc.ir.frontend.diagnostics import CompiledSource
from ncc.ir.frontend.languages import SOURCE_EXTENSIONS, language_of
from ncc.ir.frontend.options import CompileOptions

__all__ = ["SOURCE_EXTENSIONS", "CompileOptions", "CompiledSource", "compile_source", "language_of"]
