/* Owns how pieces of new kernels become text, and the pieces that several kernels have. */
#include "propose/rewrite/kernel_text.h"

#include <string.h>

void kernel_text_add(struct str *to, struct arena *arena, const struct cuda_tree *tree,
    const struct kernel_word *words, const char *piece)
{
    for (const char *dollar; (dollar = strchr(piece, '$'));) {
        const struct kernel_word *word = words;
        size_t len = 0;
        while (str_word_char(dollar[1 + len]))
            len++;
        const char *name = arena_strndup(arena, dollar + 1, len);
        while (word->name && strcmp(word->name, name) != 0)
            word++;
        str_add_n(to, piece, (size_t)(dollar - piece));
        str_add(to, word->name ? word->text : tree_fresh(tree, name));
        piece = dollar + 1 + len;
    }
    str_add(to, piece);
}

#define LOAD_FOUR(name, how)                                                                       \
    "static __device__ __forceinline__ void " name "(unsigned *to, const $T *from)\n"              \
    "{\n"                                                                                          \
    "    asm volatile(\"ldmatrix.sync.aligned.m8n8.x4" how ".shared.b16 {%0, %1, %2, %3}, "        \
    "[%4];\"\n"                                                                                    \
    "        : \"=r\"(to[0]), \"=r\"(to[1]), \"=r\"(to[2]), \"=r\"(to[3])\n"                       \
    "        : \"r\"((unsigned)__cvta_generic_to_shared(from)) : \"memory\");\n"                   \
    "}\n\n"

const char kernel_text_fragments[] = LOAD_FOUR("$load_four", "") LOAD_FOUR("$load_four_turned",
    ".trans") "static __device__ __forceinline__ void $add_product(float *c, const unsigned *a, "
              "const "
              "unsigned *b)\n"
              "{\n"
              "    asm(\"mma.sync.aligned.m16n8k16.row.col.f32.$BITS.$BITS.f32 {%0, %1, %2, %3}, "
              "\"\n"
              "        \"{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};\"\n"
              "        : \"+f\"(c[0]), \"+f\"(c[1]), \"+f\"(c[2]), \"+f\"(c[3])\n"
              "        : \"r\"(a[0]), \"r\"(a[1]), \"r\"(a[2]), \"r\"(a[3]), \"r\"(b[0]), "
              "\"r\"(b[1]));\n"
              "}\n\n"
              "static __device__ __forceinline__ float $exp2_fast(float x)\n"
              "{\n"
              "    float y;\n"
              "    asm(\"ex2.approx.ftz.f32 %0, %1;\" : \"=f\"(y) : \"f\"(x));\n"
              "    return y;\n"
              "}\n\n";
