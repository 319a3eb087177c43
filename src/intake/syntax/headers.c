/* Owns which headers the device code keeps, and which headers it needs that a dropped one brought
 * along. */
#include "intake/syntax/decls.h"

#include "base/mem.h"
#include "base/str.h"

#include <string.h>

const char *headers_include_name(struct arena *arena, const char *directive, bool *quoted)
{
    const char *p = directive + 1;

    while (*p == ' ' || *p == '\t')
        p++;
    if (strncmp(p, "include", 7) != 0)
        return NULL;
    p += strcspn(p, "<\"\n");
    if (*p != '<' && *p != '"')
        return NULL;
    *quoted = *p == '"';
    size_t nr = strcspn(p + 1, ">\"\n");
    return arena_strndup(arena, p + 1, nr);
}

bool headers_is_device(const char *name)
{
    static const char *const known[] = {"cuda_fp16.h", "cuda_fp8.h", "cuda_bf16.h", "cuda_fp4.h",
        "mma.h", "cooperative_groups.h", "cuda_pipeline.h", "cuda_pipeline_primitives.h",
        "cuda_awbarrier.h", "curand_kernel.h", "math_constants.h", "cuComplex.h", "cmath", "math.h",
        "cstdint", "stdint.h", "cfloat", "float.h", "climits", "limits.h", "limits", "type_traits",
        "cstddef", "stddef.h", "cassert", "assert.h", NULL};
    static const char *const prefixes[] = {
        "cub/", "cuda/", "cooperative_groups/", "cute/", "cutlass/", NULL};

    /* cub.cuh has host code: headers for what is used of it are added by name */
    if (strcmp(name, "cub/cub.cuh") == 0)
        return false;
    if (str_among(name, known))
        return true;
    for (unsigned i = 0; prefixes[i]; i++)
        if (str_starts(name, prefixes[i]))
            return true;
    return false;
}

/* Token t is that word. Of "std::x", token t is x with `std::` before it. */
static bool is_word(const struct toks *toks, unsigned t, const char *word)
{
    const char *colons = strstr(word, "::");

    if (!colons)
        return toks_is(toks, t, word);
    return t > 1 && toks_is(toks, t, colons + 2) && toks_is(toks, t - 1, "::") &&
           strncmp(toks->tok[t - 2].text, word, (size_t)(colons - word)) == 0 &&
           toks->tok[t - 2].text[colons - word] == 0;
}

/* Headers, and the words of device code that want each. */
static const struct {
    const char *header, *words[64];
} providers[] = {
    {"cuda_bf16.h", {"__nv_bfloat16", "nv_bfloat16", "__nv_bfloat162", "nv_bfloat162"}},
    {"cuda_fp16.h", {"__half", "half", "half2", "__half2"}},
    {"curand_kernel.h", {"curandState", "curand_init", "curandStatePhilox4_32_10_t"}},
    {"cub/block/block_reduce.cuh", {"BlockReduce"}}, {"cub/block/block_scan.cuh", {"BlockScan"}},
    {"cub/block/block_load.cuh", {"BlockLoad"}}, {"cub/block/block_store.cuh", {"BlockStore"}},
    {"cub/block/block_radix_sort.cuh", {"BlockRadixSort"}},
    {"cub/block/block_exchange.cuh", {"BlockExchange"}},
    {"cub/block/block_discontinuity.cuh", {"BlockDiscontinuity"}},
    {"cub/block/block_adjacent_difference.cuh", {"BlockAdjacentDifference"}},
    {"cub/block/block_shuffle.cuh", {"BlockShuffle"}},
    {"cub/block/block_merge_sort.cuh", {"BlockMergeSort"}},
    {"cub/block/block_radix_rank.cuh", {"BlockRadixRank"}},
    {"cub/block/block_run_length_decode.cuh", {"BlockRunLengthDecode"}},
    {"cub/warp/warp_exchange.cuh", {"WarpExchange"}}, {"cub/warp/warp_load.cuh", {"WarpLoad"}},
    {"cub/warp/warp_store.cuh", {"WarpStore"}}, {"cub/warp/warp_merge_sort.cuh", {"WarpMergeSort"}},
    {"cub/block/block_histogram.cuh", {"BlockHistogram"}},
    {"cub/warp/warp_reduce.cuh", {"WarpReduce"}}, {"cub/warp/warp_scan.cuh", {"WarpScan"}},
    {"cub/thread/thread_operators.cuh", {"Sum", "Max", "Min"}},
    {"cooperative_groups.h", {"cooperative_groups"}},
    {"cfloat", {"FLT_MAX", "FLT_MIN", "DBL_MAX", "FLT_EPSILON", "DBL_EPSILON", "DBL_MIN"}},
    {"climits", {"INT_MAX", "INT_MIN", "UINT_MAX", "LLONG_MAX", "CHAR_BIT", "LONG_MAX"}},
    {"cmath",
        {"std::abs", "std::fabs", "std::fmod", "std::fma", "std::fmax", "std::fmin", "std::exp",
            "std::exp2", "std::expm1", "std::log", "std::log2", "std::log10", "std::log1p",
            "std::pow", "std::sqrt", "std::cbrt", "std::hypot", "std::sin", "std::cos", "std::tan",
            "std::asin", "std::acos", "std::atan", "std::atan2", "std::sinh", "std::cosh",
            "std::tanh", "std::asinh", "std::acosh", "std::atanh", "std::erf", "std::erfc",
            "std::tgamma", "std::lgamma", "std::ceil", "std::floor", "std::trunc", "std::round",
            "std::rint", "std::nearbyint", "std::lround", "std::llround", "std::lrint",
            "std::frexp", "std::ldexp", "std::modf", "std::copysign", "std::isnan", "std::isinf",
            "std::isfinite", "std::signbit", "std::remainder", "std::fdim"}},
    {"limits", {"numeric_limits"}}, {"cstddef", {"std::size_t", "std::ptrdiff_t"}},
    {"array", {"std::array"}}, {"algorithm", {"std::min", "std::max", "std::clamp"}},
    {"utility", {"std::pair", "std::swap", "std::declval", "std::index_sequence"}},
    {"functional", {"std::plus", "std::multiplies", "std::less", "std::greater"}},
    {"type_traits",
        {"std::is_same", "std::is_same_v", "std::conditional_t", "std::conditional",
            "std::enable_if_t", "std::enable_if", "std::common_type", "std::common_type_t",
            "std::integral_constant", "std::make_unsigned", "std::make_unsigned_t",
            "std::is_integral", "std::is_integral_v", "std::is_floating_point",
            "std::is_floating_point_v", "std::remove_reference_t", "std::remove_cv_t",
            "std::decay_t", "std::true_type", "std::false_type"}},
    {"sys/types.h", {"uint", "ushort", "ulong"}},
    {"cstdint", {"uint8_t", "uint16_t", "uint32_t", "uint64_t", "int8_t", "int16_t", "int32_t",
                    "int64_t", "uintptr_t", "intptr_t"}},
    {"thrust/pair.h", {"thrust::pair", "thrust::make_pair"}},
    {"thrust/tuple.h", {"thrust::tuple", "thrust::make_tuple", "thrust::tie"}},
    {"thrust/functional.h", {"thrust::plus", "thrust::multiplies", "thrust::less",
                                "thrust::greater", "thrust::maximum", "thrust::minimum"}},
    {"thrust/complex.h", {"thrust::complex"}}, {"thrust/device_ptr.h", {"thrust::device_ptr"}},
    {"cuComplex.h", {"cuComplex", "cuFloatComplex", "cuDoubleComplex", "make_cuComplex"}},
    {"cufft.h", {"cufftComplex", "cufftReal", "cufftDoubleComplex", "cufftDoubleReal"}},
    {"cuda.h", {"CUsurfObject", "CUtexObject", "CUdeviceptr", "CUtensorMap"}},
    {"driver_types.h", {"cudaError_t", "cudaError", "cudaSuccess", "cudaStream_t"}},
    {"cassert", {"assert"}}};

enum { NR_PROVIDERS = ARRAY_SIZE(providers) };

/* A declaration that is kept names the macro. */
static bool is_used(const struct decls *decls, const char *macro)
{
    const struct toks *toks = decls->toks;

    for (unsigned i = toks_name(toks, macro, 0); i < toks->nr; i = toks_again(toks, i, toks->nr)) {
        const struct decl *d = decls_at(decls, i);

        if (d && d->keep && !decls->host[i])
            return true;
    }
    return false;
}

static void note_words(const struct toks *toks, unsigned t, bool *wanted)
{
    for (size_t k = 0; k < NR_PROVIDERS; k++)
        for (unsigned w = 0; w < ARRAY_SIZE(providers[k].words) && providers[k].words[w]; w++)
            wanted[k] = wanted[k] || is_word(toks, t, providers[k].words[w]);
}

/* Sets have[k] where the directive includes header k above the first word that wants it, and
 * wanted[k] where a macro that is used has such a word. */
static void note_directive(
    const struct decls *decls, struct arena *arena, const char *directive, bool *wanted, bool *have)
{
    struct toks body;
    bool quoted;
    const char *name = headers_include_name(arena, directive, &quoted),
               *macro = decls_defined_name(arena, directive);

    for (size_t k = 0; name && k < NR_PROVIDERS; k++)
        if (strcmp(name, providers[k].header) == 0)
            have[k] = have[k] || !wanted[k];
    if (!macro || !is_used(decls, macro) ||
        !toks_lex(&body, arena, directive + 1, strlen(directive + 1)))
        return;
    for (unsigned t = 0; t < body.nr; t++)
        note_words(&body, t, wanted);
}

const char *headers_brought(const struct decls *decls, struct arena *arena)
{
    bool wanted[NR_PROVIDERS] = {false}, have[NR_PROVIDERS] = {false};
    struct str text = {0};

    for (unsigned i = 0; i < decls->nr; i++) {
        const struct decl *d = &decls->decl[i];

        for (unsigned t = d->from; d->keep && t < d->to; t++)
            if (decls->toks->tok[t].kind == TOK_DIRECTIVE)
                note_directive(decls, arena, decls->toks->tok[t].text, wanted, have);
            else if (!decls->host[t])
                note_words(decls->toks, t, wanted);
    }
    for (size_t k = 0; k < NR_PROVIDERS; k++)
        if (wanted[k] && !have[k])
            str_addf(&text, "%s#include <%s>", text.len ? "\n" : "", providers[k].header);
    return str_move(&text, arena);
}
