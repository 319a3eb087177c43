/* Owns declarations: registers, variables with their initial bytes, parameters. */
#include "ptx/parse.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

static const uint64_t MAX_VARIABLE_BYTES = UINT64_C(1) << 40;

static bool parse_type(struct ptx_parser *p, enum ptx_type *type)
{
    const uint64_t mask = UINT64_C(1) << FIELD_TYPE;
    const struct word *word;
    bool known;

    if (p->token.kind == TOKEN_DOT) {
        word = words_find(&p->words, p->token.text, p->token.len, mask, &known);
        if (word) {
            *type = (enum ptx_type)word->value;
            parser_advance(p);
            return true;
        }
    }
    if (parser_is_word(p, "texref") || parser_is_word(p, "samplerref") ||
        parser_is_word(p, "surfref"))
        return parser_unsupported(p, "texture references");
    return parser_fail(p, "expected a type, found '%.*s'", TOKEN_ARG(&p->token));
}

/* ---- registers ---- */

static bool add_regs(
    struct ptx_parser *p, enum ptx_type type, const struct token *name, uint32_t nr)
{
    struct func_body *body = &p->body;

    p->nr_regs += nr;
    if (p->nr_regs > MAX_REGS)
        return parser_unsupported(p, "more than %d registers", MAX_REGS);
    body->regs = grow(body->regs, &body->cap_regs, body->nr_regs + nr, sizeof(*body->regs));
    for (uint32_t i = 0; i < nr; i++) {
        struct ptx_reg *reg = &body->regs[body->nr_regs++];
        reg->type = type;
        reg->name = nr == 1 && !name->value
                        ? parser_copy(p, name)
                        : arena_printf(p->arena, "%.*s%u", (int)name->len, name->text, i);
    }
    return true;
}

/* width: 1, or of a vector 2 or 4: as many registers, which NAME.x, .y, .z and .w name. */
static bool parse_reg_name(struct ptx_parser *p, enum ptx_type type, unsigned width)
{
    const uint32_t first = (uint32_t)p->body.nr_regs;
    struct token name;
    struct symbol_binding *binding;
    uint64_t nr = 1;
    bool range;

    if (!parser_expect_name(p, &name))
        return false;
    if (name.len > 1000)
        return parser_fail(p, "a register's name is too long");
    range = parser_accept(p, '<');
    if (range && width > 1)
        return parser_unsupported(p, "a range of vector registers");
    if (range && !(parse_u64(p, MAX_REGS, &nr) && parser_expect(p, '>')))
        return false;
    nr *= width;
    name.value = range || width > 1;
    binding = scopes_bind(&p->scopes,
        range       ? BOUND_RANGE
        : width > 1 ? BOUND_VECTOR
                    : BOUND_REG,
        name.text, name.len);
    if (!binding)
        return parser_fail(p, "'%.*s' is declared twice", TOKEN_ARG(&name));
    binding->first = first;
    binding->nr = (uint32_t)nr;
    return add_regs(p, type, &name, (uint32_t)nr);
}

bool parse_reg(struct ptx_parser *p)
{
    const unsigned width = parser_is_word(p, "v2") ? 2 : parser_is_word(p, "v4") ? 4 : 1;
    enum ptx_type type;

    if (width > 1)
        parser_advance(p);
    if (!parse_type(p, &type))
        return false;
    do {
        if (!parse_reg_name(p, type, width))
            return false;
    } while (parser_accept(p, ','));
    return parser_expect(p, ';');
}

/* ---- initial values ---- */

struct init {
    struct ptx_symbol *symbol;
    uint8_t *bytes;
    uint64_t cap; /* bytes that the array is known to have, or that were given room so far */
    uint64_t at;
    bool open; /* the array is declared with []: these values give its size */
    uint32_t *symbol_at;
    const struct ptx_symbol **symbols;
    size_t nr, cap_at, cap_symbols;
};

static bool init_room(struct ptx_parser *p, struct init *init, uint64_t bytes)
{
    if (init->open && init->at + bytes > init->cap) {
        uint64_t cap = init->cap * 2 > 64 ? init->cap * 2 : 64;
        if (p->init_bytes + cap > MAX_INIT_BYTES)
            return parser_unsupported(p, "so many initial values");
        init->bytes = xrealloc(init->bytes, cap);
        memset(init->bytes + init->cap, 0, cap - init->cap);
        init->cap = cap;
    }
    if (init->at + bytes > init->cap)
        return parser_fail(p, "more initial values than %s has room for", init->symbol->name);
    return true;
}

static void init_put(struct init *init, uint64_t value, unsigned bytes)
{
    memcpy(init->bytes + init->at, &value, bytes); /* little-endian, as the chip */
    init->at += bytes;
}

/* name, generic(name), either + constant. shift: of mask(name), which byte of the address. */
static bool parse_init_address(
    struct ptx_parser *p, struct init *init, unsigned bytes, unsigned shift)
{
    const bool generic = p->token.len == 7 && !memcmp(p->token.text, "generic", 7) &&
                         p->ahead.kind == TOKEN_PUNCT && p->ahead.text[0] == '(';
    const struct symbol_binding *binding;
    struct token name;
    uint64_t offset = 0;
    uint32_t index;
    enum literal literal;

    if (generic) {
        parser_advance(p);
        parser_advance(p);
    }
    if (!parser_expect_name(p, &name) || (generic && !parser_expect(p, ')')))
        return false;
    binding = scopes_find(&p->scopes, name.text, name.len, &index);
    if (!binding || (binding->kind != BOUND_SYMBOL && binding->kind != BOUND_FUNC))
        return parser_fail(p, "'%.*s' has no address", TOKEN_ARG(&name));
    if ((parser_is(p, '+') || parser_is(p, '-')) &&
        (!parse_constant(p, &offset, &literal) || literal != LITERAL_INT))
        return parser_fail(p, "an address plus a constant is needed");
    if (!init_room(p, init, bytes))
        return false;
    if (binding->kind == BOUND_FUNC) {
        binding->func->address_taken = true;
        init_put(init, (ptx_func_address(binding->func) + offset) >> shift, bytes);
        return true;
    }
    if (bytes == 1) { /* a pointer written byte by byte: the first of eight stands for all */
        if (shift) {
            init->at++;
            return true;
        }
        if (!init_room(p, init, 8))
            return false;
        memcpy(init->bytes + init->at, &offset, 8);
    } else if (bytes != 8) {
        return parser_unsupported(p, "addresses of other than 64 bits");
    }
    init->symbol_at = grow(init->symbol_at, &init->cap_at, init->nr + 1, sizeof(uint32_t));
    init->symbols = grow(init->symbols, &init->cap_symbols, init->nr + 1, sizeof(*init->symbols));
    init->symbol_at[init->nr] = (uint32_t)init->at;
    init->symbols[init->nr++] = binding->symbol;
    if (bytes == 1)
        init->at++;
    else
        init_put(init, offset, bytes);
    return true;
}

static bool parse_init_value(struct ptx_parser *p, struct init *init)
{
    const unsigned bytes = ptx_type_bytes(init->symbol->type);
    uint64_t value, bits;
    enum literal literal;

    if (p->token.kind == TOKEN_NAME && !(p->token.len == 7 && !memcmp(p->token.text, "WARP_SZ", 7)))
        return parse_init_address(p, init, bytes, 0);
    if (p->token.kind == TOKEN_INT && p->ahead.kind == TOKEN_PUNCT && p->ahead.text[0] == '(') {
        const uint64_t mask = p->token.value;
        unsigned shift = 0;
        while (shift < 64 && mask >> shift != 0xff)
            shift += 8;
        if (shift == 64 || bytes != 1)
            return parser_unsupported(p, "a mask other than one byte of an address");
        parser_advance(p);
        parser_advance(p);
        return parse_init_address(p, init, 1, shift) && parser_expect(p, ')');
    }
    if (!parse_constant(p, &value, &literal))
        return false;
    if (!literal_at_type(value, literal, init->symbol->type, &bits))
        return parser_fail(
            p, "a constant that cannot stand for a .%s", ptx_type_name(init->symbol->type));
    if (bytes > 8)
        return parser_unsupported(p, "initial values of 128 bits");
    if (!init_room(p, init, bytes))
        return false;
    init_put(init, bits, bytes);
    return true;
}

/* { {1, 2}, {3} }: what a row leaves out is zero. row_bytes[depth] is the size of one element
 * there. */
static bool parse_init_list(struct ptx_parser *p, struct init *init, const uint64_t *row_bytes,
    unsigned depth, unsigned nr_dims)
{
    const uint64_t start = init->at;

    if (!parser_is(p, '{'))
        return parse_init_value(p, init);
    if (depth > nr_dims)
        return parser_fail(p, "too many braces");
    parser_advance(p);
    while (!parser_is(p, '}')) {
        if (!parse_init_list(p, init, row_bytes, depth + 1, nr_dims))
            return false;
        if (!parser_accept(p, ','))
            break;
    }
    if (depth && init->at - start < row_bytes[depth - 1]) {
        const uint64_t rest = row_bytes[depth - 1] - (init->at - start);
        if (!init_room(p, init, rest))
            return false;
        init->at += rest;
    }
    return parser_expect(p, '}');
}

static bool parse_init(struct ptx_parser *p, struct ptx_symbol *symbol, const uint64_t *row_bytes,
    unsigned nr_dims, bool open)
{
    struct init init = {.symbol = symbol, .open = open, .cap = open ? 0 : symbol->bytes};
    bool ok;

    if (!open) {
        if (symbol->bytes > MAX_INIT_BYTES || p->init_bytes + symbol->bytes > MAX_INIT_BYTES)
            return parser_unsupported(p, "so many initial values");
        init.bytes = xcalloc(symbol->bytes + 8, 1);
    }
    ok = parse_init_list(p, &init, row_bytes, 0, nr_dims);
    if (ok && init.nr && init.symbol_at[init.nr - 1] + 8 > (open ? init.at : init.cap))
        ok = parser_unsupported(p, "a part of an address as an initial value");
    if (ok) {
        uint8_t *bytes;
        const struct ptx_symbol **symbols;
        uint32_t *at;

        if (open)
            symbol->bytes = init.at;
        p->init_bytes += symbol->bytes;
        bytes = arena_alloc(p->arena, symbol->bytes + 8);
        if (symbol->bytes)
            memcpy(bytes, init.bytes, symbol->bytes);
        symbol->init = bytes;
        at = arena_array(p->arena, init.nr, sizeof(*at));
        symbols = arena_array(p->arena, init.nr, sizeof(*symbols));
        if (init.nr) {
            memcpy(at, init.symbol_at, init.nr * sizeof(*at));
            memcpy(symbols, init.symbols, init.nr * sizeof(*symbols));
        }
        symbol->init_at = at;
        symbol->init_symbol = symbols;
        symbol->nr_init_symbols = (uint32_t)init.nr;
    }
    free(init.bytes);
    free(init.symbol_at);
    free(init.symbols);
    return ok;
}

/* ---- variables ---- */

enum { MAX_DIMS = 8 };

struct decl_shape {
    uint64_t row_bytes[MAX_DIMS]; /* of one element, per dimension */
    unsigned nr_dims;
    bool open; /* the first dimension is [] */
};

static bool parse_dims(
    struct ptx_parser *p, uint64_t element, struct decl_shape *shape, uint64_t *bytes)
{
    uint64_t sizes[MAX_DIMS];
    unsigned nr = 0;

    while (parser_accept(p, '[')) {
        if (nr == MAX_DIMS)
            return parser_fail(p, "too many dimensions");
        sizes[nr] = 1;
        if (parser_is(p, ']')) {
            if (nr)
                return parser_fail(p, "only the first dimension may be empty");
            shape->open = true;
        } else if (!parse_u64(p, MAX_VARIABLE_BYTES, &sizes[nr])) {
            return false;
        }
        nr++;
        if (!parser_expect(p, ']'))
            return false;
    }
    shape->nr_dims = nr;
    *bytes = element;
    while (nr > 0) {
        shape->row_bytes[--nr] = *bytes;
        if (sizes[nr] && *bytes > MAX_VARIABLE_BYTES / sizes[nr])
            return parser_fail(p, "a variable too large");
        *bytes *= sizes[nr];
    }
    if (shape->open)
        *bytes = 0;
    return true;
}

/* .align N, .attribute(...), .ptr .space .align N. Only the first N is the variable's alignment. */
static bool parse_align(struct ptx_parser *p, uint32_t *align)
{
    uint64_t value;

    parser_advance(p);
    if (!parse_u64(p, 1 << 20, &value))
        return false;
    if (!value || (value & (value - 1)))
        return parser_fail(p, "an alignment must be a power of two");
    *align = (uint32_t)value;
    return true;
}

static bool parse_attribute(struct ptx_parser *p, struct ptx_symbol *like)
{
    parser_advance(p);
    if (!parser_expect(p, '('))
        return false;
    while (!parser_is(p, ')')) {
        if (p->token.kind == TOKEN_END)
            return parser_fail(p, "an attribute without end");
        like->managed |= parser_is_word(p, "managed");
        parser_advance(p);
    }
    return parser_expect(p, ')');
}

static uint64_t place(uint64_t *used, const struct ptx_symbol *symbol)
{
    const uint64_t offset = (*used + symbol->align - 1) & ~(uint64_t)(symbol->align - 1);

    *used = offset + symbol->bytes;
    return offset;
}

static bool place_variable(struct ptx_parser *p, struct ptx_symbol *symbol, bool in_body)
{
    struct func_body *body = &p->body;
    uint64_t *used = NULL;

    switch (symbol->space) {
    case PTX_SHARED:
        if (!in_body && !symbol->external) { /* placed when it is known who uses it */
            p->shared = grow(p->shared, &p->cap_shared, p->nr_shared + 1, sizeof(*p->shared));
            p->shared[p->nr_shared++] = symbol;
            return true;
        }
        used = &body->shared_bytes;
        if (in_body) {
            body->shared =
                grow(body->shared, &body->cap_shared, body->nr_shared + 1, sizeof(*body->shared));
            body->shared[body->nr_shared++] = symbol;
        }
        if (symbol->external)
            return true; /* after everything else, at launch */
        break;
    case PTX_LOCAL:
        used = &body->local_bytes;
        break;
    case PTX_PARAM:
        used = &body->call_bytes;
        symbol->role = PTX_ROLE_CALL;
        break;
    default:
        p->globals = grow(p->globals, &p->cap_globals, p->nr_globals + 1, sizeof(*p->globals));
        p->globals[p->nr_globals++] = symbol;
        return true;
    }
    symbol->offset = place(used, symbol);
    if (*used > UINT32_MAX)
        return parser_fail(p, "%s does not fit", symbol->name);
    return true;
}

static bool parse_one_variable(
    struct ptx_parser *p, const struct ptx_symbol *like, unsigned vec, bool in_body)
{
    struct ptx_symbol *symbol = arena_alloc(p->arena, sizeof(*symbol));
    struct decl_shape shape = {0};
    struct token name;
    struct symbol_binding *binding;
    uint64_t element = (uint64_t)ptx_type_bytes(like->type) * vec;

    *symbol = *like;
    if (!parser_expect_name(p, &name))
        return false;
    symbol->name = parser_copy(p, &name);
    if (!symbol->align)
        symbol->align = (uint32_t)element;
    if (!parse_dims(p, element, &shape, &symbol->bytes))
        return false;
    if (parser_accept(p, '=')) {
        if (symbol->space != PTX_GLOBAL && symbol->space != PTX_CONST)
            return parser_fail(p, "only .global and .const variables have initial values");
        if (!parse_init(p, symbol, shape.row_bytes, shape.nr_dims, shape.open))
            return false;
    } else if (shape.open && !symbol->external) {
        return parser_fail(p, "%s needs a size", symbol->name);
    }
    binding = scopes_bind(&p->scopes, BOUND_SYMBOL, name.text, name.len);
    if (!binding) {
        uint32_t index;
        binding = scopes_find(&p->scopes, name.text, name.len, &index);
        if (!binding || binding->kind != BOUND_SYMBOL || !binding->symbol->external ||
            binding->symbol->space != symbol->space)
            return parser_fail(p, "'%.*s' is declared twice", TOKEN_ARG(&name));
        if (symbol->external)
            return true; /* said again */
        return parser_unsupported(p, "a definition after .extern in one module");
    }
    binding->symbol = symbol;
    return place_variable(p, symbol, in_body);
}

bool parse_variable(struct ptx_parser *p, enum ptx_space space, bool external, bool in_body)
{
    struct ptx_symbol like = {
        .space = space, .external = external, .func = in_body ? p->body.func : NULL};
    unsigned vec = 1;

    for (;;) {
        if (parser_is_word(p, "align")) {
            if (!parse_align(p, &like.align))
                return false;
        } else if (parser_is_word(p, "attribute")) {
            if (!parse_attribute(p, &like))
                return false;
        } else if (parser_is_word(p, "v2") || parser_is_word(p, "v4")) {
            vec = p->token.text[1] == '2' ? 2 : 4;
            parser_advance(p);
        } else {
            break;
        }
    }
    if (!parse_type(p, &like.type))
        return false;
    if (like.type == PTX_PRED)
        return parser_fail(p, "a predicate cannot be a variable");
    do {
        if (!parse_one_variable(p, &like, vec, in_body))
            return false;
    } while (parser_accept(p, ','));
    return parser_expect(p, ';');
}

/* ---- parameters ---- */

static bool parse_param(struct ptx_parser *p, struct ptx_symbol *param)
{
    struct decl_shape shape = {0};
    struct token name;
    uint32_t pointee;

    if (!parser_is_word(p, "param"))
        return parser_is_word(p, "reg") ? parser_unsupported(p, "parameters in registers")
                                        : parser_fail(p, "expected .param");
    parser_advance(p);
    param->space = PTX_PARAM;
    if (parser_is_word(p, "align") && !parse_align(p, &param->align))
        return false;
    if (!parse_type(p, &param->type))
        return false;
    if (param->type == PTX_PRED)
        return parser_fail(p, "a predicate cannot be a parameter");
    while (p->token.kind == TOKEN_DOT) { /* .ptr .global .align 16: what the pointer points to */
        if (!parser_is_word(p, "align"))
            parser_advance(p);
        else if (!parse_align(p, &pointee))
            return false;
    }
    if (!parser_expect_name(p, &name))
        return false;
    param->name = parser_copy(p, &name);
    if (!param->align)
        param->align = ptx_type_bytes(param->type);
    if (!parse_dims(p, ptx_type_bytes(param->type), &shape, &param->bytes))
        return false;
    if (shape.open)
        return parser_unsupported(p, "a variable number of arguments");
    return param->bytes <= 1 << 20 || parser_fail(p, "%s is too large", param->name);
}

bool parse_params(struct ptx_parser *p, enum ptx_role role, struct ptx_symbol **params,
    uint32_t *nr, uint32_t *bytes)
{
    struct ptx_symbol *items = NULL;
    size_t cap = 0, count = 0;
    uint64_t used = 0;
    bool ok = parser_expect(p, '(');

    while (ok && !parser_is(p, ')')) {
        struct ptx_symbol param = {.role = role};
        ok = (!count || parser_expect(p, ',')) && parse_param(p, &param);
        if (ok) {
            param.offset = place(&used, &param);
            items = grow(items, &cap, count + 1, sizeof(*items));
            items[count++] = param;
        }
        if (ok && used > 1 << 20)
            ok = parser_fail(p, "parameters of more than a megabyte");
    }
    ok = ok && parser_expect(p, ')');
    *params = arena_array(p->arena, count, sizeof(*items));
    if (ok && count)
        memcpy(*params, items, count * sizeof(*items));
    *nr = ok ? (uint32_t)count : 0;
    *bytes = (uint32_t)used;
    free(items);
    return ok;
}
