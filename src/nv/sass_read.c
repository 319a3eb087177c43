/* Owns the reading of machine code: 16 bytes per instruction since compute capability 7.0. */
#include "nv/sass_read.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

enum { INST_BYTES = 16, NR_OPS = 512, OLDEST_ARCH = 80, NEWEST_ARCH = 103 };
enum { OP_NOP = 0x118, OP_BRA = 0x147, OP_HGMMA = 0x1f0, OP_IGMMA = 0x1f1, OP_QGMMA = 0x1f3 };

struct op {
    const char *name;
    enum sass_class kind;
};

static const struct op ops[NR_OPS] = {
#define SASS_OP(bits, name, kind) [bits] = {name, SASS_##kind},
#include "nv/sass_ops.def"
#undef SASS_OP
};

struct sass_inst {
    uint64_t low, high;
};

static struct sass_inst inst_at(const uint8_t *code, size_t i)
{
    struct sass_inst inst;

    memcpy(&inst.low, code + i * INST_BYTES, 8); /* little endian, as the hosts are */
    memcpy(&inst.high, code + i * INST_BYTES + 8, 8);
    return inst;
}

static unsigned op_of(uint64_t low)
{
    return (unsigned)(low & (NR_OPS - 1));
}

const char *sass_mnemonic(uint64_t low)
{
    return ops[op_of(low)].name;
}

/* Widths by bits 73 to 75 of loads and stores: 8 bits unsigned and signed, 16 likewise, 32, 64,
 * 128. */
static unsigned access_bytes(struct sass_inst inst)
{
    static const uint8_t bytes[8] = {1, 1, 2, 2, 4, 8, 16, 0};

    return bytes[inst.high >> 9 & 7];
}

static void add_inst(struct sass_mix *mix, struct sass_inst inst)
{
    const struct op *op = &ops[op_of(inst.low)];
    const enum sass_class kind = op->name != NULL ? op->kind : SASS_OTHER;

    mix->nr++;
    mix->of[kind]++;
    mix->stall_cycles += (uint32_t)(inst.high >> 41 & 0xf); /* bits 105 to 108 */
    if (kind == SASS_GLOBAL_LOAD || kind == SASS_GLOBAL_STORE) {
        const unsigned bytes = access_bytes(inst);

        if (kind == SASS_GLOBAL_LOAD)
            mix->wide_loads += bytes >= 8;
        else
            mix->wide_stores += bytes >= 8;
        if (bytes > mix->widest_bytes)
            mix->widest_bytes = bytes;
    }
}

/* Does the product end a group for which a warp can wait? Bits 84 to 86 name its scoreboard: gsb0
 * and so on in nvdisasm, 7 none. */
static bool ends_group(struct sass_inst inst)
{
    return (inst.high >> 20 & 7) != 7;
}

static void add_product(struct sass_facts *facts, struct sass_inst inst)
{
    const unsigned op = op_of(inst.low);

    if (op != OP_HGMMA && op != OP_IGMMA && op != OP_QGMMA)
        return;
    facts->nr_wgmma++;
    facts->nr_wgmma_ends += ends_group(inst);
}

/* ptxas fills up a section with a branch to itself and NOPs. */
static size_t nr_of_code(const struct cubin_kernel *k)
{
    size_t nr = k->code_bytes / INST_BYTES;

    while (nr > 0 && op_of(inst_at(k->code, nr - 1).low) == OP_NOP)
        nr--;
    if (nr > 0 && op_of(inst_at(k->code, nr - 1).low) == OP_BRA)
        nr--;
    return nr;
}

/* One instruction and its line, to be sorted by line. */
struct inst_line {
    uint32_t line, index;
};

static int by_line(const void *a, const void *b)
{
    const struct inst_line *x = a, *y = b;

    return x->line < y->line ? -1 : x->line > y->line;
}

bool sass_read(const struct cubin *cubin, const struct cubin_kernel *kernel, struct arena *arena,
    struct sass_facts *facts)
{
    const size_t nr = nr_of_code(kernel);
    struct inst_line *placed;

    *facts = (struct sass_facts){0};
    if (cubin->arch < OLDEST_ARCH || cubin->arch > NEWEST_ARCH)
        return false;
    facts->arch = cubin->arch;
    placed = xcalloc(nr + 1, sizeof(*placed));
    for (size_t i = 0; i < nr; i++) {
        placed[i] = (struct inst_line){cubin_line(kernel, i * INST_BYTES), (uint32_t)i};
        add_inst(&facts->all, inst_at(kernel->code, i));
        add_product(facts, inst_at(kernel->code, i));
    }
    qsort(placed, nr, sizeof(*placed), by_line);
    for (size_t i = 0; i < nr; i++)
        facts->nr_lines += i == 0 || placed[i].line != placed[i - 1].line;
    facts->lines = arena_array(arena, facts->nr_lines, sizeof(*facts->lines));
    for (size_t i = 0, l = 0; i < nr; i++) {
        l += i > 0 && placed[i].line != placed[i - 1].line;
        facts->lines[l].line = placed[i].line;
        add_inst(&facts->lines[l].mix, inst_at(kernel->code, placed[i].index));
    }
    free(placed);
    return true;
}

bool sass_serial_products(const struct sass_facts *facts)
{
    return facts->nr_wgmma > 0 && facts->nr_wgmma_ends == facts->nr_wgmma;
}
