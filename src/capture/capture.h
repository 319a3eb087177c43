/* What a program launches, recorded while the program runs (record/record.h), on the software
 * driver or on a GPU: run it, read what was recorded, save contents as .npy, and make tasks of
 * launches.
 *
 *     capture_check_program(argv[0], &err) && capture_run(&how, &end, &err) &&
 *         capture_read(&c, arena, how.folder, &err) && capture_save(&c, arena, &err)
 *
 * All memory is the arena's. Nothing leaves the folder. */
#ifndef KEET_CAPTURE_CAPTURE_H
#define KEET_CAPTURE_CAPTURE_H

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"
#include "core/elem.h"
#include "core/task.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* --- capture_run.c --- */

struct capture_how {
    const char *const *argv; /* the program and its arguments, ended by NULL */
    const char *folder;
    const char *kernel; /* only kernels with this text in their symbol; NULL: all */
    unsigned nr_each;   /* so many launches of each kernel; 0: one */
    unsigned nr_skipped;
    uint64_t bytes; /* contents are kept until so many bytes are written; 0: the driver's default */
    double cpu_s;   /* processor time after which the program is stopped; 0: none */
    bool dry;       /* kernels do nothing */
    const char *cupti; /* CUPTI's library: the program runs on the GPU; NULL: on the software driver
                        */
    bool quiet;        /* the program's stdout goes to stderr */
    const char *place; /* the folder that the program runs in; NULL: ours */
    const char *output;       /* the file that its stdout goes to; NULL: ours, or as `quiet` says */
    const volatile int *stop; /* set by a signal handler: the program is ended; NULL: never */
    void (*progress)(double seconds, void *data); /* about once a second; NULL: none */
    void *data;
};

struct capture_end {
    int status;   /* the program's exit code; with stopped or signal: none */
    int signal;   /* that ended it; 0: none */
    bool stopped; /* cpu_s was over, or `stop` was set */
};

/* False: the program cannot be captured as it is, and err says what to do: it has a static runtime,
 * or one of another version. Programs that are no executables of their own (scripts) pass. */
bool capture_check_program(const char *program, struct err *err);
/* Runs the program, whose output goes where ours goes. False: it could not be started. */
bool capture_run(const struct capture_how *how, struct capture_end *end, struct err *err);

/* --- capture_read.c --- */

/* A word of a parameter that is the address of something. */
struct capture_pointer {
    unsigned at, memory; /* bytes into the parameter; number of the launch's memory */
    uint64_t offset;     /* bytes into the memory */
};

struct capture_param {
    unsigned offset, bytes;
    const uint8_t *data;
    const struct capture_pointer *pointers;
    unsigned nr_pointers;
    bool texture;     /* the handle of a texture or surface object */
    const char *type; /* "float const*", by the mangled name; NULL: unknown */
};

struct capture_memory {
    uint64_t bytes;
    const char *kind; /* device, managed, host, registered, constant, variable */
    const char *name; /* of a variable; of an allocation after capture_save: arg0, arg1_at8 */
    enum elem elem;   /* by the parameter's type; u8 where nothing says it */
    bool kept;        /* contents were within the limit */
    bool written;     /* somebody had written it before the launch */
    bool stored;      /* by the launch, if only what stood there */
    bool changed;     /* by the launch; of what was not kept, the same as stored */
    bool addresses;   /* it holds addresses: a pointer to pointers */
    const char *before, *after; /* raw files, .npy after capture_save; NULL: none */
    const char *sample;         /* the first bytes of what was not kept, raw; NULL: none */
};

struct capture_launch {
    const char *symbol, *name; /* mangled; "scale<float>" */
    uint64_t order, nth;       /* among all launches; among the kernel's */
    int process;
    uint32_t grid[3], block[3], cluster[3], smem_bytes;
    struct capture_param *params;
    struct capture_memory *memories;
    unsigned nr_params, nr_memories;
    bool ran;
    const char *fault;                     /* NULL: none */
    double time_ns, floor_ns, moved_bytes; /* modelled; 0: not known */
};

struct capture_kernel {
    const char *symbol, *name;
    uint64_t nr_launches, nr_timed;
    double time_ns, floor_ns, threads; /* of all launches */
};

struct capture {
    const char *folder;
    struct capture_launch *launches;
    struct capture_kernel *kernels; /* most time first; of dry runs, most threads first */
    unsigned nr_launches, nr_kernels;
    double time_ns; /* of all kernels */
    bool dry, ended;
};

bool capture_read(struct capture *c, struct arena *arena, const char *folder, struct err *err);
/* Contents as .npy of the memory's type; the raw files go. */
bool capture_save(struct capture *c, struct arena *arena, struct err *err);

/* --- capture_types.c --- */

/* The name of a kernel with its template arguments, and the types of its parameters (nr of them,
 * NULL entries where the name does not say them), from the mangled name. */
const char *capture_name(struct arena *arena, const char *symbol, const char **types, unsigned nr);
/* The elements that a pointer of this type leads to: false where they are no numbers. */
bool capture_elem(const char *type, enum elem *elem);
bool capture_is_const(const char *type);

/* --- capture_task.c --- */

/* The lines of a contract for one launch, whose arrays have the numbers, the roles and the data of
 * the capture: files are named relative to `beside`, the folder of the kernel file. False: the
 * launch cannot be a task, and err says why. */
bool capture_contract(struct str *lines, struct arena *arena, const struct capture_launch *launch,
    const char *beside, struct err *err);

/* The number that a size or a scalar of the task had in the captured launch, as text. The task was
 * read with some other number for it; `known` are the sizes whose numbers are right. NULL: no
 * argument, grid, block or extent over it and the known sizes has it. */
const char *capture_number(struct arena *arena, const struct task *task,
    const struct capture_launch *launch, const struct env *known, const char *name);

/* The type that an array's elements or a scalar of the task had in the captured launch. False: the
 * captured kernel's parameter does not say it. */
bool capture_type_of(const struct task *task, const struct capture_launch *launch, const char *name,
    enum elem *elem);

/* Does a task with one launch, as it was inferred from text, describe the captured launch? NULL:
 * yes. Else what differs, for people. Where it does, the data goes to `folder`, as a case of the
 * task. */
const char *capture_disagrees(
    struct arena *arena, const struct task *task, const struct capture_launch *launch);
/* Contents like these, as the task language has them: constant, iota, sorted, integers, uniform.
 * Bounds are given by the sizes where the numbers hang together with them. NULL: nothing to say. */
const char *capture_describe(
    struct arena *arena, enum elem elem, const void *elems, uint64_t nr, const struct env *sizes);
/* The same of memory before the launch, as elements of a type; of a sample of it where it was not
 * kept. */
const char *capture_like(struct arena *arena, const struct capture_memory *memory, enum elem elem,
    const struct env *sizes);
/* The memory that an array of the task is; NULL: the launch passes it nowhere, or at an offset. */
const struct capture_memory *capture_memory_of(
    const struct task *task, const struct capture_launch *launch, const char *array);
bool capture_case(struct arena *arena, const struct task *task, const struct capture_launch *launch,
    const char *folder, struct err *err);

#endif
