"""LLVM IR text or bitcode to a `Module` of arrays."""
