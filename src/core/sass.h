/* The kinds of instructions in the machine code of a kernel, counted by source line. The text is
 * counted, not the execution: an instruction in a loop counts once. nv/sass_read.h reads the counts
 * from the cubin; core/candidate.h keeps them. */
#ifndef KEET_CORE_SASS_H
#define KEET_CORE_SASS_H

#include <stdint.h>

enum sass_class {
    SASS_FP32,
    SASS_FP64,
    SASS_FP16,
    SASS_INTEGER,
    SASS_MOVE,
    SASS_CONVERSION,
    SASS_SPECIAL, /* MUFU: ex2 lg2 sin rcp rsq ... */
    SASS_TENSOR,
    SASS_GLOBAL_LOAD,
    SASS_GLOBAL_STORE,
    SASS_GENERIC_LOAD, /* the address tells at run time which memory is meant */
    SASS_GENERIC_STORE,
    SASS_SHARED_LOAD,
    SASS_SHARED_STORE,
    SASS_LOCAL_LOAD, /* spills, and arrays that are indexed by variables */
    SASS_LOCAL_STORE,
    SASS_CONSTANT_LOAD, /* of parameters, too */
    SASS_ATOMIC,
    SASS_ASYNC_COPY,
    SASS_TEXTURE,
    SASS_WARP, /* shuffles, votes, reductions */
    SASS_BARRIER,
    SASS_CONTROL,
    SASS_OTHER,
    NR_SASS_CLASSES
};

const char *sass_class_name(enum sass_class kind); /* "global load" */

struct sass_mix {
    uint32_t nr; /* of all classes */
    uint32_t of[NR_SASS_CLASSES];
    uint32_t wide_loads, wide_stores; /* global, of 8 or 16 bytes per lane */
    uint32_t widest_bytes;            /* global access per lane; 0: none */
    uint32_t stall_cycles;            /* cycles that the code itself waits between instructions */
};

struct sass_line {
    unsigned line; /* of the kernel's own file; 0: none is known */
    struct sass_mix mix;
};

struct sass_facts {
    unsigned arch; /* 90; 0: there was no machine code to read */
    struct sass_mix all;
    struct sass_line *lines; /* rising numbers */
    unsigned nr_lines;
    uint32_t nr_wgmma, nr_wgmma_ends; /* products of warpgroups; those that end a group */
};

/* Adds the counts; widest_bytes becomes the larger of the two. */
void sass_mix_add(struct sass_mix *to, const struct sass_mix *mix);

#endif
