/* Owns the files by which Slurm's jobs and a campaign know of each other. */
#include "campaign/slurm_files.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/str.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_LIST = 16 << 20, MOST_EXIT = 100, TIMED_OUT = 124 };
static const char list_head[] = "keet-opt array ";

void slurm_lists_finish(struct slurm_lists *lists)
{
    free(lists->at);
    *lists = (struct slurm_lists){0};
}

const char *slurm_path(
    const char *folder, struct arena *arena, const char *name, const char *suffix)
{
    return arena_printf(arena, "%s/slurm/%s%s", folder, name, suffix);
}

const char *slurm_list_path(
    const char *folder, struct arena *arena, const struct slurm_list *list, const char *suffix)
{
    return arena_printf(arena, "%s/slurm/%04u%s", folder, list->serial, suffix);
}

const char *slurm_key(struct arena *arena, const struct exec_item *item)
{
    struct str all = {0};
    char hex[HASH_HEX_BYTES];

    for (unsigned i = 0; item->argv[i]; i++)
        str_add_n(&all, item->argv[i], strlen(item->argv[i]) + 1);
    hash_hex(hash_bytes(str_text(&all), all.len, item->gpu), hex);
    str_finish(&all);
    return arena_printf(arena, "%s.%.16s", item->name, hex);
}

/* ---- lists ---- */

static struct slurm_list *new_list(struct slurm_lists *lists)
{
    lists->at = grow(lists->at, &lists->cap, lists->nr + 1, sizeof(*lists->at));
    lists->at[lists->nr] = (struct slurm_list){0};
    return &lists->at[lists->nr++];
}

/* The first line is the head, each other one a key. */
static bool parse_list(struct slurm_list *list, struct arena *arena, char *text)
{
    char *line = text, *end = strchr(text, '\n');
    size_t most = 0;

    if (!end || !str_starts(text, list_head))
        return false;
    *end = '\0';
    line = text + strlen(list_head);
    if (!*line || strlen(line) >= sizeof(list->name))
        return false;
    snprintf(list->name, sizeof(list->name), "%s", line);
    for (char *at = end + 1; *at; at++)
        most += *at == '\n';
    list->keys = arena_array(arena, most + 1, sizeof(*list->keys));
    for (line = end + 1; (end = strchr(line, '\n')) != NULL; line = end + 1) {
        *end = '\0';
        list->keys[list->nr++] = arena_strdup(arena, line);
    }
    return list->nr > 0 && !*line;
}

static bool read_list(const char *folder, struct arena *arena, struct slurm_lists *lists,
    unsigned serial, struct err *err)
{
    struct slurm_list *list = new_list(lists);
    const char *path;
    char *text;
    size_t len;
    bool ok;

    list->serial = serial;
    path = slurm_list_path(folder, arena, list, ".list");
    if (!file_read(path, MOST_LIST, &text, &len, err))
        return false;
    ok = parse_list(list, arena, text) ||
         err_set(err,
             "%s is not a list of jobs as keet-opt writes them; look at `squeue`, and remove the "
             "file when none of the campaign's jobs is there",
             path);
    free(text);
    return ok;
}

static int by_serial(const void *a, const void *b)
{
    const unsigned x = ((const struct slurm_list *)a)->serial;
    const unsigned y = ((const struct slurm_list *)b)->serial;

    return (x > y) - (x < y);
}

bool slurm_lists_read(
    const char *folder, struct arena *arena, struct slurm_lists *lists, struct err *err)
{
    const char *path = arena_printf(arena, "%s/slurm", folder);
    bool ok = true;
    DIR *dir;

    if (!file_mkdirs(path, err))
        return false;
    dir = opendir(path);
    if (!dir)
        return err_errno(err, "%s", path);
    for (struct dirent *e = readdir(dir); ok && e; e = readdir(dir)) {
        unsigned serial;

        if (str_ends(e->d_name, ".list") && sscanf(e->d_name, "%9u.list", &serial) == 1)
            ok = read_list(folder, arena, lists, serial, err);
    }
    closedir(dir);
    if (lists->nr > 1)
        qsort(lists->at, lists->nr, sizeof(*lists->at), by_serial);
    return ok;
}

/* ---- the script ---- */

/* One script for the whole array. A notice to end (SIGTERM) reaches keet-opt as well, which ends
 * neatly; the shell waits for keet-opt. The script notes an end only without such a notice, since
 * with one the task is not done. The lock makes a task that began again wait until its remains on
 * another node have ended. */
static const char script_end[] =
    "*) exit 64 ;;\n"
    "esac\n"
    "exec 9>\"$here/$name.lock\" || exit 73\n"
    "flock 9 || exit 73\n"
    "[ ! -e \"$here/$key.exit\" ] || exit 0\n"
    "told=\n"
    "trap 'told=1' TERM\n"
    "begun=$(date +%s%N)\n"
    "timeout --kill-after=\"$grace\" \"$deadline\" \"$@\" \\\n"
    "    </dev/null >\"$out\" 2>\"$errors\"\n"
    "status=$?\n"
    "[ -z \"$told\" ] || exit 75\n"
    "printf '%s %s\\n' \"$status\" \"$(($(date +%s%N) - begun))\" >\"$here/$key.exit.new\" &&\n"
    "    mv \"$here/$key.exit.new\" \"$here/$key.exit\"\n";

static void add_case(struct str *out, unsigned index, const struct exec_item *item, const char *key)
{
    str_addf(out, "%u) name=", index);
    str_add_shell(out, item->name);
    str_add(out, " key=");
    str_add_shell(out, key);
    str_addf(out, " deadline=%.3f out=", item->deadline_s);
    str_add_shell(out, item->out_path);
    str_add(out, " errors=");
    str_add_shell(out, item->err_path);
    str_add(out, "\n    set --");
    for (unsigned i = 0; item->argv[i]; i++) {
        str_add_char(out, ' ');
        str_add_shell(out, item->argv[i]);
        str_add(out, i == 0 ? " --threads \"${SLURM_CPUS_ON_NODE:-1}\"" : "");
    }
    /* Slurm shows a job its own GPU only, as number 0. */
    str_add(out, item->gpu ? " --device gpu:0 ;;\n" : " ;;\n");
}

static void write_script(struct str *out, const char *folder, struct exec_item *const *items,
    const char *const *keys, unsigned nr, const char *extra)
{
    str_add(out, "#!/bin/sh\n");
    if (extra)
        str_addf(out, "#SBATCH %s\n", extra);
    str_add(out, "# Written by keet-opt campaign: the tasks of one array of jobs.\nhere=");
    str_add_shell(out, folder);
    str_addf(out, "/slurm\ngrace=%d\ncase $SLURM_ARRAY_TASK_ID in\n", EXEC_GRACE_S);
    for (unsigned i = 0; i < nr; i++)
        add_case(out, i, items[i], keys[i]);
    str_add(out, script_end);
}

/* Gives a list a name that no other array has, whichever process made the array. */
static void name_list(struct slurm_list *list, const char *folder)
{
    char hex[HASH_HEX_BYTES], stamp[32];
    struct str text = {0};

    clock_utc(stamp);
    str_addf(&text, "%s %s %u", folder, stamp, list->serial);
    hash_hex(hash_bytes(str_text(&text), text.len, clock_ns() ^ (uint64_t)getpid() << 40), hex);
    snprintf(list->name, sizeof(list->name), "keet-%.12s", hex);
    str_finish(&text);
}

bool slurm_list_add(const char *folder, struct arena *arena, struct slurm_lists *lists,
    struct exec_item *const *items, const char *const *keys, unsigned nr, const char *extra,
    struct err *err)
{
    const unsigned serial = lists->nr ? lists->at[lists->nr - 1].serial + 1 : 1;
    struct slurm_list *list = new_list(lists);
    struct str script = {0}, text = {0};
    bool ok;

    list->serial = serial;
    list->nr = nr;
    list->keys = arena_array(arena, nr, sizeof(*list->keys));
    name_list(list, folder);
    str_addf(&text, "%s%s\n", list_head, list->name);
    for (unsigned i = 0; i < nr; i++) {
        list->keys[i] = keys[i];
        str_addf(&text, "%s\n", keys[i]);
    }
    write_script(&script, folder, items, keys, nr, extra);
    ok = file_write(
             slurm_list_path(folder, arena, list, ".sh"), str_text(&script), script.len, err) &&
         file_write(slurm_list_path(folder, arena, list, ".list"), str_text(&text), text.len, err);
    str_finish(&script);
    str_finish(&text);
    return ok;
}

/* ---- ends ---- */

bool slurm_take_exit(const char *folder, const char *key, struct exec_item *item)
{
    struct arena *arena = arena_create();
    struct err ignored;
    char *text = NULL, *end;
    size_t len;
    long status = -1;
    bool ok;

    ok = file_read(slurm_path(folder, arena, key, ".exit"), MOST_EXIT, &text, &len, &ignored);
    if (ok) {
        status = strtol(text, &end, 10);
        ok = end > text && *end == ' ' && status >= 0 && status <= 255;
    }
    if (ok) {
        item->wall_s = strtod(end, NULL) * 1e-9;
        item->signal = status > 128 ? (int)status - 128 : 0; /* as a shell says it */
        item->status = item->signal ? -1 : (int)status;
        item->late = item->deadline_s > 0 &&
                     (status == TIMED_OUT || item->wall_s > item->deadline_s + EXEC_GRACE_S);
        item->state = EXEC_ENDED;
    }
    free(text);
    arena_destroy(arena);
    return ok;
}

void slurm_list_drop(const char *folder, struct slurm_lists *lists)
{
    const struct slurm_list *list = &lists->at[--lists->nr];
    struct arena *arena = arena_create();

    unlink(slurm_list_path(folder, arena, list, ".list"));
    unlink(slurm_list_path(folder, arena, list, ".sh"));
    arena_destroy(arena);
}

void slurm_lists_forget(const char *folder, struct slurm_lists *lists)
{
    struct arena *arena = arena_create();

    while (lists->nr > 0) {
        const struct slurm_list *list = &lists->at[lists->nr - 1];

        for (unsigned k = 0; k < list->nr; k++)
            unlink(slurm_path(folder, arena, list->keys[k], ".exit"));
        slurm_list_drop(folder, lists);
    }
    arena_destroy(arena);
}
