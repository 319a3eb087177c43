/* CUPTI's range profiler, loaded with dlopen: hardware counters of whole kernels.
 *
 * The host half needs no GPU and no driver. It lists the metrics of a chip, makes the configuration
 * that programs a card, and turns the counts of the card (a counter data image: bytes that can be
 * kept in a file) into numbers.
 *
 *     struct cupti *cupti = cupti_open(err);
 *     struct cupti_config *config = cupti_config_create(cupti, "GH100", names, nr, err);
 *     ... cupti_config_nr_passes(config) ...
 *     cupti_evaluate(config, image, image_bytes, range, values, err);
 *
 * The target half (cupti_collect) runs launches on a card. On an H100 its counts equalled those of
 * Nsight Compute; tests run it against a library that checks the order of the calls (tests/fake/).
 *
 * CUPTI needs care. Initialisation fails without a driver, but later calls crash unless it was
 * tried. After CUPTI has refused a call for one unknown name, later calls on that object crash. So
 * names are looked up before use, every code is checked, and an object that refused a call is
 * abandoned. Call these functions in a child process where you can. All metrics go in by one call:
 * added one by one, each metric takes a pass of its own. */
#ifndef KEET_NV_CUPTI_H
#define KEET_NV_CUPTI_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cupti;
struct cupti_config;

/* Opens the library $KEET_CUPTI when that is set. Else looks in $KEET_CUDA (nowhere else, when that
 * is set), $CUDA_HOME and /usr/local/cuda, each with lib64, lib and extras/CUPTI/lib64, then in
 * .deps/cuda, then asks the loader. */
struct cupti *cupti_open(struct err *err);
void cupti_close(struct cupti *cupti);
const char *cupti_path(const struct cupti *cupti);     /* of the library */
unsigned cupti_api_version(const struct cupti *cupti); /* 130000 for CUDA 13.0; 0: not known */
/* "" when initialisation succeeded, which takes a driver; else the reason why it failed. */
const char *cupti_no_target(const struct cupti *cupti);

/* A set of metrics for one chip, by CUPTI's chip name ("GH100"). Names are copied. An unknown name
 * is an error that cites the name. The library must outlive the configuration. */
struct cupti_config *cupti_config_create(const struct cupti *cupti, const char *chip,
    const char *const *names, unsigned nr, struct err *err);
void cupti_config_destroy(struct cupti_config *config);
unsigned cupti_config_nr_passes(const struct cupti_config *config);
const uint8_t *cupti_config_image(const struct cupti_config *config, size_t *bytes);

/* How many metrics the chip has. *unknown is the first of the names that the chip does not have;
 * NULL: the chip has them all. */
bool cupti_chip_knows(const struct cupti *cupti, const char *chip, const char *const *names,
    unsigned nr, unsigned *nr_on_chip, const char **unknown, struct err *err);

/* Values of the configuration's metrics, in its order, for one range (launch) of an image that was
 * recorded with the same metrics on the same chip. */
bool cupti_nr_ranges(
    const struct cupti *cupti, const uint8_t *image, size_t bytes, unsigned *nr, struct err *err);
bool cupti_evaluate(const struct cupti_config *config, const uint8_t *image, size_t bytes,
    unsigned range, double *values, struct err *err);

/* ---- the target half ---- */

/* Call this first, with the driver started: it initialises once more, since the driver may not have
 * run when the library was opened. */
bool cupti_start(struct cupti *cupti, struct err *err);

/* The chip of a device, for cupti_config_create: "GH100" for H100 and H200. */
bool cupti_chip_name(const struct cupti *cupti, unsigned device, char name[64], struct err *err);

/* Can the device be profiled at all? False: err says why not. */
bool cupti_device_supported(const struct cupti *cupti, int cu_device, struct err *err);

/* The launches to profile, by number. Embed this struct first in one of your own. */
struct cupti_work {
    /* Does launch number i and waits for its end. */
    bool (*launch)(struct cupti_work *work, unsigned i, struct err *err);
    /* Puts memory back as it was before the first launch; only user replay asks for it. */
    bool (*restore)(struct cupti_work *work, struct err *err);
    /* Loads the code anew; only cupti_sample.h asks for it. NULL: there is no need. */
    bool (*load)(struct cupti_work *work, struct err *err);
};

/* Who repeats a launch for each pass. Kernel replay: CUPTI does, and saves and restores the memory
 * that the kernel writes, which takes more memory. User replay: after `restore`, all launches run
 * again. */
enum cupti_replay { CUPTI_REPLAY_KERNEL, CUPTI_REPLAY_USER };

/* Counts all launches, one range each, in order. The image is heap memory; free it. cu_context is a
 * CUcontext. Where counters are not permitted, the error says how to permit them. The profiler is
 * off again at the return, in any case. */
bool cupti_collect(const struct cupti_config *config, void *cu_context, enum cupti_replay replay,
    unsigned nr_launches, struct cupti_work *work, uint8_t **image, size_t *image_bytes,
    struct err *err);

/* Advice about ERR_NVGPUCTRPERM, for errors and for `doctor`; a static sentence. */
const char *cupti_permission_advice(void);

#endif
