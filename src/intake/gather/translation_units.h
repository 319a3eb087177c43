/* Private to intake/: a program of several source files. A file without main is read with the other
 * files of its folder behind it, so that the interpreter finds who calls it. */
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

/* Fills units with the other sources in the folder of a file, in the order of their names. Returns
 * how many there are, at most max. */
unsigned translation_units_around(
    struct arena *arena, const char *path, struct translation_unit *units, unsigned max);

/* How many of the units, from the first, are one program with the file. 0: none of the units has
 * main, or several have. */
unsigned translation_units_program(const struct translation_unit *units, unsigned nr);

#endif
