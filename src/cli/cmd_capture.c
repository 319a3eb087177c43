/* Owns `keet-opt capture`: a program runs on the software driver, and what it launches is recorded,
 * ranked and made into tasks. */
#include "cli/commands.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"
#include "capture/capture.h"
#include "cli/capture_tasks.h"
#include "nv/cupti.h"
#include "report/json_text.h"

#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct capturing {
    const struct options *options;
    struct arena *arena;
    const char *source; /* NULL: none was named */
    const char *const *argv;
    const char *folder;
    const char *cupti; /* of a capture on a GPU; NULL: on the software driver */
    struct capture all;
    struct capture_end end;
    struct capture_task *tasks; /* of all.launches */
    bool interrupted;
};

/* The words behind -- are the program's; a .cu file before it is its source. */
static bool read_words(struct capturing *k, struct err *err)
{
    const struct options *o = k->options;
    unsigned first = 0;

    if (str_ends(o->paths[0], ".cu") || str_ends(o->paths[0], ".cuh"))
        k->source = o->paths[first++];
    if (first == o->nr_paths)
        return err_set(err, "no program to run; try: keet-opt capture %s -- ./program ARGS",
            k->source != NULL ? k->source : "");
    k->argv = &o->paths[first];
    k->folder = o->output_path != NULL
                    ? o->output_path
                    : arena_printf(k->arena, "%s.capture", file_name(k->argv[0]));
    return true;
}

/* On a GPU, the program runs as it is: CUPTI sees its launches. */
static bool find_device(struct capturing *k, struct err *err)
{
    const char *device = k->options->device;
    struct cupti *cupti;

    if (device == NULL || strcmp(device, "auto") == 0 || strcmp(device, "emu") == 0)
        return capture_check_program(k->argv[0], err);
    if (strcmp(device, "gpu") != 0)
        return err_set(err, "a program is captured with --device emu or gpu, not %s", device);
    if (k->options->capture.dry)
        return err_set(err, "--dry is for the software driver: on a GPU all kernels run");
    cupti = cupti_open(err);
    if (cupti == NULL)
        return false;
    k->cupti = arena_strdup(k->arena, cupti_path(cupti));
    cupti_close(cupti);
    return true;
}

static void progress(double seconds, void *data)
{
    const struct capturing *k = data;
    struct arena *arena = arena_create();
    struct capture now;
    uint64_t launches = 0;
    struct err err;

    if (capture_read(&now, arena, k->folder, &err)) {
        for (unsigned i = 0; i < now.nr_kernels; i++)
            launches += now.kernels[i].nr_launches;
        fprintf(stderr, "\r%.0f s: %llu launches of %u kernels, %u recorded ", seconds,
            (unsigned long long)launches, now.nr_kernels, now.nr_launches);
    }
    arena_destroy(arena);
}

static bool run(struct capturing *k, struct err *err)
{
    const struct capture_options *c = &k->options->capture;
    const volatile int *stop = command_ends_neatly();
    const bool shown = k->options->verbosity >= 0 && isatty(STDERR_FILENO);
    const struct capture_how how = {
        .argv = k->argv,
        .folder = k->folder,
        .kernel = c->kernel,
        .nr_each = c->launch > 0 ? 1 : c->launches,
        .nr_skipped = c->launch > 0 ? c->launch - 1 : 0,
        .bytes = (uint64_t)c->limit_mib << 20,
        .cpu_s = c->time_s,
        .dry = c->dry,
        .cupti = k->cupti,
        .quiet = k->options->json,
        .progress = shown ? progress : NULL,
        .data = k,
        .stop = stop,
    };
    const bool ok = capture_run(&how, &k->end, err);

    if (shown)
        fputs("\r\033[K", stderr);
    k->interrupted = *stop;
    return ok;
}

static const char *how_it_ended(const struct capturing *k)
{
    return k->interrupted   ? "it was interrupted"
           : k->end.stopped ? "it was stopped at its limit of processor time"
           : k->end.signal  ? arena_printf(k->arena, "it was ended by signal %d", k->end.signal)
           : k->end.status  ? arena_printf(k->arena, "it ended with status %d", k->end.status)
                            : "it ended with status 0";
}

static void make_tasks(struct capturing *k)
{
    const struct capture *c = &k->all;

    k->tasks = arena_array(k->arena, c->nr_launches + 1, sizeof(*k->tasks));
    for (unsigned i = 0; k->source != NULL && i < c->nr_launches; i++) {
        bool first = true;

        for (unsigned j = 0; j < i; j++)
            first &= strcmp(c->launches[j].symbol, c->launches[i].symbol) != 0;
        if (first)
            k->tasks[i] =
                capture_make_task(k->arena, k->options, k->source, k->argv, c, &c->launches[i]);
    }
}

/* --- what is shown --- */

static const char *time_text(struct arena *arena, double ns)
{
    return ns < 1e4   ? arena_printf(arena, "%.2f us", ns / 1e3)
           : ns < 1e7 ? arena_printf(arena, "%.1f us", ns / 1e3)
                      : arena_printf(arena, "%.1f ms", ns / 1e6);
}

static void show_kernels(const struct capturing *k)
{
    const struct capture *c = &k->all;

    if (c->dry)
        printf("\n%10s %14s  %s\n", "launches", "threads", "kernel");
    else
        printf("\n%8s %12s %14s %10s  %s\n", "share", "time", "could save", "launches", "kernel");
    for (unsigned i = 0; i < c->nr_kernels; i++) {
        const struct capture_kernel *one = &c->kernels[i];

        if (c->dry)
            printf("%10llu %14.0f  %s\n", (unsigned long long)one->nr_launches, one->threads,
                one->name);
        else
            printf("%7.1f%% %12s %14s %10llu  %s\n",
                c->time_ns > 0 ? 100 * one->time_ns / c->time_ns : 0,
                time_text(k->arena, one->time_ns),
                one->floor_ns > 0 ? time_text(k->arena, one->time_ns - one->floor_ns) : "-",
                (unsigned long long)one->nr_launches, one->name);
    }
    if (k->cupti != NULL)
        puts("\nTimes are measured, by CUPTI's activity records.");
    else if (!c->dry)
        puts("\nTimes are modelled. What could be saved is the time above that of touching each "
             "byte "
             "once\nand of the operations at the chip's best rate.");
}

static void show_param(
    const struct capturing *k, const struct capture_launch *l, const struct capture_param *p)
{
    enum elem elem = p->bytes == 8 ? ELEM_I64 : ELEM_I32;

    if (p->nr_pointers == 1 && p->bytes == 8) {
        const struct capture_memory *m = &l->memories[p->pointers[0].memory];

        printf("%s : %s[%llu]%s%s", m->name, elem_name(m->elem),
            (unsigned long long)(m->bytes / elem_bytes(m->elem)),
            p->pointers[0].offset > 0
                ? arena_printf(k->arena, " + %llu bytes", (unsigned long long)p->pointers[0].offset)
                : "",
            m->changed ? ", changed" : "");
    } else if (p->bytes <= 8 && (p->bytes == 4 || p->bytes == 8 || p->type != NULL) &&
               (capture_elem(p->type, &elem) || p->type == NULL) && elem_bytes(elem) == p->bytes) {
        if (elem_is_float(elem))
            printf("%g", elem_get(elem, p->data, 0));
        else
            printf("%lld", (long long)elem_get_int(elem, p->data, 0));
    } else if (p->type != NULL && strchr(p->type, '*') != NULL && p->nr_pointers == 0) {
        fputs(elem_get_int(ELEM_I64, p->data, 0) == 0 ? "null" : "an address of nothing", stdout);
    } else {
        printf(
            p->nr_pointers ? "%u bytes with %u addresses" : "%u bytes", p->bytes, p->nr_pointers);
    }
}

static void show_launches(const struct capturing *k)
{
    for (unsigned i = 0; i < k->all.nr_launches; i++) {
        const struct capture_launch *l = &k->all.launches[i];
        const struct capture_task *task = &k->tasks[i];

        printf("\n%s, launch %llu: grid (%u, %u, %u), block (%u, %u, %u)", l->name,
            (unsigned long long)l->nth + 1, l->grid[0], l->grid[1], l->grid[2], l->block[0],
            l->block[1], l->block[2]);
        if (l->smem_bytes > 0)
            printf(", %u bytes of shared memory", l->smem_bytes);
        if (l->fault != NULL)
            printf("\n  it failed: %s", l->fault);
        for (unsigned p = 0; p < l->nr_params; p++) {
            fputs("\n  ", stdout);
            show_param(k, l, &l->params[p]);
        }
        if (task->path != NULL)
            printf("\n  -> keet-opt %s   (%s)", task->path,
                task->from_text ? "names and sizes from the text, contents from the capture"
                                : arena_printf(k->arena, "one size, from the capture: %s",
                                      task->why != NULL ? task->why : ""));
        else if (task->why != NULL)
            printf("\n  no task: %s", task->why);
        putchar('\n');
    }
}

static json_t *three(const uint32_t *x)
{
    return json_pack("[iii]", (int)x[0], (int)x[1], (int)x[2]);
}

static json_t *params_json(const struct capture_launch *l)
{
    json_t *list = json_array();

    for (unsigned i = 0; i < l->nr_params; i++) {
        const struct capture_param *p = &l->params[i];
        json_t *pointers = json_array();
        char hex[17] = "";

        for (unsigned j = 0; j < p->nr_pointers; j++)
            json_array_append_new(pointers, json_pack("{sisssI}", "at", (int)p->pointers[j].at,
                                                "array", l->memories[p->pointers[j].memory].name,
                                                "offset_bytes", (json_int_t)p->pointers[j].offset));
        for (unsigned j = 0; j < p->bytes && j < 8; j++)
            snprintf(hex + (size_t)2 * j, 3, "%02x", p->data[j]);
        json_array_append_new(list, json_pack("{siss?ssso}", "bytes", (int)p->bytes, "type",
                                        p->type, "first_bytes", hex, "pointers", pointers));
    }
    return list;
}

static json_t *launch_json(const struct capture_launch *l, const struct capture_task *task)
{
    json_t *arrays = json_array();

    for (unsigned i = 0; i < l->nr_memories; i++) {
        const struct capture_memory *m = &l->memories[i];

        json_array_append_new(
            arrays, json_pack("{sssssIsssbsbsbsbss?ss?}", "name", m->name, "type",
                        elem_name(m->elem), "bytes", (json_int_t)m->bytes, "kind", m->kind, "kept",
                        m->kept, "written", m->written, "stored", m->stored, "changed", m->changed,
                        "before", m->before, "after", m->after));
    }
    return json_pack("{sssssIsIsosososisbss?sfsfsososs?sbss?}", "kernel", l->name, "symbol",
        l->symbol, "order", (json_int_t)l->order, "launch", (json_int_t)l->nth, "grid",
        three(l->grid), "block", three(l->block), "cluster", three(l->cluster), "smem_bytes",
        (int)l->smem_bytes, "ran", l->ran, "fault", l->fault, "time_ns", l->time_ns, "floor_ns",
        l->floor_ns, "params", params_json(l), "arrays", arrays, "task", task->path, "from_text",
        task->from_text, "why", task->why);
}

static void print_json(const struct capturing *k)
{
    json_t *kernels = json_array(), *launches = json_array(), *all;
    struct str text = {0};

    for (unsigned i = 0; i < k->all.nr_kernels; i++) {
        const struct capture_kernel *one = &k->all.kernels[i];

        json_array_append_new(kernels,
            json_pack("{sssssIsIsfsfsf}", "kernel", one->name, "symbol", one->symbol, "launches",
                (json_int_t)one->nr_launches, "timed", (json_int_t)one->nr_timed, "time_ns",
                one->time_ns, "floor_ns", one->floor_ns, "threads", one->threads));
    }
    for (unsigned i = 0; i < k->all.nr_launches; i++)
        json_array_append_new(launches, launch_json(&k->all.launches[i], &k->tasks[i]));
    all = json_pack("{sssssbsisisbsfsoso}", "folder", k->folder, "device",
        k->cupti != NULL ? "gpu" : "emu", "dry", k->all.dry, "status", k->end.status, "signal",
        k->end.signal, "stopped", k->end.stopped, "time_ns", k->all.time_ns, "kernels", kernels,
        "launches", launches);
    json_add(&text, all, JSON_INDENT(1)); /* takes over `all` */
    puts(str_text(&text));
    str_finish(&text);
}

static void show(const struct capturing *k)
{
    struct str text = {0};
    uint64_t nr = 0;

    for (unsigned i = 0; i < k->all.nr_kernels; i++)
        nr += k->all.kernels[i].nr_launches;
    str_add_count(&text, nr, "launch");
    if (nr != 1)
        str_clear(&text), str_addf(&text, "%llu launches", (unsigned long long)nr);
    str_add(&text, " of ");
    str_add_count(&text, k->all.nr_kernels, "kernel");
    printf("%s: %s%s%s; %s\n", k->argv[0], str_text(&text),
        k->all.dry ? ", none of them run" : ", together ",
        k->all.dry ? "" : time_text(k->arena, k->all.time_ns), how_it_ended(k));
    str_finish(&text);
    show_kernels(k);
    show_launches(k);
    printf("\n%s/ has everything; nothing else was written\n", k->folder);
}

bool cmd_capture(const struct options *o, int *status, struct err *err)
{
    struct capturing k = {.options = o, .arena = arena_create()};
    bool ok = read_words(&k, err) && find_device(&k, err) && run(&k, err) &&
              capture_read(&k.all, k.arena, k.folder, err);

    if (ok && k.all.nr_kernels == 0)
        ok = err_set(err, "%s launched no kernel: %s%s", k.argv[0], how_it_ended(&k),
            k.cupti != NULL || k.end.stopped
                ? ""
                : "; where a library that it loads has the kernels, build that with nvcc -cudart "
                  "shared, too");
    ok = ok && capture_save(&k.all, k.arena, err);
    if (ok) {
        make_tasks(&k);
        if (o->json)
            print_json(&k);
        else
            show(&k);
    }
    (void)status;
    arena_destroy(k.arena);
    return ok;
}
