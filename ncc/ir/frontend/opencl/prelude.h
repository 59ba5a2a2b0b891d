/* What an OpenCL C program may take for granted and clang does not build in: types, constants, as_type.
 * Written from the OpenCL C specification; clang declares the functions (-fdeclare-opencl-builtins). */
#ifndef NCC_OPENCL_PRELUDE_H
#define NCC_OPENCL_PRELUDE_H

#include "types.h"
#include "constants.h"
#include "as_type.h"

/* The one variadic function of the language (6.15.14, since 1.2), which no builtin table can describe. */
#if !defined(__OPENCL_C_VERSION__) || __OPENCL_C_VERSION__ >= 120
int printf(__constant const char *format, ...) __attribute__((format(printf, 1, 2)));
#endif

#endif
