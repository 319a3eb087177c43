/* Owns how words are put in place of others in texts, and which element type stands for a type of
 * C. */
#include "intake/syntax/spelling.h"

#include "base/mem.h"
#include "base/str.h"
#include "core/elem.h"

#include <stdlib.h>
#include <string.h>

const char *spelling_elem(const char *type, unsigned *lanes)
{
    static const struct {
        const char *c, *elem;
        unsigned lanes;
    } known[] = {{"float", "f32", 1}, {"double", "f64", 1}, {"int", "i32", 1},
        {"unsigned", "u32", 1}, {"unsigned int", "u32", 1}, {"uint", "u32", 1},
        {"int32_t", "i32", 1}, {"uint32_t", "u32", 1}, {"char", "i8", 1}, {"signed char", "i8", 1},
        {"int8_t", "i8", 1}, {"unsigned char", "u8", 1}, {"uchar", "u8", 1}, {"uint8_t", "u8", 1},
        {"bool", "bool", 1}, {"short", "i16", 1}, {"int16_t", "i16", 1},
        {"unsigned short", "u16", 1}, {"uint16_t", "u16", 1}, {"long", "i64", 1},
        {"long long", "i64", 1}, {"int64_t", "i64", 1}, {"unsigned long", "u64", 1},
        {"unsigned long long", "u64", 1}, {"size_t", "u64", 1}, {"uint64_t", "u64", 1},
        {"half", "f16", 1}, {"__half", "f16", 1}, {"__nv_bfloat16", "bf16", 1},
        {"nv_bfloat16", "bf16", 1}, {"__nv_fp8_e4m3", "e4m3", 1}, {"__nv_fp8_e5m2", "e5m2", 1},
        {"longlong", "i64", 1}, {"ulonglong", "u64", 1}, {"clock_t", "i64", 1}, {"ulong", "u64", 1},
        {"ushort", "u16", 1}, {"cufftComplex", "f32", 2}, {"cufftReal", "f32", 1},
        {"cufftDoubleComplex", "f64", 2}, {"cufftDoubleReal", "f64", 1}, {"cuComplex", "f32", 2},
        {"cuFloatComplex", "f32", 2}, {"cuDoubleComplex", "f64", 2}, {"complex<float>", "f32", 2},
        {"complex<double>", "f64", 2}, {"half_t", "f16", 1}, {"Half", "f16", 1},
        {"bfloat16_t", "bf16", 1}, {"BFloat16", "bf16", 1}, {"float_e4m3_t", "e4m3", 1},
        {"float_e5m2_t", "e5m2", 1},
        /* states of cuRAND, as they lie in memory */
        {"curandState", "u32", 12}, {"curandState_t", "u32", 12},
        {"curandStateXORWOW_t", "u32", 12}, {"curandStateXORWOW", "u32", 12},
        {"curandStatePhilox4_32_10_t", "u32", 16}, {"curandStatePhilox4_32_10", "u32", 16},
        {"curandStateMRG32k3a_t", "u32", 12}, {"curandStateMRG32k3a", "u32", 12}};
    static const char *const libraries[] = {
        "std::", "cuda::std::", "thrust::", "cute::", "cutlass::", "at::", "c10::"};

    for (size_t i = 0; i < ARRAY_SIZE(libraries); i++)
        if (str_starts(type, libraries[i])) {
            type += strlen(libraries[i]);
            break;
        }
    const size_t nr = strlen(type);
    const char last = nr > 1 ? type[nr - 1] : 0;

    for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
        const bool vector = last >= '2' && last <= '4' && strncmp(type, known[i].c, nr - 1) == 0 &&
                            !known[i].c[nr - 1] && known[i].lanes == 1; /* float4 */

        if (vector || strcmp(type, known[i].c) == 0) {
            *lanes = vector ? (unsigned)(last - '0') : known[i].lanes;
            return known[i].elem;
        }
    }
    return NULL;
}

const char *spelling_c_type(const char *elem)
{
    static const char *const types[][2] = {{"f64", "double"}, {"f32", "float"}, {"tf32", "float"},
        {"f16", "__half"}, {"bf16", "__nv_bfloat16"}, {"e4m3", "__nv_fp8_e4m3"},
        {"e5m2", "__nv_fp8_e5m2"}, {"i64", "long long"}, {"i32", "int"}, {"i16", "short"},
        {"i8", "signed char"}, {"u64", "unsigned long long"}, {"u32", "unsigned int"},
        {"u16", "unsigned short"}, {"u8", "unsigned char"}, {"bool", "bool"}};

    for (size_t i = 0; i < ARRAY_SIZE(types); i++)
        if (strcmp(elem, types[i][0]) == 0)
            return types[i][1];
    return NULL;
}

unsigned spelling_bytes(const char *type)
{
    unsigned lanes;
    enum elem elem;

    while (str_starts(type, "const "))
        type += 6;
    const char *name = spelling_elem(type, &lanes);
    return name && elem_parse(name, strlen(name), &elem) ? (unsigned)elem_bytes(elem) * lanes : 0;
}

bool spelling_is_real(const char *type)
{
    unsigned lanes;
    const char *elem = spelling_elem(type, &lanes);

    return elem && lanes == 1 && (elem[0] == 'f' || elem[0] == 'b') && strcmp(elem, "bool") != 0;
}

bool spelling_is_integer(const char *type)
{
    unsigned lanes;
    const char *elem = spelling_elem(type, &lanes);

    return elem && lanes == 1 && (elem[0] == 'i' || elem[0] == 'u' || strcmp(elem, "bool") == 0);
}

bool spelling_has_word(const char *text, const char *word)
{
    return str_find_word(text, text + strlen(text), word, strlen(word)) != NULL;
}

const char *spelling_with_number(
    struct arena *arena, const char *text, const char *name, long long value)
{
    return spelling_with_text(arena, text, name, arena_printf(arena, "%lld", value));
}

const char *spelling_with_text(
    struct arena *arena, const char *text, const char *name, const char *other)
{
    struct str out = {0};
    size_t nr = strlen(name);

    for (const char *p = text; *p;) {
        bool word = (p == text || !str_word_char(p[-1])) && strncmp(p, name, nr) == 0 &&
                    !str_word_char(p[nr]);

        if (word)
            str_add(&out, other);
        else
            str_add_char(&out, *p);
        p += word ? nr : 1;
    }
    return str_move(&out, arena);
}

/* ---- number literals ---- */

bool literal_read(struct number_literal *literal, const char *text)
{
    const bool hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    const bool binary = text[0] == '0' && (text[1] == 'b' || text[1] == 'B');
    char digits[64], *end;
    size_t nr = 0;

    for (const char *p = text; *p && nr + 1 < sizeof(digits); p++)
        if (*p != '\'')
            digits[nr++] = *p;
    digits[nr] = 0;
    *literal = (struct number_literal){
        .is_hex = hex, .is_real = strpbrk(digits, hex ? ".pP" : ".eEfF") != NULL};
    if (literal->is_real) {
        literal->real = strtod(digits, &end);
    } else {
        literal->integer = binary ? strtoull(digits + 2, &end, 2) : strtoull(digits, &end, 0);
        literal->real = (double)literal->integer;
    }
    literal->is_float = strpbrk(end, "fF") != NULL;
    literal->is_unsigned = strpbrk(end, "uU") != NULL;
    literal->is_long = strpbrk(end, "lL") != NULL;
    return end > digits && strspn(end, "fFlLuU") == strlen(end);
}

const char *literal_type(const struct number_literal *literal)
{
    const uint64_t n = literal->integer;

    if (literal->is_real)
        return literal->is_float ? "float" : "double";
    if (literal->is_long || n > (literal->is_hex ? UINT32_MAX : INT32_MAX))
        return literal->is_unsigned ? "unsigned long long" : "long long";
    return literal->is_unsigned || n > INT32_MAX ? "unsigned int" : "int";
}
