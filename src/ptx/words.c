/* Owns the tables of opcodes' and modifiers' names. */
#include "ptx/words.h"

#include "base/mem.h"

#include <string.h>

static const struct word table[] = {
#define WORD(text, field, value) {text, FIELD_##field, value},
#include "ptx/words.def"
#undef WORD
};

static uint32_t hash_of(const char *text, uint32_t len)
{
    uint32_t hash = 2166136261u;
    uint32_t i;

    for (i = 0; i < len; i++)
        hash = (hash ^ (unsigned char)text[i]) * 16777619u;
    return hash ^ hash >> 15;
}

static bool is_text(const char *name, const char *text, uint32_t len)
{
    return !strncmp(name, text, len) && !name[len];
}

void words_init(struct ptx_words *words)
{
    uint32_t i, slot;

    _Static_assert(NR_PTX_OPS < 256, "op_slots would be crowded");
    _Static_assert(ARRAY_SIZE(table) < 512, "word_slots would be crowded");
    memset(words, 0, sizeof(*words));
    for (i = 0; i < NR_PTX_OPS; i++) {
        const char *name = ptx_op_name((enum ptx_op)i);
        slot = hash_of(name, (uint32_t)strlen(name)) % ARRAY_SIZE(words->op_slots);
        while (words->op_slots[slot])
            slot = (slot + 1) % ARRAY_SIZE(words->op_slots);
        words->op_slots[slot] = (uint16_t)(i + 1);
    }
    for (i = 0; i < ARRAY_SIZE(table); i++) {
        const char *name = table[i].text;
        slot = hash_of(name, (uint32_t)strlen(name)) % ARRAY_SIZE(words->word_slots);
        while (words->word_slots[slot])
            slot = (slot + 1) % ARRAY_SIZE(words->word_slots);
        words->word_slots[slot] = (uint16_t)(i + 1);
    }
}

bool words_find_op(const struct ptx_words *words, const char *text, uint32_t len, enum ptx_op *op)
{
    uint32_t slot = hash_of(text, len) % ARRAY_SIZE(words->op_slots);

    for (; words->op_slots[slot]; slot = (slot + 1) % ARRAY_SIZE(words->op_slots)) {
        const enum ptx_op found = (enum ptx_op)(words->op_slots[slot] - 1);
        if (is_text(ptx_op_name(found), text, len)) {
            *op = found;
            return true;
        }
    }
    return false;
}

const struct word *words_find(
    const struct ptx_words *words, const char *text, uint32_t len, uint64_t mask, bool *known)
{
    uint32_t slot = hash_of(text, len) % ARRAY_SIZE(words->word_slots);

    *known = false;
    for (; words->word_slots[slot]; slot = (slot + 1) % ARRAY_SIZE(words->word_slots)) {
        const struct word *word = &table[words->word_slots[slot] - 1];
        const int bit = word->field == FIELD_FLAG ? word->value : (int)word->field;
        if (!is_text(word->text, text, len))
            continue;
        *known = true;
        if (mask >> bit & 1)
            return word;
    }
    return NULL;
}
