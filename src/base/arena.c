/* Owns the blocks of each arena. */
#include "base/arena.h"

#include "base/mem.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK_BYTES = 64 * 1024, ALIGN = 16 };

struct arena_block {
    struct arena_block *next;
    size_t used, size;
    _Alignas(ALIGN) unsigned char bytes[];
};

struct arena {
    struct arena_block *head; /* the block being filled; the rest are full or oversized */
};

struct arena *arena_create(void)
{
    return xcalloc(1, sizeof(struct arena));
}

void arena_reset(struct arena *arena)
{
    struct arena_block *block = arena->head;

    while (block) {
        struct arena_block *next = block->next;
        free(block);
        block = next;
    }
    arena->head = NULL;
}

void arena_destroy(struct arena *arena)
{
    if (!arena)
        return;
    arena_reset(arena);
    free(arena);
}

void *arena_alloc(struct arena *arena, size_t bytes)
{
    struct arena_block *block = arena->head;
    void *p;

    bytes = round_up(bytes, ALIGN);
    if (!block || block->size - block->used < bytes) {
        const size_t size = bytes > BLOCK_BYTES ? bytes : BLOCK_BYTES;
        block = xcalloc(1, sizeof(*block) + size);
        block->size = size;
        block->next = arena->head;
        arena->head = block;
    }
    p = block->bytes + block->used;
    block->used += bytes;
    return p;
}

void *arena_array(struct arena *arena, size_t nr, size_t bytes_each)
{
    if (bytes_each && nr > SIZE_MAX / 2 / bytes_each)
        mem_die(SIZE_MAX);
    return arena_alloc(arena, nr * bytes_each);
}

char *arena_strndup(struct arena *arena, const char *text, size_t len)
{
    char *copy = arena_alloc(arena, len + 1);

    if (len)
        memcpy(copy, text, len);
    return copy;
}

char *arena_strdup(struct arena *arena, const char *text)
{
    return arena_strndup(arena, text, strlen(text));
}

char *arena_vprintf(struct arena *arena, const char *format, va_list ap)
{
    va_list again;
    char *text;
    int len;

    va_copy(again, ap);
    len = vsnprintf(NULL, 0, format, again);
    va_end(again);
    text = arena_alloc(arena, (size_t)len + 1);
    vsnprintf(text, (size_t)len + 1, format, ap);
    return text;
}

char *arena_printf(struct arena *arena, const char *format, ...)
{
    va_list ap;
    char *text;

    va_start(ap, format);
    text = arena_vprintf(arena, format, ap);
    va_end(ap);
    return text;
}
