/* Python's C API, of which kernels need nothing: its types' names, for declarations. */
#pragma once

typedef struct _object PyObject;
