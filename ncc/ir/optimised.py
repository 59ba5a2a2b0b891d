"""Code of -O0 as -O2 would have left it, so that a function is like itself however it was compiled."""

from weakref import WeakKeyDictionary

from ncc.ir.abstraction import Abstraction
from ncc.ir.llvm import LLVMRefusalError, LLVMWork, print_module
from ncc.ir.module import Module
from ncc.ir.reader import read_module

_read: "WeakKeyDictionary[Module, Module | None]" = WeakKeyDictionary()


def optimise_unoptimised(module: Module, abstraction: Abstraction) -> Module | None:
    """The module optimised by LLVM, where a compiler was told not to; None where that was done, or nothing is left.

    None as well where LLVM can't: it reads no typed pointers in text, and refuses what its verifier does. Functions
    that nothing can reach are no longer there; those that stay keep their names.

    Args:
        module: The module.
        abstraction: Of the statements of what is returned.
    """
    if not module.is_unoptimised:
        return None
    if module not in _read:
        try:
            printed = print_module(module.ir, LLVMWork.OPTIMISE)
            read = read_module(printed, name=module.name, abstraction=abstraction)
            _read[module] = read if read.num_functions else None
        except LLVMRefusalError:
            _read[module] = None
    return _read[module]
