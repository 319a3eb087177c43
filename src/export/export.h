/* Export: the best kernel of a run, or its tuning results, as files that other programs read.
 *
 *     ok = export_make("kernelbench", &page, &files, &err);
 *     for (unsigned i = 0; i < files.nr; i++)
 *         write files.file[i].text to files.file[i].name      // relative; the caller says where
 *     export_finish(&files);
 *
 * kernelbench     ModelNew, for KernelBench's harness (load_inline)
 * pytorch         a Python module with a custom operator keet::<name>, without gradients
 * header          a CUDA header with a launch function, for programs without PyTorch
 * flashinfer-bench  Definition, Solution and Trace, in the folders that flashinfer-bench looks in
 * t4              tuning results, T4 1.0.0, of all variants that differ from the best in values of
 *                 tuning parameters only
 * kernel-tuner    the same results as a cache file of Kernel Tuner
 *
 * An export is a pure function of the database. Times keep their provenance: a modelled time is
 * called modelled. */
#ifndef KEET_EXPORT_EXPORT_H
#define KEET_EXPORT_EXPORT_H

#include "base/err.h"
#include "base/str.h"
#include <stdbool.h>

struct page; /* report/page.h: loaded */

enum { EXPORT_MAX_FILES = 4 };

struct export_file {
    const char *name; /* relative; in the page's arena */
    struct str text;
};

struct export_files {
    struct export_file file[EXPORT_MAX_FILES];
    unsigned nr;
    bool folder; /* these files belong in a folder of their own */
};

/* The names of the formats above; NULL ends them. */
extern const char *const export_formats[];

bool export_make(
    const char *format, const struct page *page, struct export_files *files, struct err *err);
void export_finish(struct export_files *files);

#endif
