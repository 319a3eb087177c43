/* CUPTI's range profiler, loaded with dlopen: hardware counters of whole kernels.
 *
 * The host half needs no GPU and no driver: it says which metrics a chip has, makes the
 * configuration that a card is programmed with, and turns what the card counted (a counter data
 * image, a file of bytes that can be kept) into numbers.
 *
 *     struct cupti *cupti = cupti_open(err);
 *     struct cupti_config *config = cupti_config_create(cupti, "GH100", names, nr, err);
 *     ... cupti_config_nr_passes(config) ...
 *     cupti_evaluate(config, image, image_bytes, range, values, err);
 *
 * The target half (cupti_collect) runs launches on a card. It has not been run on a card yet: it is
 * written from the headers' documentation, and tested against a library that checks the order of
 * the calls (tests/fake/).
 *
 * A library that must be handled with care. Initialisation fails without a driver and must be
 * called all the same, or later calls crash; a call that was refused for one unknown name leaves an
 * object whose later calls crash. So names are looked up before they are used, every code is
 * checked, and an object that refused anything is abandoned. Whoever can should call this in a
 * child process. Metrics go in by one call: added one by one, each takes a pass of its own. */
#ifndef KEET_NV_CUPTI_H
#define KEET_NV_CUPTI_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cupti;
struct cupti_config;

/* Opens $KEET_CUPTI, a library, when it is set. Else looks in $KEET_CUDA (alone, when it is set),
 * $CUDA_HOME and /usr/local/cuda, each with lib64, lib and extras/CUPTI/lib64, then .deps/cuda,
 * then asks the loader. */
struct cupti *cupti_open(struct err *err);
void cupti_close(struct cupti *cupti);
const char *cupti_path(const struct cupti *cupti);     /* of the library */
unsigned cupti_api_version(const struct cupti *cupti); /* 130000 for CUDA 13.0; 0: not known */
/* "" when initialisation succeeded, which takes a driver; else why not. */
const char *cupti_no_target(const struct cupti *cupti);

/* A set of metrics for one chip, by CUPTI's chip name ("GH100"). Names are copied. An unknown name
 * is an error that says which. The library must outlive it. */
struct cupti_config *cupti_config_create(const struct cupti *cupti, const char *chip,
    const char *const *names, unsigned nr, struct err *err);
void cupti_config_destroy(struct cupti_config *config);
unsigned cupti_config_nr_passes(const struct cupti_config *config);
const uint8_t *cupti_config_image(const struct cupti_config *config, size_t *bytes);

/* How many metrics the chip has, and whether it has all of these; *unknown is the first that it has
 * not, or NULL. */
bool cupti_chip_knows(const struct cupti *cupti, const char *chip, const char *const *names,
    unsigned nr, unsigned *nr_on_chip, const char **unknown, struct err *err);

/* Values of the configuration's metrics, in its order, for one range (launch) of an image that was
 * recorded with the same metrics on the same chip. */
bool cupti_nr_ranges(
    const struct cupti *cupti, const uint8_t *image, size_t bytes, unsigned *nr, struct err *err);
bool cupti_evaluate(const struct cupti_config *config, const uint8_t *image, size_t bytes,
    unsigned range, double *values, struct err *err);

/* ---- the target half ---- */

/* Before the rest: initialise once more, with the driver started, which may not have been so when
 * the library was opened. */
bool cupti_start(struct cupti *cupti, struct err *err);

/* The chip of a device, as cupti_config_create wants it: "GH100" for H100 and H200. */
bool cupti_chip_name(const struct cupti *cupti, unsigned device, char name[64], struct err *err);

/* Whether the device can be profiled at all; where it cannot, err says what forbids it. */
bool cupti_device_supported(const struct cupti *cupti, int cu_device, struct err *err);

/* What is profiled: launches, by number. Embed it first in a struct of your own. */
struct cupti_work {
    /* Launch number i and wait for its end. */
    bool (*launch)(struct cupti_work *work, unsigned i, struct err *err);
    /* Put memory as it was before the first launch; only asked for by user replay. */
    bool (*restore)(struct cupti_work *work, struct err *err);
    /* Load the code anew; only asked for by cupti_sample.h. NULL: there is no need. */
    bool (*load)(struct cupti_work *work, struct err *err);
};

/* Who repeats a launch for each pass. Kernel replay: CUPTI, which saves and restores what the
 * kernel writes; needs memory for that. User replay: all launches are run again, after restore. */
enum cupti_replay { CUPTI_REPLAY_KERNEL, CUPTI_REPLAY_USER };

/* Count all launches, one range each, in order. The image is heap memory; free it. cu_context is a
 * CUcontext. Where counters are not permitted, the error says how to permit them. Whatever fails,
 * the profiler is disabled again before this returns. */
bool cupti_collect(const struct cupti_config *config, void *cu_context, enum cupti_replay replay,
    unsigned nr_launches, struct cupti_work *work, uint8_t **image, size_t *image_bytes,
    struct err *err);

/* What to do about ERR_NVGPUCTRPERM; a static sentence, for doctor too. */
const char *cupti_permission_advice(void);

#endif
