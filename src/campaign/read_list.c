/* Owns the text of a campaign's list: lines to words, words to tasks. */
#include "campaign/campaign.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { MOST_BYTES = 4 << 20, MOST_SEEDS = 1000, MOST_NAME = 100 };

struct option_words {
    const char **at;
    size_t nr, cap;
};

struct list_reader {
    struct campaign *c;
    campaign_parse *parse;
    void *user;
    const char *path;
    unsigned line;
    struct option_words
        common; /* of the command line and of all lines so far that are options only */
};

static void add_word(struct option_words *words, const char *word)
{
    words->at = grow(words->at, &words->cap, words->nr + 1, sizeof(*words->at));
    words->at[words->nr++] = word;
}

static bool at_line(const struct list_reader *r, struct err *err)
{
    return r->line ? err_wrap(err, "%s:%u", r->path, r->line) : err_wrap(err, "%s", r->path);
}

/* ---- a line to words ---- */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* Quotes group, a backslash takes the next character as it is (not between single quotes). */
static bool read_word(const char **at, const char *end, struct str *word, struct err *err)
{
    char quote = 0;

    str_clear(word);
    for (; *at < end && (quote || !is_blank(**at)); (*at)++) {
        const char c = **at;

        if (quote ? c == quote : c == '"' || c == '\'')
            quote = quote ? 0 : c;
        else if (c == '\\' && quote != '\'' && *at + 1 < end)
            str_add_char(word, *++*at);
        else
            str_add_char(word, c);
    }
    return !quote || err_set(err, "the quote %c is not closed", quote);
}

static bool split(struct list_reader *r, const char *at, const char *end,
    struct option_words *words, struct err *err)
{
    struct str word = {0};
    bool ok = true;

    while (ok) {
        while (at < end && is_blank(*at))
            at++;
        if (at == end || *at == '#')
            break;
        ok = read_word(&at, end, &word, err);
        if (ok)
            add_word(words, arena_strdup(r->c->arena, str_text(&word)));
    }
    str_finish(&word);
    return ok;
}

/* ---- words to tasks ---- */

/* The options of a line that the list itself reads. */
struct own {
    const char *name, *seeds, *level;
};

/* Move the list's own options out of the words; the last option of a kind counts. */
static bool take_own(struct option_words *words, struct own *own, struct err *err)
{
    static const char *const names[] = {"--name", "--seeds", "--level"};
    const char **const values[] = {&own->name, &own->seeds, &own->level};
    size_t kept = 0;

    for (size_t i = 0; i < words->nr; i++) {
        const char *word = words->at[i];
        bool taken = false;

        for (int n = 0; n < 3 && !taken; n++) {
            const size_t len = strlen(names[n]);
            taken = strncmp(word, names[n], len) == 0 && (word[len] == '\0' || word[len] == '=');
            if (!taken)
                continue;
            if (word[len] == '\0' && i + 1 == words->nr)
                return err_set(err, "%s needs a value", names[n]);
            *values[n] = word[len] ? word + len + 1 : words->at[++i];
        }
        if (!taken)
            words->at[kept++] = word;
    }
    words->nr = kept;
    return true;
}

/* The characters of which file names can be made. */
static const char *plain_name(struct arena *arena, const char *text)
{
    char *name = arena_strndup(arena, text, strnlen(text, MOST_NAME));

    for (char *at = name; *at; at++)
        if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._+-", *at) ||
            (at == name && (*at == '.' || *at == '-')))
            *at = '_';
    return name;
}

static bool add_task(struct list_reader *r, const char *kernel, const char *name, const char *level,
    const struct option_words *words, struct err *err)
{
    struct campaign *c = r->c;
    struct campaign_task task = {.name = name, .kernel = kernel, .level = level};

    for (unsigned i = 0; i < c->nr_tasks; i++)
        if (strcmp(c->tasks[i].name, name) == 0)
            return err_set(err, "there is another task called %s; give this one a --name", name);
    if (c->nr_tasks == CAMPAIGN_MOST_TASKS)
        return err_set(err, "more than %d tasks in one campaign", CAMPAIGN_MOST_TASKS);
    if (!r->parse(r->user, c, &task, words->at, (unsigned)words->nr, err))
        return false;
    c->tasks = grow(c->tasks, &c->cap_tasks, c->nr_tasks + 1, sizeof(*c->tasks));
    c->tasks[c->nr_tasks++] = task;
    return true;
}

/* One task per seed of "1,2,5-8". */
static bool add_seeds(struct list_reader *r, const char *kernel, const char *name,
    const struct own *own, const struct option_words *words, struct err *err)
{
    const char *at = own->seeds;
    bool ok = true;

    while (ok) {
        unsigned long long first, last;
        int used = 0;

        if (sscanf(at, "%19llu-%19llu%n", &first, &last, &used) < 2) {
            if (sscanf(at, "%19llu%n", &first, &used) < 1)
                used = 0;
            last = first;
        }
        /* sscanf takes -1 for a large number */
        if (used == 0 || *at < '0' || *at > '9' || (at[used] && at[used] != ',') || last < first ||
            last - first >= MOST_SEEDS)
            return err_set(err, "--seeds %s: expected numbers, such as 1,2,3 or 1-5", own->seeds);
        for (unsigned long long seed = first; ok && seed <= last; seed++) {
            struct option_words with = {0};

            for (size_t i = 0; i < words->nr; i++)
                add_word(&with, words->at[i]);
            add_word(&with, "--seed");
            add_word(&with, arena_printf(r->c->arena, "%llu", seed));
            ok = add_task(r, kernel, arena_printf(r->c->arena, "%s-%llu", name, seed), own->level,
                &with, err);
            free(with.at);
        }
        at += used;
        if (*at++ != ',')
            return ok;
    }
    return ok;
}

static bool real_file(struct list_reader *r, const char *path, const char **kernel, struct err *err)
{
    char *real = realpath(path, NULL);
    struct stat st;
    const bool ok = real && stat(real, &st) == 0 && S_ISREG(st.st_mode);

    if (ok)
        *kernel = arena_strdup(r->c->arena, real);
    else if (real)
        err_set(err, "%s: this is not a file", path);
    else
        err_errno(err, "%s", path);
    free(real);
    return ok;
}

static bool take_kernel(
    struct list_reader *r, const char *path, struct option_words *words, struct err *err)
{
    struct arena *arena = r->c->arena;
    struct own own = {0};
    const char *kernel, *name;

    if (!real_file(r, path, &kernel, err) || !take_own(words, &own, err))
        return false;
    name = file_name(kernel);
    if (str_ends(name, ".cu"))
        name = arena_strndup(arena, name, strlen(name) - 3);
    name = plain_name(arena, own.name ? own.name : name);
    if (own.name && (!*own.name || strcmp(name, own.name) != 0))
        return err_set(err,
            "--name %s: expected at most %d letters, digits and . _ + -, as for a file", own.name,
            MOST_NAME);
    return own.seeds ? add_seeds(r, kernel, name, &own, words, err)
                     : add_task(r, kernel, name, own.level, words, err);
}

/* ---- lists and directories ---- */

static bool take_line(struct list_reader *r, const char *at, const char *end, struct err *err)
{
    struct option_words own = {0}, words = {0};
    bool ok = split(r, at, end, &own, err);

    if (ok && own.nr > 0 && own.at[0][0] == '-') {
        for (size_t i = 0; i < own.nr; i++)
            add_word(&r->common, own.at[i]);
    } else if (ok && own.nr > 0) {
        const char *slash = strrchr(r->path, '/');
        const char *path = own.at[0];

        if (path[0] != '/' && slash)
            path = arena_printf(r->c->arena, "%.*s/%s", (int)(slash - r->path), r->path, own.at[0]);
        for (size_t i = 0; i < r->common.nr; i++)
            add_word(&words, r->common.at[i]);
        for (size_t i = 1; i < own.nr; i++)
            add_word(&words, own.at[i]);
        ok = take_kernel(r, path, &words, err);
    }
    free(own.at);
    free(words.at);
    return ok || at_line(r, err);
}

static bool take_list(struct list_reader *r, struct err *err)
{
    char *text;
    size_t len;
    bool ok = true;

    if (!file_read(r->path, MOST_BYTES, &text, &len, err))
        return false;
    if (memchr(text, '\0', len))
        ok = err_set(
            err, "%s: this is not a text file: one kernel file per line is expected", r->path);
    for (char *at = text; ok && *at;) {
        char *end = at + strcspn(at, "\n");

        r->line++;
        ok = take_line(r, at, end, err);
        at = end + (*end == '\n');
    }
    free(text);
    return ok;
}

static int only_cu(const struct dirent *entry)
{
    return entry->d_name[0] != '.' && str_ends(entry->d_name, ".cu");
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name); /* not alphasort: that depends on the locale */
}

static bool take_directory(struct list_reader *r, struct err *err)
{
    struct dirent **entries;
    const int nr = scandir(r->path, &entries, only_cu, by_name);
    bool ok = true;

    if (nr < 0)
        return err_errno(err, "%s", r->path);
    for (int i = 0; i < nr; i++) {
        struct option_words words = {0};

        for (size_t w = 0; w < r->common.nr; w++)
            add_word(&words, r->common.at[w]);
        ok = ok && take_kernel(r, arena_printf(r->c->arena, "%s/%s", r->path, entries[i]->d_name),
                       &words, err);
        free(words.at);
        free(entries[i]);
    }
    free(entries);
    return ok;
}

bool campaign_read(struct campaign *c, const char *path, const char *const *common,
    unsigned nr_common, campaign_parse *parse, void *user, struct err *err)
{
    struct list_reader r = {.c = c, .parse = parse, .user = user, .path = path};
    struct stat st;
    bool ok;

    for (unsigned i = 0; i < nr_common; i++)
        add_word(&r.common, common[i]);
    c->source = arena_strdup(c->arena, path);
    ok = stat(path, &st) == 0 || err_errno(err, "%s", path);
    ok = ok && (S_ISDIR(st.st_mode) ? take_directory(&r, err) : take_list(&r, err));
    if (ok && c->nr_tasks == 0)
        ok = err_set(err,
            "%s: there is no kernel in it; expected a folder with .cu files, or a text with one "
            "kernel file per line",
            path);
    free(r.common.at);
    return ok;
}
