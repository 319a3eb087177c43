/* Owns the ELF side of cubins: sections, symbols, NVIDIA's attributes, and the relocations of line
 * programs. */
#include "nv/cubin.h"

#include "base/mem.h"
#include "nv/cubin_bytes.h"

#include <elf.h>
#include <stdlib.h>

enum {
    OSABI_CUDA = 0x41, /* since CUDA 13; before, 0x33, and the architecture lies a byte lower */
    EM_NVIDIA = 190,
    SYMBOL_IS_ENTRY = 0x10 /* in st_other */
};

/* The formats of attributes, and the attributes that we read. */
enum { FORMAT_NONE = 1, FORMAT_BYTE, FORMAT_HALF, FORMAT_SIZED };
enum {
    ATTR_MAX_THREADS = 0x05,
    ATTR_FRAME_SIZE = 0x11,
    ATTR_PARAMS_BYTES = 0x19,
    ATTR_MIN_STACK_SIZE = 0x12,
    ATTR_REGISTERS = 0x2f,
    ATTR_BARRIERS = 0x4c
};

struct section {
    struct bytes content;
    const char *name; /* never NULL */
    uint32_t type, link, info;
    uint64_t bytes; /* sh_size: also of sections that take no place in the file */
};

struct elf_symbol {
    const char *name;
    uint8_t info, other;
    uint16_t section;
    uint64_t value, bytes;
};

struct cubin_reader {
    struct bytes file;
    struct section *sections;
    uint32_t nr_sections;
    struct section symbols; /* content empty: there are none */
    struct arena *arena;
    struct cubin *cubin;
    uint32_t *kernel_of; /* of each section: 1 and up; 0: no kernel's */
};

static bool read_header(struct cubin_reader *r, const char **why)
{
    const struct bytes f = r->file;
    const uint64_t table = bytes_number(f, offsetof(Elf64_Ehdr, e_shoff), 8);
    const uint64_t nr = bytes_number(f, offsetof(Elf64_Ehdr, e_shnum), 2);
    const uint32_t flags = (uint32_t)bytes_number(f, offsetof(Elf64_Ehdr, e_flags), 4);

    if (f.len < sizeof(Elf64_Ehdr) || memcmp(f.at, ELFMAG, SELFMAG) != 0) {
        *why = "it is no ELF file";
        return false;
    }
    if (f.at[EI_CLASS] != ELFCLASS64 || f.at[EI_DATA] != ELFDATA2LSB ||
        bytes_number(f, offsetof(Elf64_Ehdr, e_machine), 2) != EM_NVIDIA) {
        *why = "it is an ELF file, but not for an NVIDIA GPU";
        return false;
    }
    if (bytes_number(f, offsetof(Elf64_Ehdr, e_shentsize), 2) != sizeof(Elf64_Shdr) ||
        bytes_part(f, table, nr * sizeof(Elf64_Shdr)).len != nr * sizeof(Elf64_Shdr) || nr == 0) {
        *why = "its table of sections does not lie within it";
        return false;
    }
    r->cubin->arch = f.at[EI_OSABI] == OSABI_CUDA ? flags >> 8 & 0xff : flags & 0xff;
    r->nr_sections = (uint32_t)nr;
    return true;
}

static bool read_sections(struct cubin_reader *r, const char **why)
{
    const uint64_t table = bytes_number(r->file, offsetof(Elf64_Ehdr, e_shoff), 8);
    const uint64_t names = bytes_number(r->file, offsetof(Elf64_Ehdr, e_shstrndx), 2);
    struct bytes name_bytes;

    r->sections = xcalloc(r->nr_sections, sizeof(*r->sections));
    for (uint32_t i = 0; i < r->nr_sections; i++) {
        struct section *s = &r->sections[i];
        const struct bytes h =
            bytes_part(r->file, table + i * sizeof(Elf64_Shdr), sizeof(Elf64_Shdr));
        const uint64_t at = bytes_number(h, offsetof(Elf64_Shdr, sh_offset), 8);

        s->type = (uint32_t)bytes_number(h, offsetof(Elf64_Shdr, sh_type), 4);
        s->link = (uint32_t)bytes_number(h, offsetof(Elf64_Shdr, sh_link), 4);
        s->info = (uint32_t)bytes_number(h, offsetof(Elf64_Shdr, sh_info), 4);
        s->bytes = bytes_number(h, offsetof(Elf64_Shdr, sh_size), 8);
        if (s->type == SHT_NOBITS || s->type == SHT_NULL)
            continue;
        s->content = bytes_part(r->file, at, s->bytes);
        if (s->content.len != s->bytes) {
            *why = "one of its sections does not lie within it";
            return false;
        }
    }
    name_bytes = names < r->nr_sections ? r->sections[names].content : (struct bytes){0};
    for (uint32_t i = 0; i < r->nr_sections; i++) {
        const uint64_t at = bytes_number(
            r->file, table + i * sizeof(Elf64_Shdr) + offsetof(Elf64_Shdr, sh_name), 4);
        const char *name = bytes_text(name_bytes, at);

        r->sections[i].name = name != NULL ? name : "";
        if (r->sections[i].type == SHT_SYMTAB && r->symbols.content.len == 0)
            r->symbols = r->sections[i];
    }
    return true;
}

static const struct section *find_section(const struct cubin_reader *r, const char *name)
{
    for (uint32_t i = 0; i < r->nr_sections; i++)
        if (strcmp(r->sections[i].name, name) == 0)
            return &r->sections[i];
    return NULL;
}

static uint64_t nr_symbols(const struct cubin_reader *r)
{
    return r->symbols.content.len / sizeof(Elf64_Sym);
}

static bool read_symbol(const struct cubin_reader *r, uint64_t i, struct elf_symbol *symbol)
{
    const struct bytes s = bytes_part(r->symbols.content, i * sizeof(Elf64_Sym), sizeof(Elf64_Sym));

    if (i >= nr_symbols(r))
        return false;
    *symbol = (struct elf_symbol){
        .name = r->symbols.link < r->nr_sections
                    ? bytes_text(r->sections[r->symbols.link].content, bytes_number(s, 0, 4))
                    : NULL,
        .info = s.at[offsetof(Elf64_Sym, st_info)],
        .other = s.at[offsetof(Elf64_Sym, st_other)],
        .section = (uint16_t)bytes_number(s, offsetof(Elf64_Sym, st_shndx), 2),
        .value = bytes_number(s, offsetof(Elf64_Sym, st_value), 8),
        .bytes = bytes_number(s, offsetof(Elf64_Sym, st_size), 8),
    };
    return true;
}

/* A kernel is a function that is marked as an entry and has a section of code of its own. */
static void read_kernels(struct cubin_reader *r)
{
    struct cubin_kernel *kernels = NULL;
    size_t cap = 0;
    struct elf_symbol s;

    r->kernel_of = xcalloc(r->nr_sections, sizeof(*r->kernel_of));
    for (uint64_t i = 0; read_symbol(r, i, &s); i++) {
        if (ELF64_ST_TYPE(s.info) != STT_FUNC || (s.other & SYMBOL_IS_ENTRY) == 0 ||
            s.name == NULL || s.section >= r->nr_sections || r->kernel_of[s.section] != 0)
            continue;
        kernels = grow(kernels, &cap, r->cubin->nr_kernels + 1, sizeof(*kernels));
        kernels[r->cubin->nr_kernels++] = (struct cubin_kernel){
            .name = s.name,
            .code = r->sections[s.section].content.at,
            .code_bytes = r->sections[s.section].content.len,
        };
        r->kernel_of[s.section] = r->cubin->nr_kernels;
    }
    r->cubin->kernels = arena_array(r->arena, r->cubin->nr_kernels, sizeof(*kernels));
    if (r->cubin->nr_kernels > 0)
        memcpy(r->cubin->kernels, kernels, r->cubin->nr_kernels * sizeof(*kernels));
    free(kernels);
}

/* A variable is an object in one of the sections for them. */
static void read_variables(struct cubin_reader *r)
{
    struct cubin_variable *variables = NULL;
    size_t cap = 0;
    struct elf_symbol s;

    for (uint64_t i = 0; read_symbol(r, i, &s); i++) {
        const char *section = s.section < r->nr_sections ? r->sections[s.section].name : "";
        const bool constant = strcmp(section, ".nv.constant3") == 0;

        if (ELF64_ST_TYPE(s.info) != STT_OBJECT || s.name == NULL || s.bytes == 0 ||
            !(constant || strncmp(section, ".nv.global", 10) == 0))
            continue;
        variables = grow(variables, &cap, r->cubin->nr_variables + 1, sizeof(*variables));
        variables[r->cubin->nr_variables++] = (struct cubin_variable){s.name, s.bytes, constant};
    }
    r->cubin->variables = arena_array(r->arena, r->cubin->nr_variables, sizeof(*variables));
    if (r->cubin->nr_variables > 0)
        memcpy(r->cubin->variables, variables, r->cubin->nr_variables * sizeof(*variables));
    free(variables);
}

/* The kernel whose code a section holds, NULL when none does. */
static struct cubin_kernel *kernel_in(const struct cubin_reader *r, uint32_t section)
{
    const uint32_t kernel = section < r->nr_sections ? r->kernel_of[section] : 0;

    return kernel > 0 ? &r->cubin->kernels[kernel - 1] : NULL;
}

/* --- attributes --- */

static void set_attribute(struct cubin_kernel *k, unsigned attribute, struct bytes value)
{
    switch (attribute) {
    case ATTR_REGISTERS:
        k->registers = (uint32_t)bytes_number(value, 0, 4);
        break;
    case ATTR_FRAME_SIZE:
        k->frame_bytes = (uint32_t)bytes_number(value, 0, 4);
        break;
    case ATTR_MIN_STACK_SIZE:
        k->stack_bytes = (uint32_t)bytes_number(value, 0, 4);
        break;
    case ATTR_MAX_THREADS: { /* of each direction of the block */
        const uint64_t x = bytes_number(value, 0, 4), y = bytes_number(value, 4, 4),
                       z = bytes_number(value, 8, 4);
        const uint64_t most = 1024;

        if (x <= most && y <= most && z <= most)
            k->max_threads = (uint32_t)(x * y * z);
        break;
    }
    case ATTR_PARAMS_BYTES:
        k->params_bytes = (uint32_t)bytes_number(value, 0, 2);
        break;
    case ATTR_BARRIERS:
        k->nr_barriers = (uint32_t)bytes_number(value, 0, 1);
        break;
    default:
        break;
    }
}

/* Reads the attributes of one kernel; kernel NULL: those of all kernels, each with its symbol. */
static void read_attributes(
    const struct cubin_reader *r, struct bytes info, struct cubin_kernel *kernel)
{
    uint64_t at = 0;

    while (at + 4 <= info.len) {
        const unsigned format = info.at[at], attribute = info.at[at + 1];
        const uint64_t bytes = format == FORMAT_SIZED ? bytes_number(info, at + 2, 2) : 0;
        const struct bytes value =
            format == FORMAT_SIZED ? bytes_part(info, at + 4, bytes) : bytes_part(info, at + 2, 2);
        struct cubin_kernel *k = kernel;
        struct elf_symbol symbol;

        if (format < FORMAT_NONE || format > FORMAT_SIZED || value.len == 0)
            return; /* the next attributes cannot be told apart */
        if (k == NULL && value.len >= 8 && read_symbol(r, bytes_number(value, 0, 4), &symbol))
            k = kernel_in(r, symbol.section);
        if (k != NULL)
            set_attribute(
                k, attribute, kernel != NULL ? value : bytes_part(value, 4, value.len - 4));
        at += 4 + bytes;
    }
}

static void read_facts(struct cubin_reader *r)
{
    const struct section *all = find_section(r, ".nv.info");
    /* Since compute capability 9.0 the section has what the system keeps of a block's memory too.
     */
    const uint64_t reserved = r->cubin->arch >= 90 ? 1024 : 0;

    if (all != NULL)
        read_attributes(r, all->content, NULL);
    for (uint32_t i = 0; i < r->nr_sections; i++) {
        const struct section *s = &r->sections[i];
        struct cubin_kernel *k = kernel_in(r, s->info);

        if (k == NULL)
            continue;
        if (strncmp(s->name, ".nv.info.", 9) == 0)
            read_attributes(r, s->content, k);
        else if (strncmp(s->name, ".nv.shared.", 11) == 0 && strcmp(s->name + 11, k->name) == 0)
            k->smem_static_bytes = s->bytes > reserved ? s->bytes - reserved : 0;
    }
}

/* --- lines --- */

static int by_offset(const void *a, const void *b)
{
    const struct cubin_place *x = a, *y = b;

    return x->offset < y->offset ? -1 : x->offset > y->offset;
}

/* The relocations of .debug_line. */
static struct cubin_place *read_places(
    const struct cubin_reader *r, struct bytes relocations, size_t *nr)
{
    const size_t most = relocations.len / sizeof(Elf64_Rela);
    struct cubin_place *places = xcalloc(most + 1, sizeof(*places));

    *nr = 0;
    for (size_t i = 0; i < most; i++) {
        const uint64_t at = i * sizeof(Elf64_Rela);
        struct elf_symbol symbol;

        if (!read_symbol(r, bytes_number(relocations, at + 8, 8) >> 32, &symbol))
            continue;
        places[(*nr)++] = (struct cubin_place){
            .offset = bytes_number(relocations, at, 8),
            .section = symbol.section,
            .value = symbol.value + bytes_number(relocations, at + 16, 8),
        };
    }
    qsort(places, *nr, sizeof(*places), by_offset);
    return places;
}

/* A row with its section and its place in the program. */
struct sorted_row {
    struct cubin_row row;
    uint32_t section;
    size_t index;
};

static int by_place(const void *a, const void *b)
{
    const struct sorted_row *x = a, *y = b;

    if (x->section != y->section)
        return x->section < y->section ? -1 : 1;
    if (x->row.address != y->row.address)
        return x->row.address < y->row.address ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index; /* the later row of an address holds */
}

/* Gives each kernel the rows of its section. */
static void give_rows(struct cubin_reader *r, const struct cubin_lines *lines)
{
    struct sorted_row *all = xcalloc(lines->nr + 1, sizeof(*all));
    struct cubin_row *rows = arena_array(r->arena, lines->nr, sizeof(*rows));

    for (size_t i = 0; i < lines->nr; i++)
        all[i] = (struct sorted_row){lines->rows[i], lines->sections[i], i};
    qsort(all, lines->nr, sizeof(*all), by_place);
    for (size_t i = 0; i < lines->nr; i++) {
        struct cubin_kernel *k = kernel_in(r, all[i].section);

        rows[i] = all[i].row;
        if (k == NULL)
            continue;
        if (k->nr_rows++ == 0)
            k->rows = &rows[i];
    }
    free(all);
}

static void read_lines(struct cubin_reader *r)
{
    const struct section *program = find_section(r, ".debug_line");
    const struct section *relocations = find_section(r, ".rela.debug_line");
    struct cubin_lines lines = {0};
    struct cubin_place *places;
    size_t nr_places;

    if (program == NULL || relocations == NULL)
        return;
    places = read_places(r, relocations->content, &nr_places);
    cubin_lines_read(program->content, places, nr_places, &lines);
    give_rows(r, &lines);
    free(lines.rows);
    free(lines.sections);
    free(places);
}

bool cubin_read(
    const void *bytes, size_t len, struct arena *arena, struct cubin *cubin, const char **why)
{
    struct cubin_reader r = {.file = {bytes, len}, .arena = arena, .cubin = cubin};
    bool ok;

    *cubin = (struct cubin){0};
    ok = read_header(&r, why) && read_sections(&r, why);
    if (ok) {
        read_kernels(&r);
        read_variables(&r);
        read_facts(&r);
        read_lines(&r);
    }
    free(r.sections);
    free(r.kernel_of);
    return ok;
}

const struct cubin_kernel *cubin_find(const struct cubin *cubin, const char *name)
{
    for (unsigned i = 0; i < cubin->nr_kernels; i++)
        if (strcmp(cubin->kernels[i].name, name) == 0)
            return &cubin->kernels[i];
    return NULL;
}

uint32_t cubin_line(const struct cubin_kernel *kernel, uint64_t address)
{
    size_t low = 0, high = kernel->nr_rows;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (kernel->rows[middle].address <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 ? kernel->rows[low - 1].line : 0;
}
