/* A growing string. Always NUL-terminated once anything was added; zero-initialise to start
 * (`struct str s = {0}`), str_finish to free. */
#ifndef KEET_BASE_STR_H
#define KEET_BASE_STR_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct str {
    char *text; /* NULL while empty and never added to; use str_text */
    size_t len, cap;
};

void str_finish(struct str *s);
void str_clear(struct str *s); /* length 0, memory kept */
void str_add(struct str *s, const char *text);
void str_add_n(struct str *s, const char *bytes, size_t len);
void str_add_char(struct str *s, char c);
void str_addf(struct str *s, const char *format, ...) __attribute__((format(printf, 2, 3)));
void str_vaddf(struct str *s, const char *format, va_list ap);
void str_add_count(struct str *s, uint64_t nr, const char *noun); /* "1 shape", "2 shapes" */
void str_add_shell(struct str *s, const char *word); /* in quotes where a shell needs them */
const char *str_text(const struct str *s);           /* never NULL */
char *str_take(struct str *s);                       /* the heap text; s is empty afterwards */
struct arena;
char *str_move(struct str *s, struct arena *arena); /* a copy in the arena; s is finished */

bool str_word_char(char c); /* of a C identifier: an ASCII letter, a digit, _ */
bool str_starts(const char *text, const char *prefix);
bool str_ends(const char *text, const char *suffix);
bool str_among(const char *word, const char *const *words); /* NULL ends the words */
const char *str_next_line(const char *at); /* after the next newline; at the NUL when none comes */

/* The first place in [from, end) where the `len` bytes of `word` are not part of a longer word;
 * NULL: there is none. Characters outside [from, end) do not count. */
const char *str_find_word(const char *from, const char *end, const char *word, size_t len);

/* The bytes of the UTF-8 character at the start of len bytes (RFC 3629: shortest forms, no
 * surrogates; NUL is one); 0: there is none. */
size_t str_utf8_bytes(const char *text, size_t len);

#endif
