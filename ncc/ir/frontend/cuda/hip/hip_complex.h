/* HIP's name for CUDA's. */
#include "hip_runtime.h"
#include "../cuComplex.h"
