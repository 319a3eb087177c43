/* Owns the linker (cuLink*): PTX texts joined to one, which is the "cubin" that modules load. */
#include "swdriver/sw_state.h"

#include "base/arena.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"
#include "ptx/ptx.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_FILE_BYTES = 256 << 20 };

struct CUlinkState_st {
    CUlinkState next;
    struct str text;
    char *log; /* the caller's buffer; NULL: none */
    size_t log_bytes;
};

static CUlinkState links;

static CUresult find_link(CUlinkState link)
{
    CUlinkState l = links;

    while (l != NULL && l != link)
        l = l->next;
    return l != NULL ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

static void say(CUlinkState link, const char *text)
{
    if (link->log != NULL && link->log_bytes > 0)
        snprintf(link->log, link->log_bytes, "%s", text);
}

CUresult CUDAAPI cuLinkCreate(
    unsigned nr_options, CUjit_option *options, void **values, CUlinkState *link)
{
    CUcontext ctx;
    CUresult code = sw_begin(&ctx);

    if (code == CUDA_SUCCESS && (link == NULL || (nr_options > 0 && !(options && values))))
        code = CUDA_ERROR_INVALID_VALUE;
    if (code != CUDA_SUCCESS)
        return sw_end(code);
    *link = xcalloc(1, sizeof(**link));
    for (unsigned i = 0; i < nr_options; i++) {
        if (options[i] == CU_JIT_ERROR_LOG_BUFFER)
            (*link)->log = values[i];
        else if (options[i] == CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES)
            (*link)->log_bytes = (size_t)(uintptr_t)values[i];
    }
    (*link)->next = links;
    links = *link;
    return sw_end(CUDA_SUCCESS);
}

/* One module has one header: those of the second text and later ones are left out. */
static bool is_header(const char *line)
{
    static const char *const words[] = {".version", ".target", ".address_size"};

    while (*line == ' ' || *line == '\t')
        line++;
    for (size_t i = 0; i < ARRAY_SIZE(words); i++)
        if (str_starts(line, words[i]))
            return true;
    return false;
}

static void join(struct str *all, const char *text, size_t len)
{
    const bool first = all->len == 0;
    const char *const end = text + strnlen(text, len);

    while (text < end) {
        const char *eol = memchr(text, '\n', (size_t)(end - text));
        const size_t bytes = eol != NULL ? (size_t)(eol - text) : (size_t)(end - text);
        char start[32];

        snprintf(start, sizeof(start), "%.*s", (int)(bytes < 31 ? bytes : 31), text);
        if (first || !is_header(start))
            str_add_n(all, text, bytes);
        str_add_char(all, '\n');
        text += bytes + (eol != NULL);
    }
}

/* Text where machine code is expected came from cuLinkComplete. */
static CUresult add(CUlinkState link, CUjitInputType type, const void *data, size_t bytes)
{
    if (data == NULL || bytes == 0)
        return CUDA_ERROR_INVALID_VALUE;
    if ((type != CU_JIT_INPUT_PTX && type != CU_JIT_INPUT_CUBIN) || bytes < 4 ||
        sw_is_machine_code(data)) {
        say(link, "the software driver links PTX text only");
        return CUDA_ERROR_NOT_SUPPORTED;
    }
    join(&link->text, data, bytes);
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuLinkAddData(CUlinkState link, CUjitInputType type, void *data, size_t bytes,
    const char *name, unsigned nr_options, CUjit_option *options, void **values)
{
    CUcontext ctx;
    CUresult code = sw_begin(&ctx);

    if (code == CUDA_SUCCESS)
        code = find_link(link);
    if (code == CUDA_SUCCESS)
        code = add(link, type, data, bytes);
    return sw_end(code);
}

CUresult CUDAAPI cuLinkAddFile(CUlinkState link, CUjitInputType type, const char *path,
    unsigned nr_options, CUjit_option *options, void **values)
{
    struct err err;
    CUresult code;
    size_t bytes;
    char *data;

    if (path == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    if (!file_read(path, MAX_FILE_BYTES, &data, &bytes, &err))
        return CUDA_ERROR_FILE_NOT_FOUND;
    code = cuLinkAddData(link, type, data, bytes, path, 0, NULL, NULL);
    free(data);
    return code;
}

CUresult CUDAAPI cuLinkComplete(CUlinkState link, void **cubin, size_t *bytes)
{
    struct ptx_problem problem;
    struct ptx_module *module;
    CUcontext ctx;
    CUresult code = sw_begin(&ctx);

    if (code == CUDA_SUCCESS && cubin == NULL)
        code = CUDA_ERROR_INVALID_VALUE;
    if (code == CUDA_SUCCESS)
        code = find_link(link);
    if (code != CUDA_SUCCESS)
        return sw_end(code);
    module = ptx_parse(str_text(&link->text), link->text.len, &problem);
    if (module == NULL) {
        say(link, problem.text);
        return sw_end(problem.unsupported ? CUDA_ERROR_NOT_SUPPORTED : CUDA_ERROR_INVALID_PTX);
    }
    ptx_destroy(module);
    *cubin = link->text.text;
    if (bytes != NULL)
        *bytes = link->text.len + 1; /* with its NUL: modules are loaded by address alone */
    return sw_end(CUDA_SUCCESS);
}

CUresult CUDAAPI cuLinkDestroy(CUlinkState link)
{
    CUresult code = sw_begin_any();
    CUlinkState *at = &links;

    if (code == CUDA_SUCCESS)
        code = find_link(link);
    if (code != CUDA_SUCCESS)
        return sw_end(code);
    while (*at != link)
        at = &(*at)->next;
    *at = link->next;
    str_finish(&link->text);
    free(link);
    return sw_end(CUDA_SUCCESS);
}
