/* Owns the hammering of expressions in pragma lines: no bytes may crash the reader, what is read
 * prints as it was written and comes to the same in the form of expr_write, and arithmetic that has
 * no result is an error.
 * For hours, see hammer.h:
 *     build/fuzz/fuzz_expr -max_len=256 build/corpus tests/fuzz/seeds/expr */
#include "core/expr.h"

#include "hammer.h"

#include <string.h>

/* In its one form, with the first name as a number, it comes to the same. */
static void write_once(
    struct arena *arena, const struct expr *expr, const struct env *env, int64_t value)
{
    const struct expr_style style = {.numbers = {env->bindings, 1}};
    struct str out = {0};
    struct err err = {0};
    int64_t second = 0;

    assert(expr_write(expr, &style, &out));
    const char *text = str_move(&out, arena);
    const struct expr *again = expr_parse(arena, text, strlen(text), &err);

    assert(again ? expr_eval(again, env, &second, &err) && second == value
                 : strstr(err.text, "nested") != NULL); /* each minus of several gets parentheses */
}

static void read_once(const uint8_t *data, size_t size)
{
    static const struct binding bindings[] = {{"N", 1024}, {"M", 3}, {"K", INT64_MIN}, {"Z", 0}};
    const struct env env = {.bindings = bindings, .nr = sizeof(bindings) / sizeof(bindings[0])};
    struct arena *arena = arena_create();
    struct err err = {0};
    const struct expr *expr = expr_parse(arena, (const char *)data, size, &err), *again;
    int64_t value = 0, second = 0;

    if (!expr) {
        assert(err.text[0]);
    } else {
        const char *text = expr_text(expr);
        const bool ok = expr_eval(expr, &env, &value, &err);

        again = expr_parse(arena, text, strlen(text), &err);
        assert(again && strcmp(expr_text(again), text) == 0);
        assert(expr_eval(again, &env, &second, &err) == ok && second == value);
        if (ok && size < 256)
            write_once(arena, expr, &env, value);
    }
    arena_destroy(arena);
}

const struct fuzzer fuzzer = {
    .once = read_once, .marks = "NMKZ0123456789xabf?:|&^=!<>+-*/%~(), ceil_div min max"};
