/* Profiles from elsewhere: Nsight Compute's CSV, `--page raw` (one row per kernel, one column per
 * metric, units in the second row) and `--page details` (one row per metric). The reader takes
 * files as they are in the wild: ==PROF== lines and program output before the table, thousands
 * separators, decimal commas, short rows, quoted fields with newlines, several kernels, metrics
 * missing or n/a.
 *
 *     struct import import;
 *     if (!import_ncu_read(&import, arena, text, len, err))
 *         ...
 *     import.kernels[i].counters ... all provenance measured, in the units of core/metrics.def
 *
 * Rules of reading numbers: with both '.' and ',' the last one is the decimal mark; one kind more
 * than once, or a comma before exactly three digits, separates thousands ("1,024" is 1024, "0,512"
 * is 0.512), unless other values of the file show that its commas are decimal. Scaled units (Kbyte,
 * Mbyte, us, ms, usecond) are brought to base units. */
#ifndef KEET_EXPLAIN_IMPORT_NCU_H
#define KEET_EXPLAIN_IMPORT_NCU_H

#include "base/arena.h"
#include "base/err.h"
#include "core/counters.h"

#include <stdbool.h>
#include <stddef.h>

struct imported_kernel {
    const char *name;           /* as Nsight Compute prints it */
    const char *id;             /* of the launch in its report */
    const char *device;         /* "" unknown */
    unsigned grid[3], block[3]; /* zeros: unknown */
    struct counters counters;   /* the metrics of core/metrics.def, measured */
    unsigned nr_other;          /* metrics in the file that core/metrics.def does not have */
    unsigned nr_unreadable;     /* values that are no numbers: n/a, nan, text */
};

struct import {
    struct imported_kernel *kernels; /* in the order of the file; arena memory */
    unsigned nr_kernels;
    bool raw; /* page raw, else details */
};

/* False: the text is not such a table; err says what was expected, and where. */
bool import_ncu_read(
    struct import *import, struct arena *arena, const char *text, size_t len, struct err *err);

/* Reads a .csv file; or a .ncu-rep file through `ncu --import FILE --csv --page raw`, where ncu is
 * in PATH. */
bool import_ncu_file(struct import *import, struct arena *arena, const char *path, struct err *err);

#endif
