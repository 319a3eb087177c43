/* Owns the table of export formats. */
#include "export/export.h"

#include "base/mem.h"
#include "export/export_input.h"

#include <string.h>

const char *const export_formats[] = {
    "kernelbench", "pytorch", "header", "flashinfer-bench", "t4", "kernel-tuner", NULL};

/* In the order of the names. */
static bool (*const makers[])(struct export_input *, struct export_files *, struct err *) = {
    export_kernelbench, export_pytorch, export_header, export_flashinfer, export_t4,
    export_kernel_tuner};

struct str *export_add(struct export_files *files, const char *name)
{
    struct export_file *file = &files->file[files->nr++];

    file->name = name;
    return &file->text;
}

/* Can the format express the kernel? A caller of the exported code cannot set variables of the
 * code, and does not know the kernel's own types. */
static bool can_be_said(const struct export_input *in, const char *format, struct err *err)
{
    if (strcmp(format, "t4") == 0 || strcmp(format, "kernel-tuner") == 0)
        return true;
    for (unsigned i = 0; i < in->task.nr_arrays; i++)
        if (in->task.arrays[i].is_symbol)
            return err_set(err,
                "%s: the task sets the variable %s of the code (`symbol`), which --as %s cannot "
                "say",
                in->page->db_path, in->task.arrays[i].name, format);
    for (unsigned i = 0; i < in->task.nr_arrays; i++)
        if (in->task.arrays[i].record)
            return err_set(err, "%s: %s is an array of structs, which --as %s cannot say",
                in->page->db_path, in->task.arrays[i].name, format);
    for (unsigned l = 0; l < in->plan.nr_launches; l++)
        for (unsigned a = 0; a < in->plan.launches[l].nr_args; a++)
            if (in->plan.launches[l].args[a].kind == ARG_ARRAY &&
                in->plan.launches[l].args[a].value)
                return err_set(err,
                    "%s: %s is launched with a pointer into %s, not to its begin, which --as %s "
                    "cannot say",
                    in->page->db_path, in->plan.launches[l].kernel,
                    in->plan.launches[l].args[a].name, format);
            else if (in->plan.launches[l].args[a].kind == ARG_TEXTURE)
                return err_set(err, "%s: %s is launched with %s, which --as %s cannot say",
                    in->page->db_path, in->plan.launches[l].kernel,
                    in->plan.launches[l].args[a].texture->written, format);
            else if (in->plan.launches[l].args[a].kind == ARG_STRUCT)
                return err_set(err,
                    "%s: %s is launched with a struct by value, %.200s, which --as %s cannot say; "
                    "`keet-opt patch` writes the kernel back into its file",
                    in->page->db_path, in->plan.launches[l].kernel,
                    in->plan.launches[l].args[a].name, format);
    return true;
}

bool export_make(
    const char *format, const struct page *page, struct export_files *files, struct err *err)
{
    struct export_input input;

    *files = (struct export_files){0};
    for (unsigned i = 0; i < ARRAY_SIZE(makers); i++) {
        if (strcmp(export_formats[i], format) == 0)
            return export_input_read(&input, page, err) && can_be_said(&input, format, err) &&
                   makers[i](&input, files, err);
    }
    return err_set(err, "no format is called %s", format);
}

void export_finish(struct export_files *files)
{
    for (unsigned i = 0; i < files->nr; i++)
        str_finish(&files->file[i].text);
}
