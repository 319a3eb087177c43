/* The writer of recordings: what a program launches, with which arguments and which memory before
 * and after. Two see launches: the software driver (swdriver/sw_record.h), and the library that a
 * driver of NVIDIA's loads (inject/). The reader is capture/.
 *
 *   KEET_CAPTURE           the folder, where every process writes files of its own; not set: off
 *   KEET_CAPTURE_LAUNCHES  so many launches of each kernel are recorded (1)
 *   KEET_CAPTURE_SKIP      ... after so many that are not (0)
 *   KEET_CAPTURE_KERNEL    only kernels whose symbol has this text in it
 *   KEET_CAPTURE_DRY       nothing is run: kernels do nothing, and take no time
 *   KEET_CAPTURE_BYTES     contents are kept until so many bytes are written (256 MiB)
 *
 * launches-PID.jsonl has a line when a recorded launch begins ("event": "begin") and one when it is
 * over ("end"); totals-PID.json has all kernels with all their launches, and is written anew once a
 * second and at the end. Contents are ORDER-PID/N.before, .after: raw bytes of allocation N; of
 * what was over the limit N.sample has the first MiB. The end's "stored" are the allocations that
 * the launch stored into, and "changed" those of them that hold something else now.
 *
 * Not for two threads at once: the caller has a lock; but record_took is for any thread. */
#ifndef KEET_RECORD_RECORD_H
#define KEET_RECORD_RECORD_H

#include <stdbool.h>
#include <stdint.h>

enum record_kind {
    RECORD_DEVICE,
    RECORD_MANAGED,
    RECORD_HOST,
    RECORD_REGISTERED,
    RECORD_VARIABLE,
    RECORD_CONSTANT
};

/* Memory that a launch can reach: an allocation, or a variable of the module. */
struct record_memory {
    uint64_t address, bytes;
    enum record_kind kind;
    const char *name; /* of a variable; NULL: an allocation */
};

/* Who can look at memory. Embed this struct first in one of your own. */
struct record_view {
    bool (*read)(struct record_view *view, uint64_t address, void *bytes, uint64_t nr);
    /* The allocation or the variable that an address lies in. */
    bool (*find)(struct record_view *view, uint64_t address, struct record_memory *found);
    /* Variable number i, from 0, that the kernel may reach by its name. False: there are fewer. */
    bool (*variable)(struct record_view *view, unsigned i, struct record_memory *found);
    bool (*is_texture)(struct record_view *view, uint64_t handle); /* NULL: not known */
    /* Has the launch stored into it? NULL: not known; then what changed counts, and what may be
     * stored into and was not kept. */
    bool (*stored)(struct record_view *view, uint64_t address);
    int poison; /* what fills memory that nobody has written; -1: not known, all is written */
};

struct record_param {
    uint32_t offset, bytes;
    const uint8_t *data;
};

struct record_launch {
    const char *kernel; /* the symbol */
    int device;
    uint32_t grid[3], block[3], cluster[3], smem_bytes; /* cluster: 0 where the launch says none */
    uint64_t stream;
    const struct record_param *params;
    unsigned nr_params;
};

struct record_time {
    double time_ns, floor_ns, moved_bytes; /* 0: not known */
};

bool record_on(void);
bool record_is_dry(void);

/* Will the next launch of the kernel be recorded, or only counted? For a launch that is only
 * counted the view and the parameters are not looked at. */
bool record_wants(const char *kernel);

struct record_shot; /* a recorded launch that is under way */
/* Counts a launch, which is about to run. NULL: it is only counted. */
struct record_shot *record_begin(const struct record_launch *launch, struct record_view *view);
/* The launch is over; shot: what record_begin gave, taken over. time: NULL when it was not timed.
 * fault: NULL: it went well. */
void record_end(const char *kernel, struct record_shot *shot, struct record_view *view,
    const struct record_time *time, const char *fault);
/* Adds to the kernel's time: for clocks that tell later. */
void record_took(const char *kernel, const struct record_time *time);

#endif
