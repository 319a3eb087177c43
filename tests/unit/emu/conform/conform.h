/* For the conformance tests: forms of an operation made from its types and modifiers, run on the
 * harness's edge cases against one reference function, which reads what the form is from `now`. */
#ifndef KEET_TESTS_CONFORM_H
#define KEET_TESTS_CONFORM_H

#include "conform_syntax.h"
#include "emu/sem/sem.h"
#include "emu_harness.h"

enum conform_type {
    U16,
    S16,
    U32,
    S32,
    U64,
    S64,
    B16,
    B32,
    B64,
    U8,
    S8,
    F16,
    BF16,
    F32,
    F64,
    NR_TYPES
};
static const char *const type_names[NR_TYPES] = {"u16", "s16", "u32", "s32", "u64", "s64", "b16",
    "b32", "b64", "u8", "s8", "f16", "bf16", "f32", "f64"};
static const unsigned type_bytes[NR_TYPES] = {2, 2, 4, 4, 8, 8, 2, 4, 8, 1, 1, 2, 2, 4, 8};

/* The form under test: what the reference needs to know. */
static struct {
    enum conform_type type, type2;
    const char *op;
    unsigned mode; /* the operation's own: rounding, comparison, which half ... */
    bool ftz, sat, flag;
} now;

/* Is this one of the modifiers, or the beginning of one with "::"? */
static inline bool has_word(const char *modifiers, const char *word)
{
    const size_t len = strlen(word);
    for (const char *at = strstr(modifiers, word); at; at = strstr(at + 1, word)) {
        if (at > modifiers && at[-1] == '.' && (!at[len] || at[len] == '.' || at[len] == ':'))
            return true;
    }
    return false;
}

static unsigned nr_forms;

static inline bool is_signed_type(enum conform_type t)
{
    return t == S8 || t == S16 || t == S32 || t == S64;
}

/* Where forms are many and alike: one instruction set for each form, in turns. */
static bool sets_take_turns;

/* Runs a form on every instruction set; D, A, B, C have these bytes, 0: not used. */
static inline void run_form(const char *text, unsigned d, unsigned a, unsigned b, unsigned c,
    uint64_t (*ref)(uint64_t, uint64_t, uint64_t), double tolerance)
{
    const struct op_case form = {text, d, a, b, c, ref, tolerance};
    const bool all = !sets_take_turns || !sem_use(SEM_AVX512);

    for (enum sem_isa isa = SEM_BASE; isa <= SEM_AVX512; isa++) {
        if ((all || isa == nr_forms % 3) && sem_use(isa))
            run_op(&form);
    }
    nr_forms++;
    note_forms(text);
}

#endif
