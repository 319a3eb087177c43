/* Owns the look at a program before it runs: which CUDA runtime it is linked with. */
#include "capture/capture.h"

#include "base/file.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_BYTES = 1 << 30 };

struct elf {
    const char *bytes;
    size_t len;
    const Elf64_Shdr *sections;
    unsigned nr_sections;
    const char *names;
};

static const void *part(const struct elf *elf, uint64_t at, uint64_t bytes)
{
    return at <= elf->len && bytes <= elf->len - at ? elf->bytes + at : NULL;
}

static bool open_elf(struct elf *elf, const char *bytes, size_t len)
{
    const Elf64_Ehdr *head = (const void *)bytes;
    const Elf64_Shdr *names;

    *elf = (struct elf){.bytes = bytes, .len = len};
    if (len < sizeof(*head) || memcmp(bytes, ELFMAG, SELFMAG) != 0 ||
        head->e_ident[EI_CLASS] != ELFCLASS64 || head->e_shentsize != sizeof(*names))
        return false;
    elf->sections = part(elf, head->e_shoff, (uint64_t)head->e_shnum * sizeof(*names));
    elf->nr_sections = head->e_shnum;
    if (elf->sections == NULL || head->e_shstrndx >= elf->nr_sections)
        return false;
    names = &elf->sections[head->e_shstrndx];
    elf->names = part(elf, names->sh_offset, names->sh_size);
    return elf->names != NULL && names->sh_size > 0 && elf->names[names->sh_size - 1] == '\0';
}

static const Elf64_Shdr *section(const struct elf *elf, const char *name)
{
    for (unsigned i = 0; i < elf->nr_sections; i++) {
        const Elf64_Word at = elf->sections[i].sh_name;

        if (strcmp(elf->names + at, name) == 0)
            return &elf->sections[i];
    }
    return NULL;
}

/* A library that the program needs, whose name begins so; NULL: none. */
static const char *needed(const struct elf *elf, const char *prefix)
{
    const Elf64_Shdr *dynamic = section(elf, ".dynamic"), *strings = section(elf, ".dynstr");
    const Elf64_Dyn *entries = NULL;
    const char *text = NULL;

    if (dynamic != NULL && strings != NULL) {
        entries = part(elf, dynamic->sh_offset, dynamic->sh_size);
        text = part(elf, strings->sh_offset, strings->sh_size);
    }
    if (entries == NULL || text == NULL)
        return NULL;
    for (size_t i = 0; i < dynamic->sh_size / sizeof(*entries); i++)
        if (entries[i].d_tag == DT_NEEDED && entries[i].d_un.d_val < strings->sh_size &&
            str_starts(text + entries[i].d_un.d_val, prefix))
            return text + entries[i].d_un.d_val;
    return NULL;
}

/* Where a shell would find it; NULL: nowhere. */
static char *find_program(const char *program)
{
    const char *paths = getenv("PATH");
    struct str path = {0};

    if (strchr(program, '/') != NULL || paths == NULL)
        return file_is_regular(program) ? strdup(program) : NULL;
    for (const char *at = paths; *at != '\0'; at += strcspn(at, ":"), at += *at == ':') {
        str_clear(&path);
        str_addf(&path, "%.*s/%s", (int)strcspn(at, ":"), at, program);
        if (file_is_regular(str_text(&path)))
            return str_take(&path);
    }
    str_finish(&path);
    return NULL;
}

static bool check(const struct elf *elf, const char *program, struct err *err)
{
    const char *runtime = needed(elf, "libcudart.so.");

    if (runtime == NULL && section(elf, ".nv_fatbin") != NULL)
        return err_set(err,
            "%s is linked with the static CUDA runtime, which asks for a GPU. Build it again with "
            "the shared one; no file changes:\n    NVCC_APPEND_FLAGS=\"-cudart shared\" make\n"
            "(after make clean, or whatever makes nvcc link it anew)",
            program);
    if (runtime != NULL && strcmp(runtime, "libcudart.so.13") != 0 &&
        strcmp(runtime, "libcudart.so.12") != 0)
        return err_set(err,
            "%s is built for %s; the software runtime is that of CUDA 12 and 13: build it with "
            "one of them",
            program, runtime);
    return true;
}

bool capture_check_program(const char *program, struct err *err)
{
    char *path = find_program(program), *bytes;
    struct elf elf;
    size_t len;
    bool ok;

    if (path == NULL)
        return err_set(err, "there is no program %s", program);
    ok = file_read(path, MOST_BYTES, &bytes, &len, err);
    free(path);
    if (!ok)
        return false;
    ok = !open_elf(&elf, bytes, len) || check(&elf, program, err);
    free(bytes);
    return ok;
}
