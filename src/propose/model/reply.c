/* Owns the reading of replies. */
#include "propose/model/reply.h"

#include "base/str.h"

#include <ctype.h>
#include <string.h>

enum { MAX_BLOCKS = 64, MAX_EDITS = 64, NOTE_BYTES = 200, LINE_BYTES = 300 };

struct span {
    const char *text;
    size_t len;
};

/* The line at `at` without its newline; *next is the line after, NULL at the end. */
static struct span line_at(const char *at, const char **next)
{
    const char *end = strchr(at, '\n');

    *next = end && end[1] ? end + 1 : NULL;
    return (struct span){at, end ? (size_t)(end - at) : strlen(at)};
}

static struct span trim(struct span s)
{
    while (s.len > 0 && isspace((unsigned char)s.text[0])) {
        s.text++;
        s.len--;
    }
    while (s.len > 0 && isspace((unsigned char)s.text[s.len - 1]))
        s.len--;
    return s;
}

static bool starts(struct span s, const char *prefix)
{
    return s.len >= strlen(prefix) && !strncmp(s.text, prefix, strlen(prefix));
}

static bool same(struct span a, struct span b)
{
    return a.len == b.len && !memcmp(a.text, b.text, a.len);
}

/* CRLF and lone CR become LF; a byte order mark goes. */
static char *unify_newlines(struct arena *arena, const char *text)
{
    char *out = arena_strdup(arena, text), *to = out;

    if (!strncmp(text, "\xef\xbb\xbf", 3))
        text += 3;
    for (; *text; text++) {
        if (*text == '\r' && text[1] == '\n')
            continue;
        *to++ = *text == '\r' ? '\n' : *text;
    }
    *to = '\0';
    return out;
}

/* --- fences --- */

/* The number of fence characters that open the line: 3 or more, else 0. */
static size_t fence_of(struct span line, char *c)
{
    size_t n = 0;

    line = trim(line);
    if (line.len < 3 || (line.text[0] != '`' && line.text[0] != '~'))
        return 0;
    *c = line.text[0];
    while (n < line.len && line.text[n] == *c)
        n++;
    return n < 3 ? 0 : n;
}

static bool closes(struct span line, char open, size_t width)
{
    char c = 0;
    const size_t n = fence_of(line, &c);

    return n >= width && c == open && trim(line).len == n;
}

struct blocks {
    struct span items[MAX_BLOCKS];
    unsigned nr;
    bool open;          /* the last one has no end */
    struct span before; /* text before the first */
};

static void find_blocks(const char *text, struct blocks *blocks)
{
    const char *at = text, *next, *start = NULL;
    size_t width = 0;
    char open = 0;

    *blocks = (struct blocks){.before = {text, strlen(text)}};
    for (; at && *at; at = next) {
        const struct span line = line_at(at, &next);

        if (!start) {
            width = fence_of(line, &open);
            if (width > 0) {
                start = next ? next : line.text + line.len;
                if (blocks->nr == 0)
                    blocks->before.len = (size_t)(at - text);
            }
        } else if (closes(line, open, width)) {
            if (blocks->nr < MAX_BLOCKS)
                blocks->items[blocks->nr++] = (struct span){start, (size_t)(at - start)};
            start = NULL;
        }
    }
    if (start && blocks->nr < MAX_BLOCKS) {
        blocks->items[blocks->nr++] = (struct span){start, strlen(start)};
        blocks->open = true;
    }
}

static bool contains(struct span s, const char *word)
{
    return memmem(s.text, s.len, word, strlen(word)) != NULL;
}

/* The width of "  12| " at the start of the line: a number that the prompt gave it. 0: none. */
static size_t number_width(struct span line)
{
    size_t i = 0;
    const size_t digits_from = strspn(line.text, " ");

    for (i = digits_from; i < line.len && isdigit((unsigned char)line.text[i]); i++)
        ;
    if (i == digits_from || i >= line.len || line.text[i] != '|')
        return 0;
    return i + 1 < line.len && line.text[i + 1] == ' ' ? i + 2 : i + 1;
}

static struct span strip_numbers(struct arena *arena, struct span code)
{
    const char *copy = arena_strndup(arena, code.text, code.len), *at, *next;
    struct str out = {0};

    for (at = copy; at && *at; at = next) {
        const struct span line = line_at(at, &next);
        const size_t width = number_width(line);

        if (width == 0 && trim(line).len > 0) {
            str_finish(&out);
            return (struct span){copy, code.len};
        }
        str_add_n(&out, line.text + width, line.len - width);
        str_add_char(&out, '\n');
    }
    code = (struct span){arena_strndup(arena, str_text(&out), out.len), out.len};
    str_finish(&out);
    return code;
}

/* --- edits --- */

struct edit_text {
    struct span search, replace;
};

static bool marks(struct span line, char c, const char *word)
{
    size_t n = 0;

    line = trim(line);
    while (n < line.len && line.text[n] == c)
        n++;
    const struct span rest = trim((struct span){line.text + n, line.len - n});

    return n >= 5 && n <= 9 && rest.len == strlen(word) && !strncmp(rest.text, word, rest.len);
}

/* The number of edits; -1: the last one has no end. */
static int find_edits(const char *text, struct edit_text edits[MAX_EDITS])
{
    const char *at = text, *next, *search = NULL, *replace = NULL;
    struct edit_text edit = {{0}, {0}};
    int nr = 0;

    for (; at && *at; at = next) {
        const struct span line = line_at(at, &next);
        const char *after = next ? next : line.text + line.len;

        if (!search && !replace && marks(line, '<', "SEARCH")) {
            search = after;
        } else if (search && !replace && marks(line, '=', "")) {
            edit.search = (struct span){search, (size_t)(at - search)};
            replace = after;
        } else if (replace && marks(line, '>', "REPLACE")) {
            edit.replace = (struct span){replace, (size_t)(at - replace)};
            if (nr < MAX_EDITS)
                edits[nr++] = edit;
            search = replace = NULL;
        }
    }
    return search || replace ? -1 : nr;
}

/* Whether the lines of `want` stand at `at`, but for blanks at their ends. *len: the bytes that
 * they cover there. */
static bool lines_match(const char *at, struct span want, size_t *len)
{
    const char *p = at, *end = want.text + want.len, *w = want.text;

    while (w < end) {
        const char *stop = memchr(w, '\n', (size_t)(end - w));
        const struct span wanted = trim((struct span){w, (size_t)((stop ? stop : end) - w)});
        const char *next = NULL;

        if (!p || !same(trim(line_at(p, &next)), wanted))
            return false;
        p = next;
        w = stop ? stop + 1 : end;
    }
    *len = p ? (size_t)(p - at) : strlen(at);
    return true;
}

/* The number of places where an edit's SEARCH part stands, and the first of them: as exact text, or
 * if that is nowhere, as whole lines but for blanks. */
static unsigned find_text(const char *base, struct span want, size_t *at, size_t *len)
{
    unsigned nr = 0;

    for (const char *p = base; want.len > 0 && (p = memmem(p, strlen(p), want.text, want.len));
         p++) {
        if (nr++ == 0) {
            *at = (size_t)(p - base);
            *len = want.len;
        }
    }
    if (nr > 0 || trim(want).len == 0)
        return nr;
    for (const char *p = base, *next; p && *p; p = next) {
        size_t n;

        line_at(p, &next);
        if (lines_match(p, want, &n) && nr++ == 0) {
            *at = (size_t)(p - base);
            *len = n;
        }
    }
    return nr;
}

static struct reply bad_edit(
    struct arena *arena, const struct edit_text *edit, int number, unsigned places)
{
    const struct span shown = trim(edit->search);

    return (struct reply){.kind = REPLY_BAD_EDIT,
        .why = arena_printf(arena,
            "edit %d cannot be made: its SEARCH part stands %s in the file; it must stand there "
            "exactly once, as it is. It was:\n%.*s",
            number, places ? arena_printf(arena, "in %u places", places) : "nowhere",
            (int)(shown.len < 400 ? shown.len : 400), shown.text)};
}

static struct reply apply_edits(
    struct arena *arena, const struct edit_text *edits, int nr, const char *base)
{
    const char *text = base;

    for (int i = 0; i < nr; i++) {
        size_t at = 0, len = 0;
        const struct span search = strip_numbers(arena, edits[i].search);
        const struct span replace = strip_numbers(arena, edits[i].replace);
        const unsigned places = find_text(text, search, &at, &len);

        if (places != 1)
            return bad_edit(arena, &edits[i], i + 1, places);
        struct str out = {0};
        str_add_n(&out, text, at);
        str_add_n(&out, replace.text, replace.len);
        str_add(&out, text + at + len);
        text = arena_strndup(arena, str_text(&out), out.len);
        str_finish(&out);
    }
    return (struct reply){.kind = REPLY_SOURCE, .source = text, .bytes = strlen(text)};
}

/* --- whole files --- */

static const char launch_line[] = "#pragma keet launch";

static bool has_launch(struct span code)
{
    const char *end = code.text + code.len;

    for (const char *p = code.text; p < end;) {
        const char *stop = memchr(p, '\n', (size_t)(end - p));
        struct span line = trim((struct span){p, (size_t)((stop ? stop : end) - p)});

        if (starts(line, "#")) {
            line = trim((struct span){line.text + 1, line.len - 1});
            if (starts(line, "pragma") && contains(line, "keet") && contains(line, "launch"))
                return true;
        }
        p = stop ? stop + 1 : end;
    }
    return false;
}

static bool is_kernel(struct span code)
{
    return contains(code, "__global__");
}

static struct reply of_code(struct arena *arena, struct span code)
{
    code = strip_numbers(arena, code);
    const char *source = arena_strndup(arena, code.text, code.len);

    return (struct reply){.kind = REPLY_SOURCE, .source = source, .bytes = code.len};
}

/* The block that is a kernel file: the one with launch lines, if only one has them. */
static struct reply choose_block(struct arena *arena, const struct blocks *blocks, bool truncated)
{
    const struct span *chosen = NULL;
    unsigned nr_kernels = 0, nr_files = 0;

    for (unsigned i = 0; i < blocks->nr; i++) {
        const struct span *block = &blocks->items[i];
        const struct span numberless = strip_numbers(arena, *block);

        if (!is_kernel(*block))
            continue;
        nr_kernels++;
        if (!has_launch(numberless))
            continue;
        if (blocks->open && i == blocks->nr - 1)
            truncated = true;
        if (!chosen || !same(trim(*chosen), trim(*block)))
            nr_files++;
        chosen = block;
    }
    if (nr_files == 1 && !(truncated && blocks->open && chosen == &blocks->items[blocks->nr - 1]))
        return of_code(arena, *chosen);
    if (truncated || (blocks->open && nr_files == 0))
        return (struct reply){.kind = REPLY_TRUNCATED,
            .why = "the answer ends inside its code: it was cut short. Return the complete file, "
                   "or only the edits that are needed"};
    if (nr_files > 1)
        return (struct reply){.kind = REPLY_TWO,
            .why = arena_printf(
                arena, "the answer holds %u different kernel files; return exactly one", nr_files)};
    if (nr_kernels > 0)
        return (struct reply){.kind = REPLY_NO_LAUNCH,
            .why = arena_printf(arena,
                "the code has no `%s` line; return the complete file with its pragma lines",
                launch_line)};
    return (struct reply){.kind = REPLY_NO_KERNEL, .why = "the answer holds no kernel"};
}

/* A file without fences: the text from the first line that looks like code. */
static bool bare_file(const char *text, struct span *code)
{
    const struct span all = {text, strlen(text)};

    if (!is_kernel(all) || !has_launch(all))
        return false;
    for (const char *p = text, *next; p; p = next) {
        const struct span line = trim(line_at(p, &next));

        if (starts(line, "#") || starts(line, "//") || starts(line, "__global__") ||
            starts(line, "/*")) {
            *code = (struct span){p, strlen(p)};
            return true;
        }
    }
    return false;
}

static bool refuses(struct span text)
{
    static const char *const words[] = {"I can't", "I cannot", "I can not", "I'm sorry",
        "I am sorry", "I'm unable", "I am unable", "I won't", "cannot help", "can't help",
        "can't assist", "cannot assist"};

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (contains(text, words[i]))
            return true;
    return false;
}

/* At most so many bytes, and no part of a character. */
static size_t cut(const char *text, size_t len, size_t most)
{
    if (len <= most)
        return len;
    for (len = most; len > 0 && ((unsigned char)text[len] & 0xc0) == 0x80;)
        len--;
    return len;
}

/* The first sentence of the text before the code, headings left out. */
static const char *note_of(struct arena *arena, struct span before)
{
    struct span s = trim(before);
    size_t len = 0;

    while (s.len > 0 && (s.text[0] == '#' || s.text[0] == '<' || s.text[0] == '*')) {
        const char *stop = memchr(s.text, '\n', s.len);
        const size_t skip = stop ? (size_t)(stop - s.text) : s.len;
        s = trim((struct span){s.text + skip, s.len - skip});
    }
    for (; len < s.len && len < NOTE_BYTES; len++) {
        if (s.text[len] == '\n' && (len + 1 >= s.len || s.text[len + 1] == '\n'))
            break;
        if (s.text[len] == '.' && (len + 1 >= s.len || isspace((unsigned char)s.text[len + 1])))
            break;
    }
    char *note =
        arena_strndup(arena, s.text, len < NOTE_BYTES ? len : cut(s.text, s.len, NOTE_BYTES));
    for (char *p = note; *p; p++)
        *p = *p == '\n' ? ' ' : *p;
    return note;
}

/* What follows a word such as "MOVE:" at the beginning of a line, marks of emphasis aside, in the
 * text before the code; "": there is no such line. */
static const char *line_after(struct arena *arena, struct span text, const char *word)
{
    const char *p = text.text, *end = text.text + text.len;

    while (p && p < end) {
        const char *stop = memchr(p, '\n', (size_t)(end - p));
        struct span line = trim((struct span){p, (size_t)((stop ? stop : end) - p)});

        while (line.len > 0 && strchr("*_`>- ", line.text[0]))
            line = (struct span){line.text + 1, line.len - 1};
        if (starts(line, word)) {
            const size_t len = strlen(word);

            line = (struct span){line.text + len, line.len - len};
            while (line.len > 0 && strchr("*_` ", line.text[0]))
                line = (struct span){line.text + 1, line.len - 1};
            while (line.len > 0 && strchr("*_` ", line.text[line.len - 1]))
                line.len--;
            return arena_strndup(arena, line.text, cut(line.text, line.len, LINE_BYTES));
        }
        p = stop ? stop + 1 : NULL;
    }
    return "";
}

struct reply reply_read(struct arena *arena, const char *text, const char *base, bool truncated)
{
    struct blocks blocks;
    struct edit_text edits[MAX_EDITS];
    struct span code;
    struct reply reply;

    text = unify_newlines(arena, text);
    find_blocks(text, &blocks);
    const int nr_edits = find_edits(text, edits);
    if (nr_edits < 0 || (nr_edits > 0 && truncated)) {
        reply = (struct reply){.kind = REPLY_TRUNCATED,
            .why =
                "the answer ends inside an edit: it was cut short. Return fewer, complete edits"};
    } else if (nr_edits > 0) {
        reply = apply_edits(arena, edits, nr_edits, base);
    } else {
        reply = choose_block(arena, &blocks, truncated);
        if (reply.kind == REPLY_NO_KERNEL && blocks.nr == 0 && bare_file(text, &code))
            reply = of_code(arena, code);
        else if (reply.kind == REPLY_NO_KERNEL && refuses(blocks.before))
            reply = (struct reply){.kind = REPLY_REFUSED, .why = "the model refused"};
    }
    reply.move = line_after(arena, blocks.before, "MOVE:");
    reply.expect = line_after(arena, blocks.before, "EXPECT:");
    if (reply.kind == REPLY_NO_KERNEL || reply.kind == REPLY_REFUSED) {
        const char *reason = line_after(arena, (struct span){text, strlen(text)}, "DECLINE:");

        if (*reason)
            reply = (struct reply){.kind = REPLY_DECLINED, .why = reason, .move = "", .expect = ""};
    }
    reply.note = *reply.move ? arena_strndup(arena, reply.move,
                                   cut(reply.move, strlen(reply.move), NOTE_BYTES))
                             : note_of(arena, blocks.before);
    if (reply.kind != REPLY_SOURCE && *reply.note && reply.kind <= REPLY_REFUSED)
        reply.why = arena_printf(arena, "%s: %s", reply.why, reply.note);
    return reply;
}
