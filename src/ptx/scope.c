/* Owns the name table: hashing, shadowing, ranges. */
#include "ptx/scope.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

static uint32_t hash_of(const char *text, uint32_t len, bool is_range)
{
    uint32_t hash = is_range ? 2166136261u ^ 0x5bd1e995u : 2166136261u;
    uint32_t i;

    for (i = 0; i < len; i++)
        hash = (hash ^ (unsigned char)text[i]) * 16777619u;
    return hash ^ hash >> 15;
}

void scopes_init(struct scopes *scopes, struct arena *arena)
{
    *scopes = (struct scopes){.arena = arena, .nr_slots = 256};
    scopes->slots = xcalloc(scopes->nr_slots, sizeof(*scopes->slots));
}

void scopes_finish(struct scopes *scopes)
{
    free(scopes->slots);
    scopes->slots = NULL;
}

static struct scope_name **slot_of(
    struct scopes *scopes, const char *text, uint32_t len, bool is_range, uint32_t hash)
{
    uint32_t i = hash & (scopes->nr_slots - 1);

    while (scopes->slots[i]) {
        const struct scope_name *name = scopes->slots[i];
        if (name->hash == hash && name->len == len && name->is_range == is_range &&
            !memcmp(name->text, text, len))
            break;
        i = (i + 1) & (scopes->nr_slots - 1);
    }
    return &scopes->slots[i];
}

static void double_slots(struct scopes *scopes)
{
    struct scope_name **old = scopes->slots;
    const uint32_t nr_old = scopes->nr_slots;
    uint32_t i;

    scopes->nr_slots *= 2;
    scopes->slots = xcalloc(scopes->nr_slots, sizeof(*scopes->slots));
    for (i = 0; i < nr_old; i++) {
        if (old[i])
            *slot_of(scopes, old[i]->text, old[i]->len, old[i]->is_range, old[i]->hash) = old[i];
    }
    free(old);
}

bool scopes_enter(struct scopes *scopes)
{
    if (scopes->depth == MAX_DEPTH)
        return false;
    scopes->declared[++scopes->depth] = NULL;
    return true;
}

void scopes_leave(struct scopes *scopes)
{
    const struct symbol_binding *binding;

    for (binding = scopes->declared[scopes->depth]; binding; binding = binding->next_in_scope)
        binding->name->top = binding->shadowed;
    scopes->depth--;
}

struct symbol_binding *scopes_bind(
    struct scopes *scopes, enum bound kind, const char *text, uint32_t len)
{
    const bool is_range = kind == BOUND_RANGE;
    const uint32_t hash = hash_of(text, len, is_range);
    struct scope_name **slot = slot_of(scopes, text, len, is_range, hash);
    struct scope_name *name = *slot;
    struct symbol_binding *binding;

    if (name && name->top && name->top->depth == scopes->depth)
        return NULL;
    if (!name) {
        name = arena_alloc(scopes->arena, sizeof(*name));
        *name = (struct scope_name){.text = text, .len = len, .is_range = is_range, .hash = hash};
        *slot = name;
        if (++scopes->nr_names * 2 > scopes->nr_slots)
            double_slots(scopes);
    }
    binding = arena_alloc(scopes->arena, sizeof(*binding));
    binding->kind = kind;
    binding->depth = scopes->depth;
    binding->name = name;
    binding->shadowed = name->top;
    binding->next_in_scope = scopes->declared[scopes->depth];
    scopes->declared[scopes->depth] = binding;
    name->top = binding;
    return binding;
}

/* %r17 may be number 17 of `%r<32>`. Leading zeros are not members: %r017 is another name. */
static struct symbol_binding *find_in_range(
    struct scopes *scopes, const char *text, uint32_t len, uint32_t *index)
{
    uint32_t prefix = len, i;
    uint64_t number = 0;
    struct symbol_binding *binding;

    while (prefix > 0 && text[prefix - 1] >= '0' && text[prefix - 1] <= '9')
        prefix--;
    if (prefix == len || prefix == 0 || len - prefix > 9 ||
        (text[prefix] == '0' && len - prefix > 1))
        return NULL;
    for (i = prefix; i < len; i++)
        number = number * 10 + (uint64_t)(text[i] - '0');
    {
        struct scope_name *const name =
            *slot_of(scopes, text, prefix, true, hash_of(text, prefix, true));
        binding = name ? name->top : NULL;
    }
    while (binding && number >= binding->nr)
        binding = binding->shadowed;
    if (binding)
        *index = binding->first + (uint32_t)number;
    return binding;
}

struct symbol_binding *scopes_find(
    struct scopes *scopes, const char *text, uint32_t len, uint32_t *index)
{
    uint32_t in_range = 0;
    const struct scope_name *name = *slot_of(scopes, text, len, false, hash_of(text, len, false));
    struct symbol_binding *exact = name ? name->top : NULL;
    struct symbol_binding *range = find_in_range(scopes, text, len, &in_range);

    if (range && (!exact || range->depth > exact->depth)) {
        *index = in_range;
        return range;
    }
    if (exact && (exact->kind == BOUND_REG || exact->kind == BOUND_VECTOR))
        *index = exact->first;
    return exact;
}
