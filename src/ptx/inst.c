/* Owns the reading of one instruction: guard, opcode, modifiers, operands; and of labels. */
#include "ptx/parse.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    enum ptx_special special;
} specials[] = {
    {"%tid.x", PTX_SR_TID_X},
    {"%tid.y", PTX_SR_TID_Y},
    {"%tid.z", PTX_SR_TID_Z},
    {"%ntid.x", PTX_SR_NTID_X},
    {"%ntid.y", PTX_SR_NTID_Y},
    {"%ntid.z", PTX_SR_NTID_Z},
    {"%ctaid.x", PTX_SR_CTAID_X},
    {"%ctaid.y", PTX_SR_CTAID_Y},
    {"%ctaid.z", PTX_SR_CTAID_Z},
    {"%nctaid.x", PTX_SR_NCTAID_X},
    {"%nctaid.y", PTX_SR_NCTAID_Y},
    {"%nctaid.z", PTX_SR_NCTAID_Z},
    {"%laneid", PTX_SR_LANEID},
    {"%warpid", PTX_SR_WARPID},
    {"%nwarpid", PTX_SR_NWARPID},
    {"%smid", PTX_SR_SMID},
    {"%nsmid", PTX_SR_NSMID},
    {"%gridid", PTX_SR_GRIDID},
    {"%lanemask_eq", PTX_SR_LANEMASK_EQ},
    {"%lanemask_le", PTX_SR_LANEMASK_LE},
    {"%lanemask_lt", PTX_SR_LANEMASK_LT},
    {"%lanemask_ge", PTX_SR_LANEMASK_GE},
    {"%lanemask_gt", PTX_SR_LANEMASK_GT},
    {"%clock", PTX_SR_CLOCK},
    {"%clock_hi", PTX_SR_CLOCK_HI},
    {"%clock64", PTX_SR_CLOCK64},
    {"%globaltimer", PTX_SR_GLOBALTIMER},
    {"%globaltimer_lo", PTX_SR_GLOBALTIMER_LO},
    {"%globaltimer_hi", PTX_SR_GLOBALTIMER_HI},
    {"%dynamic_smem_size", PTX_SR_DYNAMIC_SMEM_SIZE},
    {"%total_smem_size", PTX_SR_TOTAL_SMEM_SIZE},
    {"%aggr_smem_size", PTX_SR_AGGR_SMEM_SIZE},
    {"%reserved_smem_offset_1", PTX_SR_RESERVED_SMEM},
    {"%reserved_smem_offset_begin", PTX_SR_RESERVED_SMEM_BEGIN},
    {"%reserved_smem_offset_end", PTX_SR_RESERVED_SMEM_END},
    {"%reserved_smem_offset_cap", PTX_SR_RESERVED_SMEM_CAP},
    {"%envreg1", PTX_SR_ENVREG1},
    {"%envreg2", PTX_SR_ENVREG2},
    {"%clusterid.x", PTX_SR_CLUSTERID_X},
    {"%clusterid.y", PTX_SR_CLUSTERID_Y},
    {"%clusterid.z", PTX_SR_CLUSTERID_Z},
    {"%nclusterid.x", PTX_SR_NCLUSTERID_X},
    {"%nclusterid.y", PTX_SR_NCLUSTERID_Y},
    {"%nclusterid.z", PTX_SR_NCLUSTERID_Z},
    {"%cluster_ctaid.x", PTX_SR_CLUSTER_CTAID_X},
    {"%cluster_ctaid.y", PTX_SR_CLUSTER_CTAID_Y},
    {"%cluster_ctaid.z", PTX_SR_CLUSTER_CTAID_Z},
    {"%cluster_nctaid.x", PTX_SR_CLUSTER_NCTAID_X},
    {"%cluster_nctaid.y", PTX_SR_CLUSTER_NCTAID_Y},
    {"%cluster_nctaid.z", PTX_SR_CLUSTER_NCTAID_Z},
    {"%cluster_ctarank", PTX_SR_CLUSTER_CTARANK},
    {"%cluster_nctarank", PTX_SR_CLUSTER_NCTARANK},
    {"%is_explicit_cluster", PTX_SR_IS_EXPLICIT_CLUSTER},
    {"%current_graph_exec", PTX_SR_CURRENT_GRAPH_EXEC},
};

static bool is_envreg(const char *text, size_t len)
{
    static const char name[] = "%envreg";
    const size_t at = sizeof(name) - 1;
    const int nr = len == at + 1   ? text[at] - '0'
                   : len == at + 2 ? 10 * (text[at] - '0') + text[at + 1] - '0'
                                   : -1;
    return nr >= 0 && nr < 32 && !strncmp(text, name, at) && (len == at + 1 ? nr < 10 : nr > 9);
}

/* The text from one token to the end of another, or just the first when they do not touch. */
static enum ptx_special find_special(const char *text, size_t len)
{
    for (size_t i = 0; i < ARRAY_SIZE(specials); i++) {
        if (!strncmp(specials[i].name, text, len) && !specials[i].name[len])
            return specials[i].special;
    }
    return is_envreg(text, len) ? PTX_SR_ENVREG : PTX_SR_NONE;
}

/* ---- operands ---- */

static bool parse_operand(struct ptx_parser *p, struct ptx_inst *inst, struct ptx_operand *operand);

static bool parse_special(struct ptx_parser *p, const struct ptx_inst *inst,
    const struct token *name, struct ptx_operand *operand)
{
    size_t len = name->len;

    if (p->token.kind == TOKEN_DOT && p->token.text == name->text + name->len + 1) {
        len += 1 + p->token.len;
        parser_advance(p);
    }
    operand->special = find_special(name->text, len);
    if (!operand->special) {
        const struct token whole = {.text = name->text, .len = (uint32_t)len};
        return name->text[0] == '%' &&
                       (len > name->len || name->len > 7 || !strncmp(name->text, "%pm", 3))
                   ? parser_unsupported(
                         p, "%s: special register %.*s", ptx_op_name(inst->op), TOKEN_ARG(&whole))
                   : parser_fail(p, "'%.*s' is not declared", TOKEN_ARG(&whole));
    }
    operand->kind = PTX_OPERAND_SPECIAL;
    return true;
}

static bool parse_offset(struct ptx_parser *p, uint64_t *offset)
{
    enum literal literal;

    *offset = 0;
    if (!parser_is(p, '+') && !parser_is(p, '-'))
        return true;
    if (!parse_constant(p, offset, &literal))
        return false;
    return literal == LITERAL_INT || parser_fail(p, "an offset must be an integer");
}

static void await_label(
    struct ptx_parser *p, const struct token *name, uint8_t operand, uint32_t element)
{
    const uint32_t inst = (uint32_t)p->body.nr_insts;
    struct func_body *body = &p->body;

    body->pending =
        grow(body->pending, &body->cap_pending, body->nr_pending + 1, sizeof(*body->pending));
    body->pending[body->nr_pending++] = (struct pending){.inst = inst,
        .operand = operand,
        .element = element,
        .depth = p->scopes.depth,
        .text = name->text,
        .len = name->len,
        .line = name->line};
}

struct targets { /* the labels of a .branchtargets */
    uint32_t nr;
    struct token labels[];
};

const struct targets *parse_targets(struct ptx_parser *p)
{
    struct targets *targets = NULL;
    size_t cap = 0;
    uint32_t nr = 0;
    bool ok;

    parser_advance(p);
    do {
        struct token name;
        targets = grow(targets, &cap, sizeof(*targets) + (nr + 1) * sizeof(name), 1);
        ok = parser_expect_name(p, &name);
        if (ok)
            targets->labels[nr++] = name;
    } while (ok && nr <= MAX_TARGETS && parser_accept(p, ','));
    if (ok && nr > MAX_TARGETS)
        ok = parser_unsupported(p, "more than %d branch targets", MAX_TARGETS);
    struct targets *copy = NULL;
    if (ok && parser_expect(p, ';')) {
        targets->nr = nr;
        copy = arena_alloc(p->scratch, sizeof(*copy) + nr * sizeof(struct token));
        memcpy(copy, targets, sizeof(*copy) + nr * sizeof(struct token));
    }
    free(targets);
    return copy;
}

/* The labels as a VECTOR of LABEL. */
static void use_targets(struct ptx_parser *p, struct ptx_inst *inst, struct ptx_operand *operand,
    const struct targets *targets)
{
    struct ptx_operand *labels = arena_array(p->arena, targets->nr, sizeof(*labels));

    for (uint32_t i = 0; i < targets->nr; i++) {
        labels[i] = (struct ptx_operand){.kind = PTX_OPERAND_LABEL, .reg = -1};
        await_label(p, &targets->labels[i], inst->nr_operands, i);
    }
    operand->kind = PTX_OPERAND_VECTOR;
    operand->nr = targets->nr;
    operand->vec = labels;
}

/* %r1.b0, %r1.h32 of the video instructions; not %v.x, which no compiler writes. */
static bool parse_part(struct ptx_parser *p, const struct ptx_inst *inst, struct ptx_part *part)
{
    const struct token word = p->token;
    const bool video = inst->op >= PTX_OP_VABSDIFF && inst->op <= PTX_OP_VSET4;
    bool ok =
        video && (word.text[0] == 'b' || word.text[0] == 'h') && word.len >= 2 && word.len <= 5;

    for (uint32_t i = 1; ok && i < word.len; i++) {
        ok = word.text[i] >= '0' && word.text[i] <= '7';
        part->digit[part->nr++] = (uint8_t)(word.text[i] - '0');
    }
    part->unit = word.text[0];
    parser_advance(p);
    return ok || parser_unsupported(
                     p, "%s: part .%.*s of a register", ptx_op_name(inst->op), TOKEN_ARG(&word));
}

/* Which register of a vector's: .x, .y, .z, .w, or .r, .g, .b, .a. */
static bool parse_component(
    struct ptx_parser *p, const struct ptx_inst *inst, uint32_t first, uint32_t nr, int32_t *reg)
{
    static const char letters[] = "xyzwrgba";
    const char *at = NULL;

    if (p->token.kind == TOKEN_DOT && p->token.len == 1)
        at = memchr(letters, p->token.text[0], sizeof(letters) - 1);
    if (!at)
        return parser_unsupported(p, "%s: a vector register as a whole", ptx_op_name(inst->op));
    if ((uint32_t)(at - letters) % 4 >= nr)
        return parser_fail(p, "the vector register has %u parts", nr);
    *reg = (int32_t)(first + (uint32_t)(at - letters) % 4);
    parser_advance(p);
    return true;
}

static bool parse_name_operand(
    struct ptx_parser *p, struct ptx_inst *inst, struct ptx_operand *operand)
{
    const struct token name = p->token;
    uint32_t index = 0;
    struct symbol_binding *binding;

    parser_advance(p);
    if (name.len == 1 && name.text[0] == '_') {
        operand->kind = PTX_OPERAND_SINK;
        return true;
    }
    if (inst->op == PTX_OP_BRA) {
        operand->kind = PTX_OPERAND_LABEL;
        await_label(p, &name, inst->nr_operands, 0);
        return true;
    }
    binding = scopes_find(&p->scopes, name.text, name.len, &index);
    if (!binding)
        return parse_special(p, inst, &name, operand);
    switch (binding->kind) {
    case BOUND_REG:
    case BOUND_RANGE:
        operand->kind = PTX_OPERAND_REG;
        operand->reg = (int32_t)index;
        return p->token.kind != TOKEN_DOT || parse_part(p, inst, &operand->part);
    case BOUND_VECTOR:
        operand->kind = PTX_OPERAND_REG;
        return parse_component(p, inst, index, binding->nr, &operand->reg);
    case BOUND_SYMBOL:
        operand->kind = PTX_OPERAND_SYMBOL;
        operand->symbol = binding->symbol;
        return parse_offset(p, &operand->imm);
    case BOUND_FUNC:
        binding->func->address_taken |= inst->op != PTX_OP_CALL;
        operand->kind = PTX_OPERAND_FUNC;
        operand->func = binding->func;
        return true;
    case BOUND_TARGETS:
        if (inst->op != PTX_OP_BRX)
            return parser_fail(p, "a list of labels as a value");
        use_targets(p, inst, operand, binding->targets);
        return true;
    default:
        return parser_unsupported(p, "%s: a label as a value", ptx_op_name(inst->op));
    }
}

enum { MAX_VECTOR = 256 }; /* wgmma m64n256 has 128 registers */

static bool parse_vector(struct ptx_parser *p, struct ptx_inst *inst, struct ptx_operand *operand)
{
    struct ptx_operand elements[MAX_VECTOR];
    uint32_t nr = 0;

    parser_advance(p);
    while (!parser_is(p, '}')) {
        if (nr == MAX_VECTOR || parser_is(p, '{'))
            return parser_fail(p, "a vector too long or nested");
        if (nr && !parser_expect(p, ','))
            return false;
        elements[nr] = (struct ptx_operand){.reg = -1};
        if (!parse_operand(p, inst, &elements[nr++]))
            return false;
    }
    parser_advance(p);
    operand->kind = PTX_OPERAND_VECTOR;
    operand->nr = nr;
    operand->vec = arena_array(p->arena, nr, sizeof(*elements));
    memcpy((struct ptx_operand *)operand->vec, elements, nr * sizeof(*elements));
    return true;
}

static bool parse_address(struct ptx_parser *p, struct ptx_inst *inst, struct ptx_operand *operand)
{
    enum literal literal;
    uint64_t offset;

    parser_advance(p);
    if (p->token.kind == TOKEN_NAME) {
        if (!parse_name_operand(p, inst, operand))
            return false;
        if (operand->kind != PTX_OPERAND_REG && operand->kind != PTX_OPERAND_SYMBOL)
            return parser_fail(p, "an address must be a register, a variable or a constant");
        if (!parse_offset(p, &offset))
            return false;
        operand->imm += offset;
    } else {
        if (!parse_constant(p, &operand->imm, &literal))
            return false;
        if (literal != LITERAL_INT)
            return parser_fail(p, "an address must be an integer");
    }
    operand->kind = PTX_OPERAND_ADDRESS;
    if (parser_accept(p, ',')) {
        struct ptx_operand coordinates = {.reg = -1};
        if (!parser_is(p, '{'))
            return parser_unsupported(p, "%s: separate samplers", ptx_op_name(inst->op));
        if (!parse_vector(p, inst, &coordinates))
            return false;
        operand->vec = coordinates.vec;
        operand->nr = coordinates.nr;
        for (uint32_t i = 0; i < operand->nr; i++) {
            struct ptx_operand *element = (struct ptx_operand *)&operand->vec[i];
            if (element->kind == PTX_OPERAND_IMM)
                element->nr = 0;
        }
    }
    return parser_expect(p, ']');
}

static bool parse_operand(struct ptx_parser *p, struct ptx_inst *inst, struct ptx_operand *operand)
{
    enum literal literal;

    if (parser_is(p, '{'))
        return parse_vector(p, inst, operand);
    if (parser_is(p, '['))
        return parse_address(p, inst, operand);
    if ((parser_is(p, '!') || parser_is(p, '-')) && p->ahead.kind == TOKEN_NAME) {
        const bool minus = parser_is(p, '-');
        parser_advance(p);
        if (!parse_name_operand(p, inst, operand))
            return false;
        if (operand->kind != PTX_OPERAND_REG || (minus && inst->op != PTX_OP_VMAD))
            return parser_fail(p, "only a predicate register can be negated");
        operand->negated = true;
        return true;
    }
    if (p->token.kind == TOKEN_NAME && !(p->token.len == 7 && !memcmp(p->token.text, "WARP_SZ", 7)))
        return parse_name_operand(p, inst, operand);
    operand->kind = PTX_OPERAND_IMM;
    if (!parse_constant(p, &operand->imm, &literal))
        return false;
    operand->nr = literal; /* until verify_inst settles the bits */
    return true;
}

/* ---- modifiers ---- */

static bool *flag_of(struct ptx_inst *inst, int flag)
{
    switch (flag) {
#define FLAG(name)                                                                                 \
    case FIELD_##name:                                                                             \
        return &inst->name;
        FLAGS
#undef FLAG
    default:
        return NULL;
    }
}

struct given_modifiers {
    uint64_t fields;
    unsigned nr_types, nr_spaces, nr_layouts;
    bool cache_hint; /* one operand more, which is dropped */
};

static bool set_type(
    struct ptx_parser *p, struct ptx_inst *inst, enum ptx_type type, struct given_modifiers *given)
{
    enum ptx_type *const slots[] = {&inst->type, &inst->type2, &inst->type3, &inst->type4};

    if (given->nr_types == form_of(inst->op)->nr_types_max)
        return parser_fail(p, "%s: too many types", ptx_op_name(inst->op));
    *slots[given->nr_types++] = type;
    return true;
}

static bool set_field(struct ptx_parser *p, struct ptx_inst *inst, const struct word *word,
    struct given_modifiers *given)
{
    const int value = word->value;

    switch (word->field) {
    case FIELD_TYPE:
        return set_type(p, inst, (enum ptx_type)value, given);
    case FIELD_SPACE:
        if (given->nr_spaces == (inst->op == PTX_OP_CP || inst->op == PTX_OP_TENSORMAP ? 2u : 1u))
            return parser_fail(p, "%s: too many state spaces", ptx_op_name(inst->op));
        *(given->nr_spaces++ ? &inst->space2 : &inst->space) = (enum ptx_space)value;
        return true;
    case FIELD_LAYOUT:
        if (given->nr_layouts == 2)
            return parser_fail(p, "%s: too many layouts", ptx_op_name(inst->op));
        *(given->nr_layouts++ ? &inst->layout_b : &inst->layout_a) = (enum ptx_layout)value;
        return true;
    case FIELD_ROUND:
        inst->round = (enum ptx_round)value;
        return true;
    case FIELD_CMP:
        inst->cmp = (enum ptx_cmp)value;
        return true;
    case FIELD_BOOL:
        inst->boolop = (enum ptx_bool)value;
        return true;
    case FIELD_MUL:
        inst->mul = (enum ptx_mul)value;
        return true;
    case FIELD_ATOM:
        inst->atom = (enum ptx_atom)value;
        return true;
    case FIELD_SHFL:
        inst->shfl = (enum ptx_shfl)value;
        return true;
    case FIELD_VOTE:
        inst->vote = (enum ptx_vote)value;
        return true;
    case FIELD_PRMT:
        inst->prmt = (enum ptx_prmt)value;
        return true;
    case FIELD_VEC:
        inst->vec = (uint8_t)value;
        return true;
    case FIELD_SEM:
        inst->sem = (enum ptx_sem)value;
        return true;
    case FIELD_SCOPE:
        inst->scope = (enum ptx_scope)value;
        return true;
    case FIELD_CACHE:
        inst->cache = (enum ptx_cache)value;
        return true;
    case FIELD_GEOM:
        inst->geom = (enum ptx_geom)value;
        return true;
    case FIELD_QUERY:
        inst->query = (enum ptx_query)value;
        return true;
    case FIELD_FRAG:
        inst->frag = (char)value;
        return true;
    case FIELD_SUB:
        inst->sub = (enum ptx_sub)value;
        return true;
    case FIELD_FLAG:
        *flag_of(inst, value) = true;
        return true;
    default:
        return true;
    }
}

/* m16n8k16, m8n8 */
static bool parse_shape(const struct token *token, struct ptx_inst *inst)
{
    static const char letters[] = "mnk";
    uint16_t *const sizes[] = {&inst->m, &inst->n, &inst->k};
    uint32_t at = 0;
    unsigned i;

    for (i = 0; i < 3 && at < token->len; i++) {
        unsigned value = 0;
        if (token->text[at++] != letters[i])
            return false;
        while (at < token->len && token->text[at] >= '0' && token->text[at] <= '9' && value < 4096)
            value = value * 10 + (unsigned)(token->text[at++] - '0');
        if (!value || value > 4096)
            return false;
        *sizes[i] = (uint16_t)value;
    }
    return i >= 2 && at == token->len;
}

static bool is_hint(const struct token *token)
{
    return token->len > 4 && (!memcmp(token->text, "L1::", 4) || !memcmp(token->text, "L2::", 4));
}

static bool parse_modifier(
    struct ptx_parser *p, struct ptx_inst *inst, struct given_modifiers *given)
{
    enum { REPEATS = 1 << FIELD_TYPE | 1 << FIELD_SPACE | 1 << FIELD_LAYOUT | 1 << FIELD_IGNORE };
    const uint64_t allowed = form_of(inst->op)->fields;
    const struct token token = p->token;
    const struct word *word;
    bool known;

    parser_advance(p);
    if (is_hint(&token) && allowed >> FIELD_HINT & 1) {
        if (token.len == 14 && !memcmp(token.text, "L2::cache_hint", 14))
            given->cache_hint = true;
        return true;
    }
    if (allowed >> FIELD_SHAPE & 1 && token.text[0] == 'm' && token.len > 1 &&
        !(given->fields >> FIELD_SHAPE & 1) && parse_shape(&token, inst)) {
        given->fields |= UINT64_C(1) << FIELD_SHAPE;
        return true;
    }
    word =
        words_find(&p->words, token.text, token.len, allowed & (~given->fields | REPEATS), &known);
    if (!word)
        return known ? parser_fail(p, "%s: modifier .%.*s does not belong here or is given twice",
                           ptx_op_name(inst->op), TOKEN_ARG(&token))
                     : parser_unsupported(
                           p, "%s: modifier .%.*s", ptx_op_name(inst->op), TOKEN_ARG(&token));
    given->fields |= UINT64_C(1) << (word->field == FIELD_FLAG ? word->value : (int)word->field);
    return set_field(p, inst, word, given);
}

static bool parse_modifiers(
    struct ptx_parser *p, struct ptx_inst *inst, struct given_modifiers *given)
{
    const struct op_form *form = form_of(inst->op);
    const char *start = p->token.kind == TOKEN_DOT ? p->token.text - 1 : NULL;
    const char *end = start;

    inst->vec = 1;
    while (p->token.kind == TOKEN_DOT) {
        end = p->token.text + p->token.len;
        if (!parse_modifier(p, inst, given))
            return false;
    }
    inst->mods = start ? arena_strndup(p->arena, start, (size_t)(end - start)) : "";
    if (given->nr_types < form->nr_types_min)
        return parser_fail(p, "%s: a type is missing", ptx_op_name(inst->op));
    if (given->nr_types && !form_allows_type(form, inst->type))
        return parser_fail(p, "%s: not for .%s", ptx_op_name(inst->op), ptx_type_name(inst->type));
    if (form->required & ~given->fields)
        return parser_fail(p, "%s: a modifier is missing", ptx_op_name(inst->op));
    return true;
}

/* ---- the instruction ---- */

static bool parse_guard(struct ptx_parser *p, struct ptx_inst *inst)
{
    struct token name;
    const struct symbol_binding *binding;
    uint32_t index;

    inst->guard = -1;
    if (!parser_accept(p, '@'))
        return true;
    inst->guard_negated = parser_accept(p, '!');
    if (!parser_expect_name(p, &name))
        return false;
    binding = scopes_find(&p->scopes, name.text, name.len, &index);
    if (!binding || (binding->kind != BOUND_REG && binding->kind != BOUND_RANGE) ||
        p->body.regs[index].type != PTX_PRED)
        return parser_fail(p, "'%.*s' is not a predicate", TOKEN_ARG(&name));
    inst->guard = (int32_t)index;
    return true;
}

/* (a, b) as a VECTOR; empty when there is no parenthesis. */
static bool parse_call_list(
    struct ptx_parser *p, struct ptx_inst *inst, struct ptx_operand *operand)
{
    struct ptx_operand elements[MAX_VECTOR];
    uint32_t nr = 0;

    *operand = (struct ptx_operand){.kind = PTX_OPERAND_VECTOR, .reg = -1};
    if (!parser_accept(p, '('))
        return true;
    while (!parser_is(p, ')')) {
        struct ptx_operand *element = &elements[nr];
        if (nr == MAX_VECTOR)
            return parser_fail(p, "call: too many arguments");
        if (nr && !parser_expect(p, ','))
            return false;
        *element = (struct ptx_operand){.reg = -1};
        if (!parse_operand(p, inst, element))
            return false;
        if (element->kind != PTX_OPERAND_IMM && element->kind != PTX_OPERAND_REG &&
            (element->kind != PTX_OPERAND_SYMBOL || element->symbol->space != PTX_PARAM))
            return parser_fail(p, "call: an argument must be a .param variable");
        nr++;
    }
    parser_advance(p);
    operand->nr = nr;
    operand->vec = arena_array(p->arena, nr, sizeof(*elements));
    memcpy((struct ptx_operand *)operand->vec, elements, nr * sizeof(*elements));
    return true;
}

/* Arguments that are constants become bits, at the types of the parameters where these are known.
 */
static bool settle_arguments(struct ptx_parser *p, const struct ptx_inst *inst)
{
    const struct ptx_operand *callee = &inst->operand[1], *list = &inst->operand[2];

    for (uint32_t i = 0; i < list->nr; i++) {
        struct ptx_operand *o = (struct ptx_operand *)&list->vec[i];
        const enum literal literal = (enum literal)o->nr;
        if (o->kind != PTX_OPERAND_IMM)
            continue;
        o->nr = 0;
        if (callee->kind != PTX_OPERAND_FUNC
                ? literal != LITERAL_INT
                : !literal_at_type(o->imm, literal, callee->func->params[i].type, &o->imm))
            return parser_fail(p, "call: a constant that cannot stand for argument %u", i + 1);
    }
    return true;
}

static bool parse_call(struct ptx_parser *p, struct ptx_inst *inst)
{
    struct ptx_operand *callee = &inst->operand[1];
    struct token name;

    inst->nr_operands = 3;
    inst->nr_dests = 1;
    inst->operand[0] = inst->operand[2] =
        (struct ptx_operand){.kind = PTX_OPERAND_VECTOR, .reg = -1};
    callee->reg = -1;
    if (parser_is(p, '(') &&
        !(parse_call_list(p, inst, &inst->operand[0]) && parser_expect(p, ',')))
        return false;
    if (p->token.kind != TOKEN_NAME)
        return parser_fail(p, "call: a function is needed");
    if (!parse_name_operand(p, inst, callee))
        return false;
    if (callee->kind != PTX_OPERAND_FUNC && callee->kind != PTX_OPERAND_REG)
        return parser_fail(p, "call: not a function");
    if (parser_accept(p, ',')) {
        if (parser_is(p, '(')) {
            if (!parse_call_list(p, inst, &inst->operand[2]))
                return false;
            if (parser_accept(p, ',') && !parser_expect_name(p, &name)) /* prototype */
                return false;
        } else if (!parser_expect_name(p, &name)) {
            return false;
        }
    }
    if (callee->kind == PTX_OPERAND_FUNC && (callee->func->nr_params != inst->operand[2].nr ||
                                                callee->func->nr_rets != inst->operand[0].nr))
        return parser_fail(p, "call: %s takes %u and returns %u values", callee->func->name,
            callee->func->nr_params, callee->func->nr_rets);
    return settle_arguments(p, inst);
}

static bool parse_operands(struct ptx_parser *p, struct ptx_inst *inst, bool *second_dest)
{
    *second_dest = false;
    while (!parser_is(p, ';')) {
        if (inst->nr_operands == PTX_MAX_OPERANDS)
            return parser_fail(p, "%s: too many operands", ptx_op_name(inst->op));
        if (inst->nr_operands) {
            if (inst->nr_operands == 1 && !*second_dest && parser_accept(p, '|'))
                *second_dest = true;
            else if (!parser_expect(p, ','))
                return false;
        }
        if (!parse_operand(p, inst, &inst->operand[inst->nr_operands]))
            return false;
        inst->nr_operands++;
    }
    return true;
}

static bool append(struct ptx_parser *p, const struct ptx_inst *inst)
{
    struct func_body *body = &p->body;

    if (++p->nr_insts > MAX_INSTS)
        return parser_unsupported(p, "more than %d instructions", MAX_INSTS);
    body->insts = grow(body->insts, &body->cap_insts, body->nr_insts + 1, sizeof(*inst));
    body->locs = grow(body->locs, &body->cap_locs, body->nr_insts + 1, sizeof(*body->locs));
    body->insts[body->nr_insts] = *inst;
    body->insts[body->nr_insts].rolled = body->rolled;
    body->rolled = false;
    body->locs[body->nr_insts++] = p->locs.current;
    body->label_at_end = false;
    return true;
}

bool parse_inst(struct ptx_parser *p)
{
    struct ptx_inst inst = {.text_line = p->token.line};
    struct given_modifiers given = {0};
    bool second_dest = false;

    for (int i = 0; i < PTX_MAX_OPERANDS; i++)
        inst.operand[i].reg = -1;
    if (!parse_guard(p, &inst))
        return false;
    if (p->token.kind != TOKEN_NAME)
        return parser_fail(p, "expected an instruction, found '%.*s'", TOKEN_ARG(&p->token));
    if (!words_find_op(&p->words, p->token.text, p->token.len, &inst.op))
        return parser_unsupported(p, "instruction '%.*s'", TOKEN_ARG(&p->token));
    parser_advance(p);
    if (!parse_modifiers(p, &inst, &given))
        return false;
    if (inst.op == PTX_OP_CALL ? !parse_call(p, &inst) : !parse_operands(p, &inst, &second_dest))
        return false;
    if (given.cache_hint && inst.nr_operands)
        inst.operand[--inst.nr_operands] = (struct ptx_operand){.reg = -1};
    return verify_inst(p, &inst, second_dest) && parser_expect(p, ';') && append(p, &inst);
}

/* ---- labels ---- */

bool resolve_labels(struct ptx_parser *p)
{
    struct func_body *body = &p->body;
    size_t kept = 0, i = body->nr_pending;

    /* The labels of this scope and of deeper ones are the last of the list. */
    while (i > 0 && body->pending[i - 1].depth >= p->scopes.depth)
        i--;
    kept = i;
    for (; i < body->nr_pending; i++) {
        struct pending pending = body->pending[i];
        uint32_t index;
        const struct symbol_binding *binding =
            scopes_find(&p->scopes, pending.text, pending.len, &index);

        if (binding && binding->kind == BOUND_LABEL && binding->depth == p->scopes.depth) {
            struct ptx_operand *o = &body->insts[pending.inst].operand[pending.operand];
            if (o->kind == PTX_OPERAND_VECTOR)
                o = (struct ptx_operand *)&o->vec[pending.element];
            o->target = binding->target;
        } else if (p->scopes.depth == BODY_DEPTH) {
            const struct token name = {.text = pending.text, .len = pending.len};
            p->token.line = pending.line;
            return parser_fail(p, "label '%.*s' is not declared", TOKEN_ARG(&name));
        } else {
            pending.depth = p->scopes.depth - 1;
            body->pending[kept++] = pending;
        }
    }
    body->nr_pending = kept;
    return true;
}
