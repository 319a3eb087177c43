/* Owns what Makefiles and CMakeLists.txt say of folders and macros. Knows as much of their
 * languages as assignments, conditions and lists need. */
#include "intake/gather/buildfile.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"

#include <stdlib.h>
#include <string.h>

enum {
    MAX_BUILD_BYTES = 1 << 18,
    MAX_VARIABLES = 256,
    MAX_NESTING = 16,
    MAX_EXPANDED = 1 << 14,
    MAX_UP = 4
};

struct variable {
    const char *name, *value;
};

struct build_reader {
    struct build *build;
    struct arena *arena;
    const char *folder; /* the folder of the file that is read; "": the current one */
    const char *source; /* the name of the user's file */
    bool compiled;      /* a recipe that names source was read */
    unsigned file;
    size_t at; /* the byte of the line that is read */
    struct variable variables[MAX_VARIABLES];
    unsigned nr_variables;
    struct {
        bool now, before; /* now: this branch is taken; before: an earlier one was */
    } branch[MAX_NESTING];
    unsigned nested;
};

/* ---- what is found ---- */

/* The folder belongs to the CUDA toolkit: the compiler finds what is in it. */
static bool is_toolkit(struct arena *arena, const char *dir)
{
    return file_exists(arena_printf(arena, "%s/cuda_runtime_api.h", dir));
}

static void add_dir(struct build_reader *r, const char *dir)
{
    struct build *b = r->build;
    const char *path =
        *dir == '/' || !*r->folder ? dir : arena_printf(r->arena, "%s/%s", r->folder, dir);

    if (*dir && b->nr_dirs < BUILD_MAX_DIRS && !strpbrk(dir, "$<>") && file_exists(path) &&
        !is_toolkit(r->arena, path))
        b->dirs[b->nr_dirs++] = path;
}

static void add_define(struct build_reader *r, const char *text)
{
    struct build *b = r->build;
    size_t nr = 0;
    struct str value = {0};

    while (str_word_char(text[nr]))
        nr++;
    if (nr == 0 || (text[nr] && text[nr] != '=') || (*text >= '0' && *text <= '9') ||
        strpbrk(text, "$\n"))
        return;
    for (const char *p = text[nr] ? text + nr + 1 : "1"; *p; p++) /* \"x\" in a shell is "x" */
        if (*p != '\\' && *p != '\'' && !(*p == '"' && p[-1] != '\\'))
            str_add_char(&value, *p);
    const char *name = arena_strndup(r->arena, text, nr);

    for (unsigned i = 0; i < b->nr_defines && name; i++)
        if (strcmp(b->defines[i].name, name) == 0)
            name = NULL;
    if (name && b->nr_defines < BUILD_MAX_DEFINES)
        b->defines[b->nr_defines++] =
            (struct build_define){name, arena_strdup(r->arena, str_text(&value)), r->file, r->at};
    str_finish(&value);
}

/* The next word of *p, without the quotes around it; NULL: there is none. */
static const char *next_word(struct arena *arena, const char **p)
{
    *p += strspn(*p, " \t\r\n");
    size_t nr = strcspn(*p, " \t\r\n");
    const char *word = arena_strndup(arena, *p, nr);

    *p += nr;
    if (nr > 1 && (*word == '"' || *word == '\'') && word[nr - 1] == *word)
        word = arena_strndup(arena, word + 1, nr - 2);
    return nr ? word : NULL;
}

/* Adds -I DIR, -IDIR, -D NAME=VALUE and -DNAME among the words of a text. */
static void add_flags(struct build_reader *r, const char *text)
{
    for (const char *p = text, *word; (word = next_word(r->arena, &p)) != NULL;) {
        bool dir = str_starts(word, "-I"), define = str_starts(word, "-D");
        const char *what = word + 2;

        if (!dir && !define)
            continue;
        if (!*what && !(what = next_word(r->arena, &p)))
            break;
        if (dir)
            add_dir(r, what);
        else
            add_define(r, what);
    }
}

/* ---- Makefiles ---- */

static struct variable *variable(struct build_reader *r, const char *name, size_t nr)
{
    for (unsigned i = 0; i < r->nr_variables; i++)
        if (strncmp(r->variables[i].name, name, nr) == 0 && !r->variables[i].name[nr])
            return &r->variables[i];
    return NULL;
}

/* Adds a text with the values of $(NAME) and ${NAME}; a variable that is not known is empty. */
static void expand(struct build_reader *r, const char *text, unsigned depth, struct str *out)
{
    while (*text && out->len < MAX_EXPANDED) {
        size_t nr = strcspn(text, "$");

        str_add_n(out, text, nr);
        text += nr;
        if (!*text)
            break;
        const char close = text[1] == '(' ? ')' : text[1] == '{' ? '}' : 0;
        const char *end = close ? strchr(text + 2, close) : NULL;

        if (!end) {
            text += text[1] ? 2 : 1;
            continue;
        }
        const struct variable *v = variable(r, text + 2, (size_t)(end - text - 2));

        if (v && depth > 0)
            expand(r, v->value, depth - 1, out);
        text = end + 1;
    }
}

static const char *expanded(struct build_reader *r, const char *text)
{
    struct str out = {0};

    expand(r, text, MAX_NESTING, &out);
    return str_move(&out, r->arena);
}

static const char *trimmed(struct arena *arena, const char *text, size_t nr)
{
    while (nr > 0 && strchr(" \t\r", *text))
        text++, nr--;
    while (nr > 0 && strchr(" \t\r", text[nr - 1]))
        nr--;
    return arena_strndup(arena, text, nr);
}

/* The condition of ifeq (a,b), ifeq "a" "b" or ifdef NAME holds. */
static bool holds(struct build_reader *r, const char *line, bool defined)
{
    const char *rest = line + strcspn(line, " \t(");
    const char *comma = strrchr(rest, ','), *p = rest, *a, *b;

    rest += strspn(rest, " \t");
    if (defined) {
        const struct variable *v = variable(r, rest, strcspn(rest, " \t\r#"));

        return v && *v->value;
    }
    if (*rest == '(' && comma) {
        const char *end = strrchr(comma, ')');

        a = trimmed(r->arena, rest + 1, (size_t)(comma - rest - 1));
        b = trimmed(r->arena, comma + 1, end ? (size_t)(end - comma - 1) : strlen(comma + 1));
    } else {
        a = next_word(r->arena, &p);
        b = next_word(r->arena, &p);
    }
    return a && b && strcmp(expanded(r, a), expanded(r, b)) == 0;
}

/* Takes a line with a condition. False: the line is another one. */
static bool make_condition(struct build_reader *r, const char *line)
{
    const bool equal = str_starts(line, "ifeq"), unequal = str_starts(line, "ifneq"),
               defined = str_starts(line, "ifdef"), undefined = str_starts(line, "ifndef");

    if (equal || unequal || defined || undefined) {
        if (r->nested < MAX_NESTING) {
            const bool outer = r->nested == 0 || r->branch[r->nested - 1].now;
            const bool is = holds(r, line, defined || undefined) == (equal || defined);

            r->branch[r->nested].now = outer && is;
            r->branch[r->nested].before = !outer || is;
        }
        r->nested++;
    } else if (str_starts(line, "endif")) {
        r->nested -= r->nested > 0;
    } else if (str_starts(line, "else") && r->nested > 0 && r->nested <= MAX_NESTING) {
        const char *rest = line + 4 + strspn(line + 4, " \t");
        const unsigned at = r->nested - 1;

        if (str_starts(rest, "if")) { /* else ifeq ...: another branch of the same condition */
            const bool before = r->branch[at].before;

            r->nested--;
            make_condition(r, rest);
            r->branch[at].now = r->branch[at].now && !before;
            r->branch[at].before = r->branch[at].before || before;
        } else {
            r->branch[at].now = !r->branch[at].before;
            r->branch[at].before = true;
        }
    } else {
        return false;
    }
    return true;
}

static void assign(struct build_reader *r, const char *name, size_t nr, const char *value)
{
    struct variable *v = variable(r, name, nr);

    if (v)
        v->value = value;
    else if (r->nr_variables < MAX_VARIABLES)
        r->variables[r->nr_variables++] =
            (struct variable){arena_strndup(r->arena, name, nr), value};
}

static void make_assignment(struct build_reader *r, const char *line, const char *equals)
{
    size_t nr = (size_t)(equals - line);
    const char kind = nr > 0 ? line[nr - 1] : 0;

    while (nr > 0 && strchr(":?+ \t", line[nr - 1]))
        nr--;
    const char *value = equals + 1 + strspn(equals + 1, " \t");
    const struct variable *v = variable(r, line, nr);

    if (nr == 0 || memchr(line, ' ', nr) || (kind == '?' && v))
        return;
    value = kind == ':' ? expanded(r, value) : arena_strdup(r->arena, value);
    if (kind == '+' && v)
        value = arena_printf(r->arena, "%s %s", v->value, expanded(r, value));
    assign(r, line, nr, value);
}

/* The recipe compiles other files, or this file once more with other macros. */
static bool is_of_others(struct build_reader *r, const char *recipe)
{
    const char *p = recipe, *word;
    bool named = false, sources = false;

    while ((word = next_word(r->arena, &p)) != NULL) {
        sources |= str_ends(word, ".cu") && !strpbrk(word, "$*%");
        named |= strcmp(file_name(word), r->source) == 0;
    }
    const bool again = named && r->compiled;

    r->compiled |= named;
    return (sources && !named) || again;
}

static void make_line(struct build_reader *r, const char *line)
{
    const bool recipe = *line == '\t';

    line += strspn(line, " \t");
    if (make_condition(r, line) || r->nested > MAX_NESTING ||
        (r->nested > 0 && !r->branch[r->nested - 1].now))
        return;
    if (recipe && is_of_others(r, line))
        return;
    const char *equals = recipe ? NULL : strchr(line, '=');

    add_flags(r, expanded(r, line)); /* where the flag is written, so that its line can be shown */
    if (equals && equals > line)
        make_assignment(r, line, equals);
}

/* ---- CMakeLists.txt ---- */

enum listing { LIST_NONE, LIST_DIRS, LIST_DEFINES };

/* Carries out a command with its arguments. */
static void cmake_command(struct build_reader *r, const char *name, const char *arguments)
{
    static const char *const ends[] = {"SOURCES", "CATEGORIES", "COMPILE_OPTIONS", "NAME", "MODEL",
        "LINK_LIBRARIES", "DEPENDS", "PROPERTIES", NULL};
    static const char *const scopes[] = {
        "PRIVATE", "PUBLIC", "INTERFACE", "COMPILE_DEFINITIONS", NULL};
    enum listing list = LIST_NONE;
    bool first = true;

    if (strcmp(name, "include_directories") == 0 || strcmp(name, "target_include_directories") == 0)
        list = LIST_DIRS;
    else if (strcmp(name, "add_compile_definitions") == 0 ||
             strcmp(name, "target_compile_definitions") == 0)
        list = LIST_DEFINES;
    if (strcmp(name, "set") == 0) {
        const char *p = arguments, *variable_name = next_word(r->arena, &p);

        if (variable_name)
            assign(r, variable_name, strlen(variable_name), trimmed(r->arena, p, strlen(p)));
        return;
    }
    const char *p = expanded(r, arguments);

    add_flags(r, p);
    for (const char *word; (word = next_word(r->arena, &p)) != NULL; first = false) {
        if (strcmp(word, "INCLUDE_DIRS") == 0 || strcmp(word, "INCLUDE_DIRECTORIES") == 0)
            list = LIST_DIRS;
        else if (strcmp(word, "COMPILE_DEFINITIONS") == 0)
            list = LIST_DEFINES;
        else if (str_among(word, ends))
            list = LIST_NONE;
        if (first && str_starts(name, "target_"))
            continue; /* the first argument is the target */
        if (list == LIST_DIRS)
            add_dir(r, word);
        else if (list == LIST_DEFINES && !str_starts(word, "-") && !str_among(word, scopes))
            add_define(r, word);
    }
}

static void cmake_read(struct build_reader *r, const char *text)
{
    static const char *const here[] = {
        "CMAKE_CURRENT_SOURCE_DIR", "CMAKE_CURRENT_LIST_DIR", "PROJECT_SOURCE_DIR", NULL};
    const char *folder = *r->folder ? realpath(r->folder, NULL) : realpath(".", NULL);

    for (unsigned i = 0; here[i] && folder; i++)
        assign(r, here[i], strlen(here[i]), arena_strdup(r->arena, folder));
    free((char *)folder);
    for (const char *p = text; *p;) {
        size_t nr = 0;

        p += strspn(p, " \t\r\n");
        if (*p == '#') {
            p += strcspn(p, "\n");
            continue;
        }
        while (str_word_char(p[nr]))
            nr++;
        const char *open = p + nr + strspn(p + nr, " \t");
        const char *close = nr && *open == '(' ? strchr(open, ')') : NULL;

        if (!close) {
            p += nr ? nr : *p != 0;
            continue;
        }
        char *name = arena_strndup(r->arena, p, nr);

        for (char *c = name; *c; c++)
            *c = *c >= 'A' && *c <= 'Z' ? (char)(*c + 32) : *c;
        r->at = (size_t)(p - text);
        cmake_command(r, name, arena_strndup(r->arena, open + 1, (size_t)(close - open - 1)));
        p = close + 1;
    }
}

/* ---- the files ---- */

static void make_read(struct build_reader *r, const char *text)
{
    struct str line = {0};

    for (const char *p = text; *p;) {
        size_t nr = strcspn(p, "\n"), used = nr;

        if (line.len == 0)
            r->at = (size_t)(p - text);
        while (used > 0 && p[used - 1] == '\r')
            used--;
        const bool more = used > 0 && p[used - 1] == '\\';
        const char *comment = memchr(p, '#', used);

        str_add_n(&line, p, comment ? (size_t)(comment - p) : used - more);
        p += nr + (p[nr] != 0);
        if (more && !comment) {
            str_add_char(&line, ' ');
            continue;
        }
        make_line(r, str_text(&line));
        str_clear(&line);
    }
    str_finish(&line);
}

static bool read_one(struct build *build, struct arena *arena, const char *folder, const char *name,
    const char *source)
{
    struct build_reader *r = arena_alloc(arena, sizeof(*r));
    struct err ignored = {0};
    const char *path = *folder ? arena_printf(arena, "%s/%s", folder, name) : name;
    char *text;
    size_t bytes;

    if (build->nr_files == BUILD_MAX_FILES || !file_exists(path) ||
        !file_read(path, MAX_BUILD_BYTES, &text, &bytes, &ignored))
        return false;
    *r = (struct build_reader){.build = build,
        .arena = arena,
        .folder = folder,
        .source = source,
        .file = build->nr_files};
    build->files[build->nr_files++] =
        (struct build_file){path, arena_strndup(arena, text, bytes), bytes};
    if (str_ends(name, ".txt"))
        cmake_read(r, text);
    else
        make_read(r, text);
    free(text);
    return true;
}

static bool read_folder(
    struct build *build, struct arena *arena, const char *folder, const char *source)
{
    const bool make = read_one(build, arena, folder, "Makefile", source) ||
                      read_one(build, arena, folder, "makefile", source);

    return read_one(build, arena, folder, "CMakeLists.txt", source) || make;
}

void buildfile_read(
    struct build *build, struct arena *arena, const char *path, const struct intake_args *args)
{
    struct build_reader *r = arena_alloc(arena, sizeof(*r));
    const char *slash = strrchr(path, '/');
    const char *folder = slash ? arena_strndup(arena, path, (size_t)(slash - path)) : "";

    *build = (struct build){.nr_files = 1, .files = {{.path = "the command line", .text = ""}}};
    *r = (struct build_reader){.build = build, .arena = arena, .folder = ""};
    for (unsigned i = 0; i < args->nr_dirs; i++)
        add_dir(r, args->dirs[i]);
    for (unsigned i = 0; i < args->nr_defines; i++)
        add_define(r, args->defines[i]);
    for (unsigned up = 0; up < MAX_UP; up++) {
        const char *slashed = *folder ? arena_printf(arena, "%s/", folder) : "";

        if (read_folder(build, arena, folder, file_name(path)) ||
            file_exists(arena_printf(arena, "%s.git", slashed)))
            break;
        folder = arena_printf(arena, "%s..", slashed);
    }
}
