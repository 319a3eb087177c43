/* Owns the loop of a helper process: a request, its verb, an answer. */
#include "serve/serve.h"

#include "base/str.h"
#include "explain/explain.h"
#include "lib/frame.h"
#include "propose/model/ask.h"
#include "report/json_text.h"
#include "serve/answers.h"
#include "serve/asking.h"
#include "serve/judge.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A parent that is gone may have left copies of its end of the socket to children of its own. */
enum { LOOK_FOR_PARENT_MS = 1000 };

struct serving {
    struct workbench *bench;
    struct shelf *shelf;
    struct asking *asking; /* NULL: no search */
    int socket;
};

struct asked_for {
    const struct frame *frame;
    const json_t *head;
    struct arena *arena; /* of this request */
    const char *source;  /* that goes with the answer; NULL: none */
    size_t source_bytes;
};

/* NULL with err: the answer is an error. */
typedef json_t *verb_f(struct serving *s, struct asked_for *r, struct err *err);

/* ---- what a request holds ---- */

static const char *text_of(const struct asked_for *r, const char *name, const char *otherwise)
{
    const char *text = json_string_value(json_object_get(r->head, name));

    return text ? text : otherwise;
}

static struct original_text wanted_of(const struct asked_for *r)
{
    return (struct original_text){.name = text_of(r, "name", "kernel.cu"),
        .text = r->frame->text[FRAME_ORIGINAL],
        .bytes = r->frame->bytes[FRAME_ORIGINAL],
        .seed = (uint64_t)json_integer_value(json_object_get(r->head, "seed"))};
}

static const char *candidate_text(const struct asked_for *r)
{
    return json_is_true(json_object_get(r->head, "original_itself"))
               ? NULL
               : r->frame->text[FRAME_CANDIDATE];
}

static struct prepared *prepare(struct serving *s, const struct asked_for *r, struct err *err)
{
    const struct original_text wanted = wanted_of(r);

    return shelf_find(s->shelf, &wanted, err);
}

/* ---- one kernel ---- */

static json_t *do_task(struct serving *s, struct asked_for *r, struct err *err)
{
    const struct prepared *p = prepare(s, r, err);
    json_t *arrays = json_array();

    for (unsigned i = 0; p && i < p->task.nr_arrays; i++) {
        static const char *const roles[] = {
            [ROLE_IN] = "in", [ROLE_OUT] = "out", [ROLE_INOUT] = "inout", [ROLE_TEMP] = "temp"};
        const struct task_array *array = &p->task.arrays[i];

        json_array_append_new(
            arrays, json_pack("{s:s, s:s, s:s}", "name", array->name, "role", roles[array->role],
                        "type", array->record ? array->record->text : elem_name(array->elem)));
    }
    if (p)
        return json_pack("{s:s, s:o, s:i}", "name", p->task.path, "arrays", arrays, "checks",
            (int)p->task.nr_checks);
    json_decref(arrays);
    return NULL;
}

static json_t *do_check(struct serving *s, struct asked_for *r, struct err *err)
{
    struct prepared *p = prepare(s, r, err);
    struct candidate c;
    uint64_t insts;

    if (!p)
        return NULL;
    judge_read(p, candidate_text(r), r->frame->bytes[FRAME_CANDIDATE], r->arena, &c);
    return judge_check(p, &c, &insts, err) ? answer_check(&c) : NULL;
}

static json_t *judged(struct serving *s, struct asked_for *r, bool explained, struct err *err)
{
    struct prepared *p = prepare(s, r, err);
    struct candidate c;

    if (!p)
        return NULL;
    judge_read(p, candidate_text(r), r->frame->bytes[FRAME_CANDIDATE], r->arena, &c);
    if (!judge(p, &c, err))
        return NULL;
    return explained ? answer_explained(p, workbench_chip(s->bench), &c) : answer_variant(&c);
}

static json_t *do_run(struct serving *s, struct asked_for *r, struct err *err)
{
    return judged(s, r, false, err);
}

static json_t *do_explain(struct serving *s, struct asked_for *r, struct err *err)
{
    return judged(s, r, true, err);
}

static json_t *do_reward(struct serving *s, struct asked_for *r, struct err *err)
{
    struct prepared *p = prepare(s, r, err);
    const char *why = NULL, *code;
    struct candidate c;

    if (!p)
        return NULL;
    code = ask_code(r->frame->text[FRAME_CANDIDATE], p->task.source, r->arena, &why);
    if (!code)
        return answer_reward(p, workbench_chip(s->bench), NULL, why);
    judge_read(p, code, strlen(code), r->arena, &c);
    return judge(p, &c, err) ? answer_reward(p, workbench_chip(s->bench), &c, NULL) : NULL;
}

/* ---- a search ---- */

static void give_source(struct asked_for *r, const struct candidate *c)
{
    r->source = c->source;
    r->source_bytes = c->source_bytes;
}

static json_t *do_search(struct serving *s, struct asked_for *r, struct err *err)
{
    const struct original_text wanted = wanted_of(r);

    asking_destroy(s->asking);
    s->asking = asking_create(s->bench, &wanted, text_of(r, "policy", "mcts"),
        json_is_true(json_object_get(r->head, "no_fast_math")), err);
    return s->asking ? answer_variant(asking_candidate(s->asking, 0)) : NULL;
}

static bool has_search(const struct serving *s, struct err *err)
{
    return s->asking || err_set(err, "there is no search here: the helper process that had it is "
                                     "gone; begin a new one");
}

static json_t *asked_node(struct serving *s, struct asked_for *r, int64_t node)
{
    const struct candidate *c = asking_candidate(s->asking, node);

    if (node > 0)
        give_source(r, c);
    return json_pack("{s:I, s:I, s:s, s:o}", "node", (json_int_t)node, "parent",
        (json_int_t)(node > 0 ? c->parent : 0), "move",
        node > 0 ? action_name(c->option.action) : "none", "what",
        json_any_text(node > 0 ? c->option.what : NULL));
}

static json_t *do_ask(struct serving *s, struct asked_for *r, struct err *err)
{
    int64_t node;

    return has_search(s, err) && asking_next(s->asking, &node, err) ? asked_node(s, r, node) : NULL;
}

static json_t *do_add(struct serving *s, struct asked_for *r, struct err *err)
{
    const int64_t parent = json_integer_value(json_object_get(r->head, "parent"));
    int64_t node;

    return has_search(s, err) && asking_add(s->asking, parent, r->frame->text[FRAME_CANDIDATE],
                                     r->frame->bytes[FRAME_CANDIDATE], &node, err)
               ? asked_node(s, r, node)
               : NULL;
}

static json_t *do_tell(struct serving *s, struct asked_for *r, struct err *err)
{
    const json_t *speedup = json_object_get(r->head, "speedup");
    const int64_t node = json_integer_value(json_object_get(r->head, "node"));
    const struct asking_told told = {
        .evaluate = !json_is_number(speedup), .speedup = json_number_value(speedup)};

    return has_search(s, err) && asking_tell(s->asking, node, &told, err)
               ? answer_variant(asking_candidate(s->asking, node))
               : NULL;
}

static json_t *do_best(struct serving *s, struct asked_for *r, struct err *err)
{
    const int window = (int)json_integer_value(json_object_get(r->head, "window"));
    double speedup;
    int64_t node;
    json_t *all;

    if (!has_search(s, err))
        return NULL;
    node = asking_best(s->asking, &speedup);
    give_source(r, asking_candidate(s->asking, node));
    all = answer_variant(asking_candidate(s->asking, node));
    json_object_set_new(all, "speedup", json_real_or_null(speedup));
    json_object_set_new(all, "converged",
        json_boolean(asking_converged(s->asking, window > 0 ? (unsigned)window : 64)));
    return all;
}

/* ---- the loop ---- */

static verb_f *find_verb(const char *name)
{
    static const struct {
        const char *name;
        verb_f *verb;
    } verbs[] = {{"task", do_task}, {"check", do_check}, {"run", do_run}, {"explain", do_explain},
        {"reward", do_reward}, {"search", do_search}, {"ask", do_ask}, {"add", do_add},
        {"tell", do_tell}, {"best", do_best}};

    for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++)
        if (strcmp(verbs[i].name, name) == 0)
            return verbs[i].verb;
    return NULL;
}

static bool send_answer(int socket, json_t *answer, const char *source, size_t bytes)
{
    char *text = json_dumps(answer, JSON_COMPACT);
    struct frame frame = {.text = {text, NULL, (char *)(uintptr_t)source}, .bytes = {0, 0, bytes}};
    bool ok;

    frame.bytes[FRAME_HEAD] = text ? strlen(text) : 0;
    ok = text && frame_send(socket, &frame);
    free(text);
    json_decref(answer);
    return ok;
}

static json_t *say_error(const struct err *err)
{
    return json_pack(
        "{s:o, s:b}", "error", json_any_text(err->text), "original", (int)err->original);
}

static bool answer(struct serving *s, const struct frame *frame)
{
    json_t *head = json_loadb(frame->text[FRAME_HEAD], frame->bytes[FRAME_HEAD], 0, NULL);
    struct asked_for r = {.frame = frame, .head = head, .arena = arena_create()};
    verb_f *verb = find_verb(text_of(&r, "verb", ""));
    struct err err = {0};
    json_t *result = NULL;
    bool ok;

    if (verb)
        result = verb(s, &r, &err);
    else
        err_set(&err, "unknown verb");
    ok = send_answer(s->socket, result ? json_pack("{s:o}", "result", result) : say_error(&err),
        r.source, result ? r.source_bytes : 0);
    arena_destroy(r.arena);
    json_decref(head);
    return ok;
}

/* False: nobody is there any more. */
static bool wait_for_request(int socket, pid_t parent)
{
    struct pollfd one = {.fd = socket, .events = POLLIN};

    while (poll(&one, 1, LOOK_FOR_PARENT_MS) <= 0)
        if (getppid() != parent)
            return false;
    return true;
}

static void serve_requests(struct serving *s)
{
    const pid_t parent = getppid();
    struct frame frame;
    bool ok = true;

    while (ok && wait_for_request(s->socket, parent) && frame_receive(s->socket, &frame)) {
        ok = answer(s, &frame);
        frame_finish(&frame);
    }
}

static bool greet(const struct serving *s)
{
    const char *device = workbench_device(s->bench, 0)->ops->name;
    const struct chip *chip = workbench_chip(s->bench);

    return send_answer(s->socket,
        json_pack("{s:s, s:s, s:s, s:s}", "version", KEET_VERSION, "device", device, "chip",
            chip->name, "compiler", compiler_version(workbench_compiler(s->bench))),
        NULL, 0);
}

bool serve(const struct workbench_options *options, int socket, struct err *err)
{
    struct serving s = {.socket = socket, .bench = workbench_open(options, err)};

    if (!s.bench) {
        send_answer(socket, say_error(err), NULL, 0);
        return false;
    }
    s.shelf = shelf_create(s.bench);
    if (greet(&s))
        serve_requests(&s);
    asking_destroy(s.asking);
    shelf_destroy(s.shelf);
    workbench_close(s.bench);
    return true;
}
