/* Found where programs expect it; all of it is in the prelude. */
#include "prelude.h"
