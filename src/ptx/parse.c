/* Owns the reading of a module: directives, functions, scopes. */
#include "ptx/parse.h"

#include "base/mem.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- tokens and problems ---- */

void parser_advance(struct ptx_parser *p)
{
    p->token = p->ahead;
    lexer_next(&p->lexer, &p->ahead);
}

static bool set_problem(struct ptx_parser *p, bool unsupported, const char *format, va_list ap)
{
    struct ptx_problem *problem = p->problem;

    problem->unsupported = unsupported;
    problem->text_line = p->token.line;
    problem->line = locs_line(&p->locs, p->locs.current);
    vsnprintf(problem->text, sizeof(problem->text), format, ap);
    return false;
}

bool parser_fail(struct ptx_parser *p, const char *format, ...)
{
    va_list ap;

    va_start(ap, format);
    set_problem(p, false, format, ap);
    va_end(ap);
    return false;
}

bool parser_unsupported(struct ptx_parser *p, const char *format, ...)
{
    char what[sizeof(p->problem->text) - 16];
    va_list ap;

    va_start(ap, format);
    vsnprintf(what, sizeof(what), format, ap);
    va_end(ap);
    parser_fail(p, "unsupported: %s", what);
    p->problem->unsupported = true;
    return false;
}

bool parser_is(const struct ptx_parser *p, char punct)
{
    return p->token.kind == TOKEN_PUNCT && p->token.text[0] == punct;
}

bool parser_is_word(const struct ptx_parser *p, const char *word)
{
    return p->token.kind == TOKEN_DOT && !strncmp(p->token.text, word, p->token.len) &&
           !word[p->token.len];
}

bool parser_accept(struct ptx_parser *p, char punct)
{
    if (!parser_is(p, punct))
        return false;
    parser_advance(p);
    return true;
}

bool parser_expect(struct ptx_parser *p, char punct)
{
    if (parser_accept(p, punct))
        return true;
    if (p->token.kind == TOKEN_END)
        return parser_fail(p, "expected '%c', found the end of the text", punct);
    return parser_fail(p, "expected '%c', found '%.*s'", punct, TOKEN_ARG(&p->token));
}

bool parser_expect_name(struct ptx_parser *p, struct token *name)
{
    *name = p->token;
    if (p->token.kind != TOKEN_NAME)
        return parser_fail(p, "expected a name, found '%.*s'", TOKEN_ARG(&p->token));
    parser_advance(p);
    return true;
}

char *parser_copy(struct ptx_parser *p, const struct token *token)
{
    return arena_strndup(p->arena, token->text, token->len);
}

/* ---- directives that only inform ---- */

static bool skip_to(struct ptx_parser *p, char punct)
{
    while (!parser_is(p, punct)) {
        if (p->token.kind == TOKEN_END)
            return parser_fail(p, "expected '%c', found the end of the text", punct);
        parser_advance(p);
    }
    parser_advance(p);
    return true;
}

static bool parse_pragma(struct ptx_parser *p)
{
    static const char nounroll[] = "nounroll";

    parser_advance(p);
    p->body.rolled |= p->token.kind == TOKEN_STRING && p->token.len == sizeof(nounroll) - 1 &&
                      memcmp(p->token.text, nounroll, p->token.len) == 0;
    return skip_to(p, ';');
}

/* .loc file line column [, function_name label [+ n], inlined_at file line column] */
static bool parse_loc(struct ptx_parser *p)
{
    uint64_t at[6] = {0};
    int i;

    parser_advance(p);
    for (i = 0; i < 3; i++) {
        if (!parse_u64(p, UINT32_MAX, &at[i]))
            return false;
    }
    while (parser_accept(p, ',')) {
        struct token word;
        uint64_t offset;

        if (!parser_expect_name(p, &word))
            return false;
        if (word.len == 10 && !memcmp(word.text, "inlined_at", 10)) {
            for (i = 3; i < 6; i++) {
                if (!parse_u64(p, UINT32_MAX, &at[i]))
                    return false;
            }
        } else if (word.len == 13 && !memcmp(word.text, "function_name", 13)) {
            if (!parser_expect_name(p, &word))
                return false;
            if (parser_accept(p, '+') && !parse_u64(p, UINT32_MAX, &offset))
                return false;
        } else {
            return parser_unsupported(p, ".loc with %.*s", TOKEN_ARG(&word));
        }
    }
    if (!at[1])
        return true; /* the compiler made the instruction up: it belongs to the line before */
    locs_add(&p->locs, (uint32_t)at[0], (uint32_t)at[1], (uint32_t)at[2], (uint32_t)at[3],
        (uint32_t)at[4], (uint32_t)at[5], p->body.func && p->body.func->is_entry);
    return true;
}

/* .file n "name" [, time, size] */
static bool parse_file(struct ptx_parser *p)
{
    uint64_t number;

    parser_advance(p);
    if (!parse_u64(p, UINT32_MAX, &number))
        return false;
    if (p->token.kind != TOKEN_STRING)
        return parser_fail(p, ".file needs a name");
    parser_advance(p);
    while (parser_accept(p, ',')) {
        if (!parse_u64(p, UINT64_MAX, &number))
            return false;
    }
    return true;
}

static bool skip_section(struct ptx_parser *p)
{
    unsigned depth = 0;

    parser_advance(p);
    while (!parser_is(p, '{')) {
        if (p->token.kind == TOKEN_END)
            return parser_fail(p, ".section without body");
        parser_advance(p);
    }
    do {
        if (parser_is(p, '{'))
            depth++;
        else if (parser_is(p, '}'))
            depth--;
        else if (p->token.kind == TOKEN_END)
            return parser_fail(p, ".section without end");
        parser_advance(p);
    } while (depth);
    return true;
}

/* ---- inside a function ---- */

static bool state_space(const struct ptx_parser *p, enum ptx_space *space)
{
    static const struct {
        const char *word;
        enum ptx_space space;
    } spaces[] = {{"global", PTX_GLOBAL}, {"const", PTX_CONST}, {"shared", PTX_SHARED},
        {"local", PTX_LOCAL}, {"param", PTX_PARAM}};

    for (size_t i = 0; i < ARRAY_SIZE(spaces); i++) {
        if (parser_is_word(p, spaces[i].word)) {
            *space = spaces[i].space;
            return true;
        }
    }
    return false;
}

static bool parse_body_directive(struct ptx_parser *p)
{
    enum ptx_space space;

    if (parser_is_word(p, "loc"))
        return parse_loc(p);
    if (parser_is_word(p, "reg")) {
        parser_advance(p);
        return parse_reg(p);
    }
    if (parser_is_word(p, "pragma"))
        return parse_pragma(p);
    if (parser_is_word(p, "file"))
        return parse_file(p);
    if (parser_is_word(p, "section"))
        return skip_section(p);
    if (state_space(p, &space)) {
        parser_advance(p);
        return parse_variable(p, space, false, true);
    }
    return parser_unsupported(p, "directive .%.*s", TOKEN_ARG(&p->token));
}

static bool parse_label(struct ptx_parser *p)
{
    const struct token name = p->token;
    enum bound kind = BOUND_LABEL;
    const struct targets *targets = NULL;
    struct symbol_binding *binding;

    parser_advance(p);
    parser_advance(p);
    if (parser_is_word(p, "callprototype") || parser_is_word(p, "calltargets")) {
        kind = BOUND_PROTOTYPE;
        if (!skip_to(p, ';'))
            return false;
    } else if (parser_is_word(p, "branchtargets")) {
        kind = BOUND_TARGETS;
        targets = parse_targets(p);
        if (!targets)
            return false;
    }
    binding = scopes_bind(&p->scopes, kind, name.text, name.len);
    if (!binding)
        return parser_fail(p, "'%.*s' is declared twice", TOKEN_ARG(&name));
    if (kind == BOUND_TARGETS)
        binding->targets = targets;
    else
        binding->target = (uint32_t)p->body.nr_insts;
    if (kind == BOUND_LABEL)
        p->body.label_at_end = true;
    return true;
}

static bool parse_statement(struct ptx_parser *p)
{
    if (p->token.kind == TOKEN_DOT)
        return parse_body_directive(p);
    if (p->token.kind == TOKEN_NAME && p->ahead.kind == TOKEN_PUNCT && p->ahead.text[0] == ':')
        return parse_label(p);
    if (p->token.kind == TOKEN_END)
        return parser_fail(p, "the text ends inside a function");
    return parse_inst(p);
}

/* From the function's '{' to its '}'; blocks inside open and close scopes. */
static bool parse_block(struct ptx_parser *p)
{
    const uint32_t outer = p->scopes.depth;

    do {
        if (parser_is(p, '{')) {
            if (!scopes_enter(&p->scopes))
                return parser_fail(p, "blocks nested too deep");
            parser_advance(p);
        } else if (parser_is(p, '}')) {
            if (!resolve_labels(p))
                return false;
            scopes_leave(&p->scopes);
            parser_advance(p);
        } else if (!parse_statement(p)) {
            return false;
        }
    } while (p->scopes.depth > outer);
    return true;
}

/* ---- functions ---- */

static bool parse_up_to_three(struct ptx_parser *p, uint32_t values[3])
{
    uint64_t value;

    parser_advance(p);
    values[0] = values[1] = values[2] = 1;
    for (int i = 0; i < 3; i++) {
        if (!parse_u64(p, UINT32_MAX, &value))
            return false;
        values[i] = (uint32_t)value;
        if (!parser_accept(p, ','))
            break;
    }
    return true;
}

static bool parse_one_number(struct ptx_parser *p, uint32_t *value)
{
    uint64_t wide;

    parser_advance(p);
    if (!parse_u64(p, UINT32_MAX, &wide))
        return false;
    *value = (uint32_t)wide;
    return true;
}

static bool parse_tuning(struct ptx_parser *p, struct ptx_func *func)
{
    uint32_t ignored;

    while (p->token.kind == TOKEN_DOT) {
        bool ok;
        if (parser_is_word(p, "maxntid")) {
            ok = parse_up_to_three(p, func->maxntid);
        } else if (parser_is_word(p, "reqntid")) {
            ok = parse_up_to_three(p, func->reqntid);
        } else if (parser_is_word(p, "reqnctapercluster")) {
            ok = parse_up_to_three(p, func->reqnctapercluster);
        } else if (parser_is_word(p, "minnctapersm")) {
            ok = parse_one_number(p, &func->minnctapersm);
        } else if (parser_is_word(p, "maxnreg")) {
            ok = parse_one_number(p, &func->maxnreg);
        } else if (parser_is_word(p, "maxnctapersm") || parser_is_word(p, "maxclusterrank") ||
                   parser_is_word(p, "abi_preserve") || parser_is_word(p, "abi_preserve_control")) {
            ok = parse_one_number(p, &ignored);
        } else if (parser_is_word(p, "noreturn")) {
            func->noreturn = ok = true;
            parser_advance(p);
        } else if (parser_is_word(p, "explicitcluster") || parser_is_word(p, "blocksareclusters") ||
                   parser_is_word(p, "unique")) {
            ok = true;
            parser_advance(p);
        } else if (parser_is_word(p, "pragma")) {
            ok = skip_to(p, ';');
        } else {
            ok = parser_unsupported(p, "directive .%.*s", TOKEN_ARG(&p->token));
        }
        if (!ok)
            return false;
    }
    return true;
}

/* A body that may run off its end gets the ret that the manual says is implied. */
static bool finish_insts(struct ptx_parser *p)
{
    struct func_body *body = &p->body;
    struct ptx_inst ret = {.op = PTX_OP_RET, .guard = -1, .vec = 1, .mods = ""};
    const struct ptx_inst *last = body->nr_insts ? &body->insts[body->nr_insts - 1] : NULL;

    if (last && !body->label_at_end && last->guard < 0 &&
        (last->op == PTX_OP_RET || last->op == PTX_OP_EXIT || last->op == PTX_OP_BRA ||
            last->op == PTX_OP_BRX))
        return true;
    if (++p->nr_insts > MAX_INSTS)
        return parser_unsupported(p, "more than %d instructions", MAX_INSTS);
    for (int i = 0; i < PTX_MAX_OPERANDS; i++)
        ret.operand[i].reg = -1;
    ret.text_line = p->token.line;
    body->insts = grow(body->insts, &body->cap_insts, body->nr_insts + 1, sizeof(ret));
    body->locs = grow(body->locs, &body->cap_locs, body->nr_insts + 1, sizeof(*body->locs));
    body->insts[body->nr_insts] = ret;
    body->locs[body->nr_insts++] = p->locs.current;
    return true;
}

static bool finish_body(struct ptx_parser *p, struct func_facts *facts)
{
    struct func_body *body = &p->body;
    struct ptx_func *func = body->func;
    struct ptx_inst *insts;
    struct ptx_reg *regs;

    if (!finish_insts(p))
        return false;
    insts = arena_array(p->arena, body->nr_insts, sizeof(*insts));
    memcpy(insts, body->insts, body->nr_insts * sizeof(*insts));
    regs = arena_array(p->arena, body->nr_regs, sizeof(*regs));
    if (body->nr_regs)
        memcpy(regs, body->regs, body->nr_regs * sizeof(*regs));
    func->insts = insts;
    func->nr_insts = (uint32_t)body->nr_insts;
    func->regs = regs;
    func->nr_regs = (uint32_t)body->nr_regs;
    func->local_bytes = (uint32_t)body->local_bytes;
    func->call_param_bytes = (uint32_t)body->call_bytes;
    func->external = false;
    facts->shared_bytes = body->shared_bytes;
    facts->nr_shared = body->nr_shared;
    facts->shared = arena_array(p->scratch, body->nr_shared, sizeof(*facts->shared));
    if (body->nr_shared)
        memcpy(facts->shared, body->shared, body->nr_shared * sizeof(*facts->shared));
    facts->locs = arena_array(p->scratch, body->nr_insts, sizeof(*facts->locs));
    memcpy(facts->locs, body->locs, body->nr_insts * sizeof(*facts->locs));
    flow_reconverge(func, insts, p->scratch);
    return true;
}

static void bind_params(struct ptx_parser *p, struct ptx_symbol *params, uint32_t nr, bool *twice)
{
    for (uint32_t i = 0; i < nr; i++) {
        struct symbol_binding *binding;
        if (!strcmp(params[i].name, "_"))
            continue;
        binding =
            scopes_bind(&p->scopes, BOUND_SYMBOL, params[i].name, (uint32_t)strlen(params[i].name));
        if (binding)
            binding->symbol = &params[i];
        else
            *twice = true;
    }
}

static void body_start(struct ptx_parser *p, struct ptx_func *func)
{
    struct func_body *body = &p->body;

    body->func = func;
    body->nr_insts = body->nr_regs = body->nr_pending = body->nr_shared = 0;
    body->shared_bytes = body->local_bytes = body->call_bytes = 0;
    body->label_at_end = false;
    p->locs.current = NO_LOC;
}

static bool parse_body(struct ptx_parser *p, struct func_facts *facts, struct ptx_symbol *params,
    struct ptx_symbol *rets)
{
    struct ptx_func *func = facts->func;
    bool twice = false;

    body_start(p, func);
    scopes_enter(&p->scopes); /* never too deep: the parameters are at depth 1 */
    bind_params(p, params, func->nr_params, &twice);
    bind_params(p, rets, func->nr_rets, &twice);
    if (twice)
        return parser_fail(p, "%s has two parameters of one name", func->name);
    if (!parse_block(p) || !finish_body(p, facts))
        return false;
    scopes_leave(&p->scopes);
    p->body.func = NULL;
    return true;
}

/* When a body holds something unknown, only its function fails: the function keeps the problem, and
 * the parser goes on behind the body. start: the body's '{'. */
static bool leave_body(
    struct ptx_parser *p, struct func_facts *facts, const struct ptx_parser *start)
{
    struct ptx_problem *problem = arena_alloc(p->arena, sizeof(*problem));
    unsigned depth = 0;

    *problem = *p->problem;
    p->lexer = start->lexer;
    p->token = start->token;
    p->ahead = start->ahead;
    do {
        depth += parser_is(p, '{');
        depth -= parser_is(p, '}');
        if (p->token.kind == TOKEN_END)
            return parser_fail(p, "the text ends inside a function");
        parser_advance(p);
    } while (depth);
    while (p->scopes.depth > start->scopes.depth)
        scopes_leave(&p->scopes);
    *p->problem = (struct ptx_problem){0};
    facts->func->problem = problem;
    facts->func->external = false;
    p->body.func = NULL;
    return true;
}

/* At the body's '{'. */
static bool parse_or_leave_body(struct ptx_parser *p, struct func_facts *facts,
    struct ptx_symbol *params, struct ptx_symbol *rets)
{
    const struct ptx_parser start = *p;

    if (facts->func->nr_insts || facts->func->problem)
        return parser_fail(p, "%s is defined twice", facts->func->name);
    return parse_body(p, facts, params, rets) ||
           (p->problem->unsupported && leave_body(p, facts, &start));
}

static struct func_facts *find_or_add_func(
    struct ptx_parser *p, const struct token *name, bool is_entry)
{
    uint32_t index;
    struct symbol_binding *binding = scopes_find(&p->scopes, name->text, name->len, &index);
    struct func_facts *facts;
    struct ptx_func *func;

    if (binding) {
        if (binding->kind != BOUND_FUNC)
            return NULL;
        return &p->funcs[binding->func->index];
    }
    func = arena_alloc(p->arena, sizeof(*func));
    func->name = parser_copy(p, name);
    func->is_entry = is_entry;
    func->external = true;
    func->index = (uint32_t)p->nr_funcs;
    p->funcs = grow(p->funcs, &p->cap_funcs, p->nr_funcs + 1, sizeof(*p->funcs));
    facts = &p->funcs[p->nr_funcs++];
    *facts = (struct func_facts){.func = func};
    binding = scopes_bind(&p->scopes, BOUND_FUNC, name->text, name->len);
    binding->func = func;
    return facts;
}

static bool parse_function(struct ptx_parser *p, bool is_entry)
{
    struct ptx_symbol *params = NULL, *rets = NULL;
    uint32_t nr_rets = 0, ret_bytes = 0, nr_params = 0, param_bytes = 0;
    struct func_facts *facts;
    struct token name;

    if (parser_is_word(p, "attribute") && !(parser_advance(p), skip_to(p, ')')))
        return false;
    if (!is_entry && parser_is(p, '(') &&
        !parse_params(p, PTX_ROLE_RETURN, &rets, &nr_rets, &ret_bytes))
        return false;
    if (!parser_expect_name(p, &name))
        return false;
    if (parser_is(p, '(') && !parse_params(p, PTX_ROLE_PARAM, &params, &nr_params, &param_bytes))
        return false;
    facts = find_or_add_func(p, &name, is_entry);
    if (!facts || facts->func->is_entry != is_entry)
        return parser_fail(p, "'%.*s' is declared twice", TOKEN_ARG(&name));
    if (facts->func->nr_insts == 0) {
        facts->func->params = params;
        facts->func->nr_params = nr_params;
        facts->func->param_bytes = param_bytes;
        facts->func->rets = rets;
        facts->func->nr_rets = nr_rets;
        facts->func->ret_bytes = ret_bytes;
    }
    if (!parse_tuning(p, facts->func))
        return false;
    if (parser_accept(p, ';'))
        return true;
    if (!parser_is(p, '{'))
        return parser_fail(p, "expected a body, found '%.*s'", TOKEN_ARG(&p->token));
    return parse_or_leave_body(p, facts, params, rets);
}

/* ---- the module ---- */

static bool parse_version(struct ptx_parser *p)
{
    double number;
    unsigned tenths;

    parser_advance(p);
    if (p->token.kind != TOKEN_FLOAT64)
        return parser_fail(p, ".version needs a number such as 9.0");
    memcpy(&number, &p->token.value, sizeof(number));
    if (!(number >= 0 && number < 100))
        return parser_fail(p, ".version needs a number such as 9.0");
    tenths = (unsigned)(number * 10 + 0.5);
    p->module->version_major = tenths / 10;
    p->module->version_minor = tenths % 10;
    parser_advance(p);
    return true;
}

static bool parse_target(struct ptx_parser *p)
{
    struct token name;

    parser_advance(p);
    if (!parser_expect_name(p, &name))
        return false;
    p->module->target = parser_copy(p, &name);
    while (parser_accept(p, ',')) {
        if (!parser_expect_name(p, &name))
            return false;
    }
    return true;
}

static bool parse_address_size(struct ptx_parser *p)
{
    uint64_t bits;

    parser_advance(p);
    if (!parse_u64(p, 64, &bits))
        return false;
    return bits == 64 || parser_unsupported(p, "addresses of %u bits", (unsigned)bits);
}

static bool parse_linked(struct ptx_parser *p)
{
    bool external = false;
    enum ptx_space space;

    for (;;) {
        if (parser_is_word(p, "extern"))
            external = true;
        else if (!parser_is_word(p, "visible") && !parser_is_word(p, "weak") &&
                 !parser_is_word(p, "common"))
            break;
        parser_advance(p);
    }
    if (parser_is_word(p, "entry") || parser_is_word(p, "func")) {
        const bool is_entry = parser_is_word(p, "entry");
        parser_advance(p);
        return parse_function(p, is_entry);
    }
    if (!state_space(p, &space) || space == PTX_LOCAL || space == PTX_PARAM)
        return parser_unsupported(p, "directive .%.*s", TOKEN_ARG(&p->token));
    parser_advance(p);
    return parse_variable(p, space, external, false);
}

static bool parse_directive(struct ptx_parser *p)
{
    if (p->token.kind != TOKEN_DOT)
        return parser_fail(p, "expected a directive, found '%.*s'", TOKEN_ARG(&p->token));
    if (parser_is_word(p, "version"))
        return parse_version(p);
    if (parser_is_word(p, "target"))
        return parse_target(p);
    if (parser_is_word(p, "address_size"))
        return parse_address_size(p);
    if (parser_is_word(p, "file"))
        return parse_file(p);
    if (parser_is_word(p, "loc"))
        return parse_loc(p);
    if (parser_is_word(p, "section"))
        return skip_section(p);
    if (parser_is_word(p, "pragma"))
        return skip_to(p, ';');
    return parse_linked(p);
}

/* ---- the whole ---- */

static bool parse_module(struct ptx_parser *p, const char *text, size_t len)
{
    if (len > MAX_TEXT_BYTES)
        return parser_unsupported(p, "more than %d MiB of PTX", MAX_TEXT_BYTES >> 20);
    if (len && !text[len - 1])
        len--; /* NVRTC counts the NUL */
    lexer_init(&p->lexer, text, len);
    lexer_next(&p->lexer, &p->token);
    lexer_next(&p->lexer, &p->ahead);
    if (!parser_is_word(p, "version"))
        return parser_fail(p, "PTX begins with .version");
    while (p->token.kind != TOKEN_END) {
        if (!parse_directive(p))
            return false;
    }
    if (!p->module->target)
        return parser_fail(p, ".target is missing");
    return finalize_module(p);
}

struct ptx_module *ptx_parse(const char *text, size_t len, struct ptx_problem *problem)
{
    struct arena *arena = arena_create();
    struct ptx_module *module = arena_alloc(arena, sizeof(*module));
    struct ptx_parser p = {
        .module = module, .arena = arena, .scratch = arena_create(), .problem = problem};
    bool ok;

    *problem = (struct ptx_problem){0};
    module->arena = arena;
    scopes_init(&p.scopes, p.scratch);
    words_init(&p.words);
    locs_init(&p.locs);
    ok = parse_module(&p, text, len);
    scopes_finish(&p.scopes);
    locs_finish(&p.locs);
    free(p.body.insts);
    free(p.body.locs);
    free(p.body.regs);
    free(p.body.pending);
    free(p.body.shared);
    free(p.globals);
    free(p.shared);
    free(p.funcs);
    arena_destroy(p.scratch);
    if (!ok) {
        arena_destroy(arena);
        return NULL;
    }
    return module;
}

void ptx_destroy(struct ptx_module *module)
{
    if (module)
        arena_destroy(module->arena);
}

const struct ptx_func *ptx_find_func(const struct ptx_module *module, const char *name)
{
    for (uint32_t i = 0; i < module->nr_funcs; i++) {
        if (!strcmp(module->funcs[i]->name, name))
            return module->funcs[i];
    }
    return NULL;
}
