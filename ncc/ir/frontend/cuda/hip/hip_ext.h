/* HIP's name for what its main header has. */
#include "hip_runtime.h"
