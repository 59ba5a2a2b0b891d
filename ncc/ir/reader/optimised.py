"""Code as this LLVM's -O2 would have left it, so that a function is like itself however it was compiled."""

from weakref import WeakKeyDictionary

from ncc.ir.reader.abstraction import Abstraction
from ncc.ir.reader.llvm import LLVMRefusalError, LLVMWork, print_module
from ncc.ir.reader.module import Module
from ncc.ir.reader.older import modern_text
from ncc.ir.reader.reader import read_module

_read: "WeakKeyDictionary[Module, Module | None]" = WeakKeyDictionary()


def as_if_optimised(module: Module, abstraction: Abstraction) -> Module | None:
    """The module as LLVM's optimiser leaves it; None where it is so already, nothing is left, or LLVM can't."""
    if not (module.is_unoptimised or module.addresses_members):
        return None
    if module not in _read:
        work = LLVMWork.OPTIMISE if module.is_unoptimised else LLVMWork.SIMPLIFY
        try:
            printed = print_module(modern_text(module.ir), work)
            read = read_module(printed, name=module.name, abstraction=abstraction)
            _read[module] = read if read.num_functions else None
        except LLVMRefusalError:
            _read[module] = None
    return _read[module]
