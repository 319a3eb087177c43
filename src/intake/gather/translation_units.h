/* Private to intake/: a program of several source files. A file without main is read with the
 * others of its folder behind it, so that the interpreter finds who calls it. */
#ifndef KEET_INTAKE_GATHER_TRANSLATION_UNITS_H
#define KEET_INTAKE_GATHER_TRANSLATION_UNITS_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>

struct translation_unit {
    const char *path, *name, *text;
    size_t bytes;
};

bool translation_units_has_main(const char *text);

/* All other sources beside a file, by name. */
unsigned translation_units_around(
    struct arena *arena, const char *path, struct translation_unit *units, unsigned max);

/* How many of these, from the first, are one program with it; 0: not exactly one of them has main.
 */
unsigned translation_units_program(const struct translation_unit *units, unsigned nr);

#endif
