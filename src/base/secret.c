/* Owns the pages that hold secrets: an allocator of powers of two over its own mappings. */
#include "base/secret.h"

#include "base/mem.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* The smallest block has 32 bytes with its head; the largest block of a chunk is the whole chunk.
 */
enum { FIRST_POWER = 5, CHUNK_POWER = 18, NR_CLASSES = CHUNK_POWER - FIRST_POWER + 1 };

struct secret_block {
    size_t bytes;              /* with this head; a power of two, or the size of its own mapping */
    struct secret_block *next; /* while the block is free */
    unsigned char content[];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct secret_block *free_blocks[NR_CLASSES];

static struct secret_block *map(size_t bytes)
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (p == MAP_FAILED || madvise(p, bytes, MADV_DONTFORK) != 0 ||
        madvise(p, bytes, MADV_DONTDUMP) != 0) {
        perror("keet-opt: no memory that children do not inherit");
        abort();
    }
    return p;
}

static unsigned class_of(size_t bytes)
{
    unsigned power = FIRST_POWER;

    while (((size_t)1 << power) < bytes)
        power++;
    return power - FIRST_POWER;
}

/* A free block of the class, if need be one half of a larger block. The caller holds the lock. */
static struct secret_block *take(unsigned class)
{
    struct secret_block *block;

    if (class >= NR_CLASSES) {
        block = map((size_t)1 << CHUNK_POWER);
        block->bytes = (size_t)1 << CHUNK_POWER;
        return block;
    }
    block = free_blocks[class];
    if (block) {
        free_blocks[class] = block->next;
        return block;
    }
    block = take(class + 1);
    if (block->bytes >> (class + FIRST_POWER) == 1)
        return block;
    block->bytes /= 2;
    struct secret_block *half = (struct secret_block *)((unsigned char *)block + block->bytes);
    *half = (struct secret_block){.bytes = block->bytes, .next = free_blocks[class]};
    free_blocks[class] = half;
    return block;
}

void *secret_alloc(size_t bytes)
{
    const size_t whole = bytes + sizeof(struct secret_block);
    struct secret_block *block;

    if (whole < bytes)
        abort();
    if (whole > (size_t)1 << CHUNK_POWER) {
        block = map(whole);
        block->bytes = whole;
        return block->content;
    }
    pthread_mutex_lock(&lock);
    block = take(class_of(whole));
    pthread_mutex_unlock(&lock);
    block->next = NULL;
    return block->content;
}

static struct secret_block *block_of(void *content)
{
    return (
        struct secret_block *)((unsigned char *)content - offsetof(struct secret_block, content));
}

void secret_free(void *content)
{
    struct secret_block *block;

    if (!content)
        return;
    block = block_of(content);
    explicit_bzero(content, block->bytes - sizeof(*block));
    if (block->bytes > (size_t)1 << CHUNK_POWER) {
        munmap(block, block->bytes);
        return;
    }
    pthread_mutex_lock(&lock);
    block->next = free_blocks[class_of(block->bytes)];
    free_blocks[class_of(block->bytes)] = block;
    pthread_mutex_unlock(&lock);
}

void *secret_calloc(size_t nr, size_t bytes_each)
{
    if (bytes_each && nr > SIZE_MAX / bytes_each)
        abort();
    return secret_alloc(nr * bytes_each);
}

void *secret_realloc(void *content, size_t bytes)
{
    const size_t room = content ? block_of(content)->bytes - sizeof(struct secret_block) : 0;
    void *copy;

    if (content && bytes <= room)
        return content;
    copy = secret_alloc(bytes);
    if (content)
        memcpy(copy, content, room);
    secret_free(content);
    return copy;
}

char *secret_strdup(const char *text)
{
    const size_t bytes = strlen(text) + 1;

    return memcpy(secret_alloc(bytes), text, bytes);
}

#if defined(__x86_64__)
/* Where there is AVX-512, the C library uses registers 16 to 31. No code compiled here uses them,
 * so the list of changed registers leaves them out. */
void secret_clear_registers(void)
{
    if (__builtin_cpu_supports("avx512f"))
        __asm__ volatile("vpxord %%zmm16, %%zmm16, %%zmm16\n vpxord %%zmm17, %%zmm17, %%zmm17\n"
                         "vpxord %%zmm18, %%zmm18, %%zmm18\n vpxord %%zmm19, %%zmm19, %%zmm19\n"
                         "vpxord %%zmm20, %%zmm20, %%zmm20\n vpxord %%zmm21, %%zmm21, %%zmm21\n"
                         "vpxord %%zmm22, %%zmm22, %%zmm22\n vpxord %%zmm23, %%zmm23, %%zmm23\n"
                         "vpxord %%zmm24, %%zmm24, %%zmm24\n vpxord %%zmm25, %%zmm25, %%zmm25\n"
                         "vpxord %%zmm26, %%zmm26, %%zmm26\n vpxord %%zmm27, %%zmm27, %%zmm27\n"
                         "vpxord %%zmm28, %%zmm28, %%zmm28\n vpxord %%zmm29, %%zmm29, %%zmm29\n"
                         "vpxord %%zmm30, %%zmm30, %%zmm30\n vpxord %%zmm31, %%zmm31, %%zmm31"
                         :
                         :
                         :);
    if (__builtin_cpu_supports("avx"))
        __asm__ volatile("vzeroall"
                         :
                         :
                         : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8",
                         "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15");
    else
        __asm__ volatile("pxor %%xmm0, %%xmm0\n pxor %%xmm1, %%xmm1\n pxor %%xmm2, %%xmm2\n"
                         "pxor %%xmm3, %%xmm3\n pxor %%xmm4, %%xmm4\n pxor %%xmm5, %%xmm5\n"
                         "pxor %%xmm6, %%xmm6\n pxor %%xmm7, %%xmm7\n pxor %%xmm8, %%xmm8"
                         :
                         :
                         : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8");
}
#elif defined(__aarch64__)
/* The registers that a callee need not keep; the copies of the C library use no others. */
void secret_clear_registers(void)
{
    __asm__ volatile("movi v0.16b, #0\n movi v1.16b, #0\n movi v2.16b, #0\n movi v3.16b, #0\n"
                     "movi v4.16b, #0\n movi v5.16b, #0\n movi v6.16b, #0\n movi v7.16b, #0"
                     :
                     :
                     : "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7");
}
#else
void secret_clear_registers(void)
{
}
#endif

char *secret_take_env(const char *name)
{
    char *value = getenv(name), *copy;

    if (!value || !*value)
        return NULL;
    copy = secret_strdup(value);
    explicit_bzero(value, strlen(value));
    unsetenv(name);
    return copy;
}
