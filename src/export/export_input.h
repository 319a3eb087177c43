/* Private to export/: the input of every format (the best kernel, its task and its plan, read back
 * from the run), and the kernel's code as C++. */
#ifndef KEET_EXPORT_EXPORT_INPUT_H
#define KEET_EXPORT_EXPORT_INPUT_H

#include "export/export.h"
#include "report/page.h"

struct export_input {
    struct arena *arena; /* the page's */
    const struct page *page;
    struct task task; /* of the original kernel */
    const struct candidate *best;
    struct plan plan;    /* of `best` */
    const char *name;    /* an identifier, made from the kernel file's name */
    const char *pytorch; /* the PyTorch text that the task came from; NULL: none */
};

/* False with err: the original kernel does not parse, or no kernel of the run is right. */
bool export_input_read(struct export_input *in, const struct page *page, struct err *err);

/* Adds lines that begin with `comment`: the run, the node, the device, and how fast the kernel is.
 */
void export_provenance(const struct export_input *in, const char *comment, struct str *out);

/* Adds an expression of the task language in another language. False: the expression has a ? b : c,
 * which Python does not have. */
enum language { LANGUAGE_CPP, LANGUAGE_PYTHON };
bool export_expr(enum language language, const struct expr *expr, struct str *out);
/* Adds {dim, dim} in the language's brackets, with a comma where Python needs one. */
bool export_dims(enum language language, const struct task_array *array, struct str *out);

const char *export_ctype(enum elem elem); /* "float", "__half" */

/* Adds the includes, then `namespace keet_<name>` with the device code and
 *     size_t scratch_bytes(sizes...);
 *     cudaError_t launch(arrays..., sizes..., scalars..., void *keet_scratch, cudaStream_t);
 * in the order of the contract. */
void export_code(const struct export_input *in, struct str *out);

/* Tensor maps in that code (export_map.c): whether there are any; the function that encodes one;
 * and `CUtensorMap keet_map_NUMBER` for an argument of a launch, encoded. */
bool export_has_maps(const struct export_input *in);
void export_map(
    const struct export_input *in, const struct launch_arg *arg, unsigned number, struct str *out);

/* How many arrays the kernel reads, and how many the kernel writes. An inout array counts as
 * both. */
unsigned export_nr_in(const struct export_input *in);
unsigned export_nr_out(const struct export_input *in);

/* The formats; each adds its files. */
bool export_header(struct export_input *in, struct export_files *files, struct err *err);
bool export_kernelbench(struct export_input *in, struct export_files *files, struct err *err);
bool export_pytorch(struct export_input *in, struct export_files *files, struct err *err);
bool export_flashinfer(struct export_input *in, struct export_files *files, struct err *err);
bool export_t4(struct export_input *in, struct export_files *files, struct err *err);
bool export_kernel_tuner(struct export_input *in, struct export_files *files, struct err *err);

/* A new file of the export; its text is empty. */
struct str *export_add(struct export_files *files, const char *name);

/* Adds the C++ of a PyTorch extension: includes, export_code, and `<name>_forward`, which takes the
 * tensors and scalars of the contract in order and returns a vector of the outputs. torch_params
 * adds the parameters of `<name>_forward`. */
void torch_source(const struct export_input *in, struct str *out);
void torch_params(const struct export_input *in, struct str *out);
const char *torch_dtype(enum elem elem); /* "float32" */
/* Adds `variable = load_inline(...)`, with the text of torch_source in it. */
bool torch_load(
    const struct export_input *in, const char *variable, struct str *out, struct err *err);

#endif
