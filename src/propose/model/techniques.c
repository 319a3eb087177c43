/* Owns the pages of techniques: reading, and choosing by facts. */
#include "propose/model/techniques.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"
#include "core/lesson.h"

#include <ctype.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_PAGES = 256,
    PAGE_BYTES = 1 << 16,
    USERS_SCORE = 1000,
    FACT_SCORE = 2,
    FOUND_SCORE = 3
};

struct technique {
    const char *title, *fits, *needs, *unless, *body;
    bool is_users;
};

struct techniques {
    struct arena *arena;
    const char *dir; /* of the program's own pages */
    struct technique pages[MOST_PAGES];
    unsigned nr;
};

/* ---- reading ---- */

/* The next word of a list; 0: none is left. */
static size_t next_word(const char **at)
{
    *at += strspn(*at, " \t");
    return strcspn(*at, " \t");
}

/* What follows `head` up to the next semicolon; "": nothing. */
static const char *part_of(struct arena *arena, const char *line, const char *head)
{
    const char *at = strstr(line, head);

    at = at ? at + strlen(head) : "";
    return arena_strndup(arena, at, strcspn(at, ";"));
}

/* Append the pages of moves, ../../actions/<move>.md seen from the program's own pages. */
static bool add_moves(struct techniques *t, const char *path, const char *moves, struct err *err)
{
    struct technique *page = &t->pages[t->nr];
    size_t len;

    for (const char *at = moves; (len = next_word(&at)) > 0; at += len) {
        const char *file = arena_printf(t->arena, "%s/../actions/%.*s.md", t->dir, (int)len, at);
        size_t bytes;
        char *text;

        if (!file_read(file, PAGE_BYTES, &text, &bytes, err))
            return err_wrap(err, "%s", path);
        page->body = arena_printf(t->arena, "%s\n###%s", page->body, text);
        free(text);
    }
    return true;
}

static bool read_page(struct techniques *t, const char *path, bool is_users, struct err *err)
{
    struct technique *page = &t->pages[t->nr];
    const char *second, *moves;
    char *text, *fits;
    size_t len;

    if (t->nr == MOST_PAGES)
        return err_set(err, "%s: more than %d pages of techniques", path, MOST_PAGES);
    if (!file_read(path, PAGE_BYTES, &text, &len, err))
        return err_wrap(err, "techniques");
    *page = (struct technique){.is_users = is_users};
    second = str_next_line(text);
    if (!str_starts(text, "# ") || !second || !str_starts(second, "Fits:")) {
        free(text);
        return err_set(err,
            "%s: expected a line \"# Title\" and a line \"Fits: word word; needs word\"", path);
    }
    page->title = arena_strndup(t->arena, text + 2, strcspn(text + 2, "\n"));
    second += strlen("Fits:");
    fits = arena_strndup(t->arena, second, strcspn(second, "\n"));
    page->needs = part_of(t->arena, fits, "; needs");
    page->unless = part_of(t->arena, fits, "; unless");
    moves = part_of(t->arena, fits, "; moves");
    fits[strcspn(fits, ";")] = '\0';
    page->fits = fits;
    second = str_next_line(second);
    page->body = arena_strdup(t->arena, second ? second : "");
    if (!add_moves(t, path, moves, err)) {
        free(text);
        return false;
    }
    free(text);
    t->nr++;
    return true;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* All pages of a folder, by name. */
static bool read_folder(struct techniques *t, const char *dir, bool is_users, struct err *err)
{
    const char *paths[MOST_PAGES];
    unsigned nr = 0;
    struct dirent *entry;
    DIR *open = opendir(dir);

    if (!open)
        return err_set(err, "techniques: %s cannot be read", dir);
    while ((entry = readdir(open)) && nr < MOST_PAGES)
        if (str_ends(entry->d_name, ".md") && entry->d_name[0] != '.')
            paths[nr++] = arena_printf(t->arena, "%s/%s", dir, entry->d_name);
    closedir(open);
    qsort(paths, nr, sizeof(*paths), by_text);
    for (unsigned i = 0; i < nr; i++)
        if (!read_page(t, paths[i], is_users, err))
            return false;
    return true;
}

struct techniques *techniques_load(const char *dir, const char *user_dir, struct err *err)
{
    struct techniques *t = xcalloc(1, sizeof(*t));

    t->arena = arena_create();
    t->dir = arena_strdup(t->arena, dir);
    if (read_folder(t, dir, false, err) && (!user_dir || read_folder(t, user_dir, true, err)))
        return t;
    techniques_destroy(t);
    return NULL;
}

void techniques_destroy(struct techniques *t)
{
    if (!t)
        return;
    arena_destroy(t->arena);
    free(t);
}

/* ---- facts ---- */

/* Elements of the arrays that a role reads or writes; 0: not known. */
static double elems_of(const struct task *task, bool inputs)
{
    double sum = 0;

    for (unsigned i = 0; i < task->nr_arrays; i++) {
        const struct task_array *array = &task->arrays[i];
        const bool is_out = array->role == ROLE_OUT || array->role == ROLE_INOUT;
        const bool is_in = array->role == ROLE_IN || array->role == ROLE_INOUT;
        uint64_t nr;
        struct err ignored;

        if (!(inputs ? is_in : is_out))
            continue;
        if (!array_elems(array, &task->timed.sizes, &nr, &ignored))
            return 0;
        sum += (double)nr;
    }
    return sum;
}

static unsigned nr_matrices_in(const struct task *task)
{
    unsigned nr = 0;

    for (unsigned i = 0; i < task->nr_arrays; i++)
        nr += task->arrays[i].role == ROLE_IN && task->arrays[i].nr_dims >= 2;
    return nr;
}

static bool has_work(const struct task *task)
{
    for (int i = 0; i < NR_WORKS; i++)
        if (task->work[i])
            return true;
    return false;
}

static void add_contract(struct str *out, const struct candidate *c)
{
    const struct task *task = c->task;
    const unsigned features = lesson_features(c);
    const bool reuse = (features & FEATURE_REUSE) || !has_work(task);
    const double in = elems_of(task, true), written = elems_of(task, false);

    for (unsigned i = 0; i < task->nr_arrays; i++)
        str_addf(out, "%s ", elem_name(task->arrays[i].elem));
    str_add(out, features & FEATURE_MATRIX ? "matrix " : "");
    str_add(out, features & FEATURE_LAUNCHES ? "launches " : "");
    str_add(out, features & FEATURE_LOOP ? "loop " : "");
    str_add(out, features & FEATURE_ATOMIC ? "atomics " : "");
    str_add(out, features & FEATURE_SHARED ? "shared " : "");
    str_add(out, reuse ? "reuse " : "");
    str_add(out, features & FEATURE_REUSE ? "" : "streaming ");
    str_add(out, reuse && nr_matrices_in(task) >= 2 ? "product " : "");
    str_add(out, written > 0 && in >= 8 * written ? "reduction " : "");
}

const char *technique_facts(struct arena *arena, const struct candidate *c, const char *executes)
{
    struct str out = {0};
    char *text;

    str_add(&out, " ");
    if (c->task)
        add_contract(&out, c);
    if (c->explanation.bound != BOUND_UNKNOWN)
        str_addf(&out, "%s ", bound_name(c->explanation.bound));
    for (unsigned i = 0; i < c->explanation.nr_findings; i++)
        str_addf(&out, "%s ", c->explanation.findings[i].tool);
    str_addf(&out, "%s ", executes);
    text = arena_strndup(arena, str_text(&out), out.len);
    str_finish(&out);
    return text;
}

/* ---- choosing ---- */

/* Words that are facts or nothing: many a source holds them. */
static const char all_facts[] =
    " matrix launches loop atomics shared reuse streaming product reduction compute memory latency "
    "f64 f32 f16 bf16 tensor cp_async mma wmma ldmatrix mbarrier wgmma tma cluster ";

static bool is_fact(const char *facts, const char *word, size_t len)
{
    for (const char *at = facts; (at = strchr(at, ' ')); at++)
        if (strncmp(at + 1, word, len) == 0 && at[1 + len] == ' ')
            return true;
    return false;
}

static bool holds_word(const char *source, const char *word, size_t len)
{
    for (; *source; source++)
        if (strncasecmp(source, word, len) == 0)
            return true;
    return false;
}

static unsigned score_of(
    const struct technique *page, const char *facts, const char *original, const char *shown)
{
    unsigned score = 0, found = 0;
    size_t len;

    for (const char *at = page->needs; (len = next_word(&at)) > 0; at += len)
        if (!is_fact(facts, at, len))
            return 0;
    for (const char *at = page->unless; (len = next_word(&at)) > 0; at += len)
        if (holds_word(shown, at, len))
            return 0;
    for (const char *at = page->fits; (len = next_word(&at)) > 0; at += len) {
        if (is_fact(facts, at, len))
            score += FACT_SCORE;
        else if (!is_fact(all_facts, at, len) && holds_word(original, at, len))
            score += found++ ? 1 : FOUND_SCORE; /* one such word says what the kernel is */
    }
    return score > 0 && page->is_users ? score + USERS_SCORE : score;
}

/* The page of the highest score that was not taken; NULL: there is none. */
static const struct technique *take_best(const struct techniques *t, unsigned scores[MOST_PAGES])
{
    unsigned best = 0;

    for (unsigned i = 1; i < t->nr; i++)
        if (scores[i] > scores[best])
            best = i;
    if (t->nr == 0 || scores[best] == 0)
        return NULL;
    scores[best] = 0;
    return &t->pages[best];
}

static void add_page(struct str *out, const struct technique *page)
{
    str_addf(out, "%s### %s\n%s", out->len > 0 ? "\n" : "", page->title, page->body);
}

const char *techniques_choose(const struct techniques *t, const char *facts, const char *original,
    const char *shown, unsigned first, unsigned nr, struct arena *arena, const char **title)
{
    unsigned scores[MOST_PAGES], most[MOST_PAGES];
    const struct technique *page = NULL, *foremost = NULL;
    struct str out = {0};
    char *text;

    for (unsigned i = 0; i < t->nr; i++)
        scores[i] = most[i] = score_of(&t->pages[i], facts, original, shown);
    for (unsigned i = 0; i <= first && (page = take_best(t, most)); i++)
        foremost = page;
    *title = page ? foremost->title : NULL;
    if (page && nr > 0) {
        add_page(&out, page);
        nr--;
    }
    foremost = page;
    while (nr > 0 && (page = take_best(t, scores))) {
        if (page == foremost)
            continue;
        add_page(&out, page);
        nr--;
    }
    text = arena_strndup(arena, str_text(&out), out.len);
    str_finish(&out);
    return text;
}

const char *techniques_page(const struct techniques *t, const char *words, struct arena *arena)
{
    for (unsigned i = 0; *words && i < t->nr; i++) {
        const struct technique *page = &t->pages[i];

        if (strcasestr(page->title, words) || strcasestr(words, page->title))
            return arena_printf(arena, "### %s\n%s", page->title, page->body);
    }
    return NULL;
}

const char *techniques_titles(const struct techniques *t, struct arena *arena)
{
    struct str out = {0};
    const char *text;

    for (unsigned i = 0; i < t->nr; i++)
        str_addf(&out, "- %s\n", t->pages[i].title);
    text = arena_strndup(arena, str_text(&out), out.len);
    str_finish(&out);
    return text;
}
