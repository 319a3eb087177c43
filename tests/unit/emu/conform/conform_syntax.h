/* The forms of each operation as conform_syntax.def spells them out, one by one; and the notes of
 * which of them tests have run. A form's name is its opcode with the modifiers in a settled order,
 * "add|ftz|rn|f32"; a test that has run a form notes it in KEET_FORMS_DIR, where conform_rows looks
 * for those that none has run. */
#ifndef KEET_TESTS_CONFORM_SYNTAX_H
#define KEET_TESTS_CONFORM_SYNTAX_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { FORM_BYTES = 128, MAX_WORDS = 16 };

struct syntax_line {
    const char *op, *modifiers;
};

static const struct syntax_line syntax[] = {
#define S(op, modifiers) {op, modifiers},
#include "conform_syntax.def"
#undef S
};
enum { NR_SYNTAX = sizeof(syntax) / sizeof(syntax[0]) };

typedef void syntax_fn(const char *op, const char *modifiers, void *context);

static void syntax_word(
    const char *op, const char *rest, char *text, syntax_fn *each, void *context)
{
    const size_t end = strlen(text);
    const char *word = rest, *next = strchr(rest, ' '), *last = rest + strcspn(rest, " ");
    const bool optional = last > rest && last[-1] == '?';
    if (!*rest) {
        each(op, text, context);
        return;
    }
    if (optional)
        syntax_word(op, next ? next + 1 : "", text, each, context);
    last -= optional;
    while (word < last) {
        const char *bar = memchr(word, '|', (size_t)(last - word)), *stop = bar ? bar : last;
        snprintf(text + end, FORM_BYTES - end, ".%.*s", (int)(stop - word), word);
        syntax_word(op, next ? next + 1 : "", text, each, context);
        text[end] = 0;
        word = stop + 1;
    }
}

/* Each form of one operation, or of all when op is NULL; modifiers begin with a dot. */
static inline void syntax_each(const char *op, syntax_fn *each, void *context)
{
    for (unsigned i = 0; i < NR_SYNTAX; i++) {
        char text[FORM_BYTES] = "";
        if (!op || strcmp(op, syntax[i].op) == 0)
            syntax_word(syntax[i].op, syntax[i].modifiers, text, each, context);
    }
}

static inline bool is_type_word(const char *word)
{
    return strcmp(word, "pred") == 0 || strncmp(word, "bf16", 4) == 0 ||
           strncmp(word, "tf32", 4) == 0 || strncmp(word, "e4m3", 4) == 0 ||
           strncmp(word, "e5m2", 4) == 0 ||
           (strchr("busf", word[0]) && word[1] >= '1' && word[1] <= '8');
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* "cvt.sat.rn.f32.s8" and "cvt.rn.sat.f32.s8" are one form. */
static inline void form_name(const char *text, size_t len, char name[FORM_BYTES])
{
    char copy[FORM_BYTES], *word[MAX_WORDS], *save = NULL;
    unsigned nr = 0, nr_types = 0;
    const char *type[MAX_WORDS];
    snprintf(copy, sizeof(copy), "%.*s", (int)len, text);
    for (char *w = strtok_r(copy, ".", &save); w && nr + nr_types < MAX_WORDS;
         w = strtok_r(NULL, ".", &save)) {
        if (nr && is_type_word(w))
            type[nr_types++] = w;
        else
            word[nr++] = w;
    }
    if (nr > 1)
        qsort(word + 1, nr - 1, sizeof(*word), by_text);
    int n = 0;
    for (unsigned i = 0; i < nr + nr_types; i++)
        n += snprintf(name + n, (size_t)(FORM_BYTES - n), "%s%s", i ? "|" : "",
            i < nr ? word[i] : type[i - nr]);
}

#ifdef KEET_FORMS_FILE
static FILE *form_notes;

/* Every instruction of a text that was run and gave what it should. */
static inline void note_forms(const char *ptx)
{
    char name[FORM_BYTES];
    if (!form_notes) {
        mkdir(KEET_FORMS_DIR, 0777);
        form_notes = fopen(KEET_FORMS_DIR "/" KEET_FORMS_FILE, "w");
    }
    while (form_notes && *ptx) {
        ptx += strspn(ptx, " \t\n;{}");
        if (*ptx == '@')
            ptx += strcspn(ptx, " \n");
        ptx += strspn(ptx, " \t\n;{}");
        const size_t len = strcspn(ptx, " \t\n;");
        if (len && *ptx != '.') {
            form_name(ptx, len, name);
            fprintf(form_notes, "%s\n", name);
        }
        ptx += strcspn(ptx, ";");
    }
    if (form_notes)
        fflush(form_notes);
}

#endif

#endif
