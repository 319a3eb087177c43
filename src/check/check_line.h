/* Private to check/: the source line that a wrong output points at. */
#ifndef KEET_CHECK_CHECK_LINE_H
#define KEET_CHECK_CHECK_LINE_H

#include "core/candidate.h"

/* Where the candidate writes the array: the first line in the last launched kernel that takes it
 * which stores through the matching parameter, else the line of that kernel, else of the launch,
 * else 0. A guess from the text, good enough to open the editor at. */
unsigned check_write_line(const struct candidate *c, const char *array);

#endif
