/* Owns a module's variables in the worker: launches find them as they were after loading, or as
 * they were before the first of the launches that are timed. */
#include "device/worker_child.h"

#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The name of the variable that a line of PTX outside functions defines: the last word before its
 * extent, its contents or its end. 0 bytes: the line defines none that a kernel may write. */
static size_t variable_of(const char *line, const char **name)
{
    const size_t bytes = strcspn(line, "\n");
    const char *global = strstr(line, ".global"), *end;

    if (*line != '.' || !global || global >= line + bytes || strncmp(line, ".extern", 7) == 0 ||
        memchr(line, '(', bytes))
        return 0;
    end = global + strcspn(global, "[=;\n");
    while (end > global && end[-1] == ' ')
        end--;
    for (*name = end; *name > global && (*name)[-1] != ' ';)
        --*name;
    return *name > global ? (size_t)(end - *name) : 0;
}

static CUresult copy_of(struct child *child, const struct child_variable *v, CUdeviceptr *address)
{
    CUresult code = *address == 0 ? child->driver->mem_alloc(address, v->bytes) : CUDA_SUCCESS;

    if (code == CUDA_SUCCESS)
        code = child->driver->copy_on_device(*address, v->address, v->bytes);
    return code == CUDA_SUCCESS ? child->driver->ctx_synchronize() : code;
}

/* A name that the driver does not know is none that the code uses. */
static CUresult add_variable(
    struct child *child, struct child_module *m, const char *name, size_t name_bytes)
{
    struct child_variable v = {0};
    char text[WORKER_NAME_BYTES];
    size_t bytes = 0;
    CUresult code;

    snprintf(text, sizeof(text), "%.*s", (int)name_bytes, name);
    if (child->driver->module_global(&v.address, &bytes, m->handle, text) != CUDA_SUCCESS ||
        bytes == 0)
        return CUDA_SUCCESS;
    v.bytes = bytes;
    code = copy_of(child, &v, &v.loaded);
    if (code != CUDA_SUCCESS)
        return code;
    m->variables = xrealloc(m->variables, (m->nr_variables + 1) * sizeof(v));
    m->variables[m->nr_variables++] = v;
    return CUDA_SUCCESS;
}

CUresult child_variables_find(struct child *child, struct child_module *m, const char *ptx)
{
    CUresult code = CUDA_SUCCESS;

    for (const char *line = ptx; code == CUDA_SUCCESS && *line;) {
        const char *name;
        const size_t bytes = variable_of(line, &name);

        if (bytes > 0)
            code = add_variable(child, m, name, bytes);
        line += strcspn(line, "\n");
        line += *line == '\n';
    }
    return code;
}

void child_variables_forget(struct child *child, struct child_module *m)
{
    for (unsigned i = 0; i < m->nr_variables; i++) {
        child->driver->mem_free(m->variables[i].loaded);
        if (m->variables[i].marked != 0)
            child->driver->mem_free(m->variables[i].marked);
    }
    free(m->variables);
    m->variables = NULL;
    m->nr_variables = 0;
}

CUresult child_variables_reset(struct child *child, const struct child_module *m)
{
    CUresult code = CUDA_SUCCESS;

    for (unsigned i = 0; code == CUDA_SUCCESS && i < m->nr_variables; i++) {
        const struct child_variable *v = &m->variables[i];

        code = child->driver->copy_on_device(v->address, v->loaded, v->bytes);
    }
    return code;
}

CUresult child_variables_mark(struct child *child, struct child_module *m)
{
    CUresult code = CUDA_SUCCESS;

    for (unsigned i = 0; code == CUDA_SUCCESS && i < m->nr_variables; i++)
        code = copy_of(child, &m->variables[i], &m->variables[i].marked);
    return code;
}

CUresult child_variables_to_mark(struct child *child, const struct child_module *m)
{
    CUresult code = CUDA_SUCCESS;

    for (unsigned i = 0; code == CUDA_SUCCESS && i < m->nr_variables; i++) {
        const struct child_variable *v = &m->variables[i];

        if (v->marked != 0)
            code =
                child->driver->copy_on_device_async(v->address, v->marked, v->bytes, child->stream);
    }
    return code;
}
