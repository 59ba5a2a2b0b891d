/* Found where programs expect it: all of it is in the prelude, but for the driver's API, which a toolkit may bring. */
#include "prelude.h"

#if __has_include_next(<cuda.h>)
#include_next <cuda.h>
#endif
