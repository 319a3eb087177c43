/* Private to the task language: finds the `#pragma keet` lines of a source. A cursor reads one of
 * them, with errors in the form file:line:column. */
#ifndef KEET_CORE_TASK_LINES_H
#define KEET_CORE_TASK_LINES_H

#include "base/arena.h"
#include "base/err.h"
#include "core/expr.h"

#include <stdbool.h>
#include <stddef.h>

/* One logical line. In `text`, comments and continuations are blanked: offset i in `text` is offset
 * text_at + i in the source. */
struct pragma {
    const char *text; /* all after the word keet */
    size_t len;
    size_t text_at;      /* offset of text in the source */
    size_t begin, end;   /* the whole line in the source, without its newline */
    const char *keyword; /* the first word of text, or "" */
    size_t rest;         /* offset in `text` behind the keyword */
    unsigned line;
};

struct task_lines {
    const char *path, *source;
    size_t source_bytes;
    struct pragma *pragmas;
    unsigned nr;
    bool has_global; /* the code (no comments, no strings) holds the word __global__ */
};

enum { MAX_PRAGMAS = 1024 };

/* False when there are too many pragma lines or the file holds a NUL byte. */
bool task_lines_find(struct task_lines *lines, struct arena *arena, const char *path,
    const char *source, size_t source_bytes, struct err *err);

/* Reads part of one pragma line. */
struct cursor {
    const struct task_lines *lines;
    const struct pragma *pragma;
    const char *p, *end;
    struct arena *arena;
    struct err *err;
};

struct cursor cursor_of(const struct task_lines *lines, const struct pragma *pragma,
    struct arena *arena, struct err *err);

/* A cursor over [from, to) of the same line, blanks trimmed at both sides. */
struct cursor cursor_part(const struct cursor *c, const char *from, const char *to);

/* Sets "path:line:column: <text>"; always false. `at` points into the line. */
bool cursor_fail(const struct cursor *c, const char *at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The error for a name that env does not hold, with the nearest name that env holds. */
bool cursor_unknown(const struct cursor *c, const char *at, const char *name, const struct env *env,
    const char *expected);

void cursor_skip(struct cursor *c);                   /* blanks */
bool cursor_done(struct cursor *c);                   /* nothing but blanks left */
bool cursor_take(struct cursor *c, const char *text); /* the next characters, if they are text */
bool cursor_expect(struct cursor *c, const char *text, const char *where);
/* An identifier in arena memory; `expected` names it in the error. */
bool cursor_name(struct cursor *c, const char **name, const char *expected);
bool cursor_end(struct cursor *c, const char *after); /* error unless done */

/* Everything up to the next `stop` outside parentheses, brackets and braces (or to the end). The
 * stop itself is not consumed. */
struct cursor cursor_until(struct cursor *c, const char *stop);

/* The whole rest as an expression over the names of env. */
bool cursor_expr(struct cursor *c, const struct env *env, const struct expr **expr);
bool cursor_value(struct cursor *c, const struct env *env, int64_t *value);
/* The whole rest as a real number, or as an expression over the names of env. */
bool cursor_is_real(const struct cursor *c, double *value);
bool cursor_real(struct cursor *c, const struct env *env, double *value);

#endif
