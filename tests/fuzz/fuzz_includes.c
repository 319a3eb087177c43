/* Owns the hammering of the scanner that looks for #include, and of the splitter into kernels:
 * whatever the scanner lets pass, the tokens that clang finds hold no inclusion but of stand-ins.
 * For hours, see hammer.h:
 *     build/fuzz/fuzz_includes -max_len=512 build/corpus tests/fuzz/seeds/includes */
#include "base/arena.h"
#include "compile/includes.h"
#include "compile/split.h"
#include "compile/standins.h"

#include "hammer.h"

#include <clang-c/Index.h>

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static const char path[] = "/source.cu";

struct tokens {
    CXTranslationUnit unit;
    CXToken *items;
    unsigned nr;
};

static bool spelled(const struct tokens *t, unsigned i, const char *const *words)
{
    const CXString text = clang_getTokenSpelling(t->unit, t->items[i]);
    bool found = false;

    for (; *words && !found; words++)
        found = strcmp(clang_getCString(text), *words) == 0;
    clang_disposeString(text);
    return found;
}

static unsigned offset_of(CXSourceLocation location)
{
    unsigned offset;

    clang_getSpellingLocation(location, NULL, NULL, NULL, &offset);
    return offset;
}

static unsigned start_of(const struct tokens *t, unsigned i)
{
    return offset_of(clang_getRangeStart(clang_getTokenExtent(t->unit, t->items[i])));
}

static unsigned end_of(const struct tokens *t, unsigned i)
{
    return offset_of(clang_getRangeEnd(clang_getTokenExtent(t->unit, t->items[i])));
}

/* Whether text between two tokens has a newline that no backslash hides. */
static bool ends_line(const char *from, const char *to)
{
    for (const char *at = from; at < to; at++) {
        const char *before = at;

        while (before > from && strchr(" \t\r\v\f", before[-1]))
            before--;
        if (*at == '\n' && (before == from || before[-1] != '\\'))
            return true;
    }
    return false;
}

/* Whether only comments stand before token i on its line. */
static bool opens_line(const struct tokens *t, unsigned i, const char *source)
{
    for (; i > 0; i--) {
        if (ends_line(source + end_of(t, i - 1), source + start_of(t, i)))
            return true;
        if (clang_getTokenKind(t->items[i - 1]) != CXToken_Comment)
            return false;
    }
    return true;
}

static unsigned after_comments(const struct tokens *t, unsigned i)
{
    while (i < t->nr && clang_getTokenKind(t->items[i]) == CXToken_Comment)
        i++;
    return i;
}

/* The name of the file that the directive with its word at token i takes, if that is a stand-in. */
static bool takes_standin(const struct tokens *t, unsigned i, const char *source)
{
    const unsigned at = after_comments(t, i + 1);
    const char *from, *to;
    char name[64];

    if (at >= t->nr)
        return true; /* a directive without a name includes nothing */
    from = source + start_of(t, at);
    if (*from != '<' && *from != '"')
        return false;
    to = strchr(from + 1, *from == '<' ? '>' : '"');
    if (!to || (size_t)(to - from) > sizeof(name))
        return false;
    memcpy(name, from + 1, (size_t)(to - from) - 1);
    name[to - from - 1] = '\0';
    return standin_exists(name);
}

static void check_tokens(const struct tokens *t, const char *source)
{
    static const char *const hashes[] = {"#", "%:", NULL};
    static const char *const words[] = {"include", "include_next", "import", "embed", NULL};

    for (unsigned i = 0; i < t->nr; i++) {
        if (clang_getTokenKind(t->items[i]) != CXToken_Punctuation || !spelled(t, i, hashes) ||
            !opens_line(t, i, source))
            continue;
        const unsigned word = after_comments(t, i + 1);

        if (word < t->nr && spelled(t, word, words) &&
            !ends_line(source + end_of(t, i), source + start_of(t, word)))
            assert(takes_standin(t, word, source));
    }
}

/* What clang makes of a text that the scanner let pass. */
static void look(const char *source)
{
    static const char *const options[] = {"-x", "c++", "-std=c++17", "-w", "-nostdinc"};
    struct CXUnsavedFile file = {path, source, strlen(source)};
    struct tokens tokens = {0};
    CXIndex index = clang_createIndex(0, 0);

    tokens.unit =
        clang_parseTranslationUnit(index, path, options, sizeof(options) / sizeof(options[0]),
            &file, 1, CXTranslationUnit_SingleFileParse | CXTranslationUnit_Incomplete);
    const CXFile main_file = tokens.unit ? clang_getFile(tokens.unit, path) : NULL;

    if (main_file) {
        const CXSourceRange all =
            clang_getRange(clang_getLocationForOffset(tokens.unit, main_file, 0),
                clang_getLocationForOffset(tokens.unit, main_file, (unsigned)file.Length));

        clang_tokenize(tokens.unit, all, &tokens.items, &tokens.nr);
        check_tokens(&tokens, source);
        clang_disposeTokens(tokens.unit, tokens.items, tokens.nr);
    }
    if (tokens.unit)
        clang_disposeTranslationUnit(tokens.unit);
    clang_disposeIndex(index);
}

static bool passes(const char *source)
{
    static const char *const none[] = {NULL};
    struct str what = {0};
    unsigned line = 0;
    const bool allowed = includes_allowed(source, none, &line, &what);

    assert(allowed || (line > 0 && what.len > 0));
    str_finish(&what);
    return allowed;
}

/* A source of kernels k and l is compiled as one part for each, whose lines are the source's. */
static void split(const char *source)
{
    static const char *const kernels[] = {"k", "l"};
    struct arena *arena = arena_create();
    struct split_part parts[2];
    const bool apart = split_kernels(source, kernels, 2, arena, parts);

    for (unsigned i = 0; apart && i < 2; i++) {
        for (unsigned line = 1; line <= parts[i].nr_lines; line++)
            assert(split_line(&parts[i], line) > split_line(&parts[i], line - 1));
        if (passes(parts[i].source))
            look(parts[i].source);
    }
    arena_destroy(arena);
}

static void read_once(const uint8_t *data, size_t size)
{
    char *source = calloc(1, size + 1);
    struct str code = {0};

    memcpy(source, data, size);
    includes_define_tunes(source, &(const struct tune){.name = "T", .value = 4}, 1, &code);
    str_finish(&code);
    if (passes(source))
        look(source);
    split(source);
    free(source);
}

const struct fuzzer fuzzer = {.once = read_once, .marks = "#%:?=\\\n\r \t\"'()R8uUL/*<>._1'"};
