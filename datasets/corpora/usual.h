/* The same for programs that only compile as C. */
#include <ctype.h>
#include <limits.h>
#include <malloc.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
char *gets(char *);
