/* Private to export/: what is exported, read back from the run, and its code as C++. */
#ifndef KEET_EXPORT_EXPORT_INPUT_H
#define KEET_EXPORT_EXPORT_INPUT_H

#include "export/export.h"
#include "report/page.h"

struct subject {
    struct arena *arena; /* the page's */
    const struct page *page;
    struct task task; /* the original's */
    const struct candidate *best;
    struct plan plan;    /* the best one's */
    const char *name;    /* an identifier, from the kernel file's name */
    const char *pytorch; /* the PyTorch text that the task came from; NULL: none */
};

bool subject_read(struct subject *s, const struct page *page, struct err *err);

/* Two or three lines that begin with `comment`: from where, which node, how fast. */
void subject_say(const struct subject *s, const char *comment, struct str *out);

/* An expression of the task language in another language. Python has no a ? b : c, and no
 * expression with one is written: false. */
enum language { LANGUAGE_CPP, LANGUAGE_PYTHON };
bool subject_expr(enum language language, const struct expr *expr, struct str *out);
/* {dim, dim} with the language's brackets and a comma where Python needs one. */
bool subject_dims(enum language language, const struct task_array *array, struct str *out);

const char *subject_ctype(enum elem elem); /* "float", "__half" */

/* Includes, then `namespace keet_<name>` with the device code and
 *     size_t scratch_bytes(sizes...);
 *     cudaError_t launch(arrays..., sizes..., scalars..., void *keet_scratch, cudaStream_t);
 * in the order of the contract. */
void subject_code(const struct subject *s, struct str *out);

/* How many arrays come in, how many go out; inout counts as both. */
unsigned subject_nr_in(const struct subject *s);
unsigned subject_nr_out(const struct subject *s);

/* The formats; each adds its files. */
bool export_header(struct subject *s, struct export_files *files, struct err *err);
bool export_kernelbench(struct subject *s, struct export_files *files, struct err *err);
bool export_pytorch(struct subject *s, struct export_files *files, struct err *err);
bool export_flashinfer(struct subject *s, struct export_files *files, struct err *err);
bool export_t4(struct subject *s, struct export_files *files, struct err *err);
bool export_kernel_tuner(struct subject *s, struct export_files *files, struct err *err);

/* A new file of the export; its text is empty. */
struct str *export_add(struct export_files *files, const char *name);

/* The C++ of a PyTorch extension: includes, subject_code, and `<name>_forward`, which takes the
 * tensors and scalars of the contract in order and returns a vector of the outputs. torch_params:
 * its parameters. */
void torch_source(const struct subject *s, struct str *out);
void torch_params(const struct subject *s, struct str *out);
const char *torch_dtype(enum elem elem); /* "float32" */
/* `variable = load_inline(...)`, with that source in the text. */
bool torch_load(const struct subject *s, const char *variable, struct str *out, struct err *err);

#endif
