/* What small C programs expect to be there, for those whose include lines are lost. */
#include <ctype.h>
#include <limits.h>
#include <malloc.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
char *gets(char *);
