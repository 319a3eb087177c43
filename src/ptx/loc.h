/* Private to ptx: from .loc directives to lines of the kernel's own source file. */
#ifndef KEET_PTX_LOC_H
#define KEET_PTX_LOC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { NO_LOC = UINT32_MAX };

struct loc {
    uint32_t file, line, column;
    uint32_t outer; /* index of the .loc that it is inlined at; NO_LOC none */
    /* when the site has no .loc of its own */
    uint32_t outer_file, outer_line;
};

struct locs {
    struct loc *items;
    size_t nr, cap;
    uint32_t *slots; /* hash of (file, line, column) -> latest index + 1 */
    size_t nr_slots;
    uint32_t current;     /* index of the .loc in force, NO_LOC before the first */
    uint32_t kernel_file; /* 0 until known */
};

void locs_init(struct locs *locs);
void locs_finish(struct locs *locs);

/* A .loc; outer_file 0: not inlined. in_entry: read inside a kernel's body, where the first .loc
 * that is not inlined names the kernel's file. */
void locs_add(struct locs *locs, uint32_t file, uint32_t line, uint32_t column, uint32_t outer_file,
    uint32_t outer_line, uint32_t outer_column, bool in_entry);

/* The line in the kernel's file: the line of the .loc itself when it names that file, else the line
 * of the nearest inlining site there. 0 unknown. */
uint32_t locs_line(const struct locs *locs, uint32_t index);

#endif
