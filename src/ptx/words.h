/* Private to ptx: opcodes and modifiers by name, and what each opcode may have. */
#ifndef KEET_PTX_WORDS_H
#define KEET_PTX_WORDS_H

#include "ptx/ptx.h"

/* The questions that modifiers answer; each flag is a question of its own. A set of fields is a
 * mask. */
enum field {
    FIELD_TYPE,
    FIELD_SPACE,
    FIELD_ROUND,
    FIELD_CMP,
    FIELD_BOOL,
    FIELD_MUL,
    FIELD_ATOM,
    FIELD_SHFL,
    FIELD_VOTE,
    FIELD_PRMT,
    FIELD_VEC,
    FIELD_SEM,
    FIELD_SCOPE,
    FIELD_CACHE,
    FIELD_GEOM,
    FIELD_QUERY,
    FIELD_LAYOUT,
    FIELD_FRAG,
    FIELD_SUB,
    FIELD_IGNORE, /* a known word whose meaning stands in mods only */
    FIELD_SHAPE,  /* .m16n8k16 */
    FIELD_HINT,   /* .L1::no_allocate, .L2::128B, .L2::cache_hint */
    FIELD_FLAG,   /* the value is one of the following */
#define FLAG(name) FIELD_##name,
#define FLAGS                                                                                      \
    FLAG(expect_tx)                                                                                \
    FLAG(ftz)                                                                                      \
    FLAG(sat)                                                                                      \
    FLAG(approx)                                                                                   \
    FLAG(full)                                                                                     \
    FLAG(relu)                                                                                     \
    FLAG(nan)                                                                                      \
    FLAG(xorsign)                                                                                  \
    FLAG(abs)                                                                                      \
    FLAG(uni)                                                                                      \
    FLAG(to)                                                                                       \
    FLAG(wrap)                                                                                     \
    FLAG(clamp)                                                                                    \
    FLAG(volatile_)                                                                                \
    FLAG(sync)                                                                                     \
    FLAG(noftz)                                                                                    \
    FLAG(cc)                                                                                       \
    FLAG(nc)                                                                                       \
    FLAG(aligned)                                                                                  \
    FLAG(trans)                                                                                    \
    FLAG(satfinite)                                                                                \
    FLAG(po)                                                                                       \
    FLAG(shr7)                                                                                     \
    FLAG(shr15)                                                                                    \
    FLAG(async_)                                                                                   \
    FLAG(bulk)                                                                                     \
    FLAG(tensor) FLAG(parity) FLAG(read) FLAG(nocomplete) FLAG(noinc) FLAG(multicast) FLAG(sparse)
    FLAGS
#undef FLAG
        NR_FIELDS
};

struct word {
    const char *text;
    enum field field;
    int value;
};

struct ptx_words {
    uint16_t op_slots[512];    /* op + 1 */
    uint16_t word_slots[1024]; /* index into the table + 1; equal words follow each other */
};

void words_init(struct ptx_words *words);
bool words_find_op(const struct ptx_words *words, const char *text, uint32_t len, enum ptx_op *op);

/* The word's first meaning among the fields of the mask; NULL: none. *known: some modifier has this
 * name. */
const struct word *words_find(
    const struct ptx_words *words, const char *text, uint32_t len, uint64_t mask, bool *known);

/* What one opcode takes. Operands, destinations first: see verify.c for the letters. */
struct op_form {
    const char *operands; /* NULL: operands_by_word gives them */
    const char *(*operands_by_word)(const struct ptx_inst *inst);
    const char *types; /* which the first type may be, see letters_of; NULL: no check */
    uint8_t nr_types_min, nr_types_max;
    uint64_t fields;   /* allowed */
    uint64_t required; /* must be given */
};

const struct op_form *form_of(enum ptx_op op);
const char *form_operands(const struct ptx_inst *inst);
enum ptx_type form_widened(enum ptx_type type); /* the result of .wide */
bool form_allows_type(const struct op_form *form, enum ptx_type type);

#endif
