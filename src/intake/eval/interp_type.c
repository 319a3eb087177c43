/* Owns types as the interpreter needs them: reads them from tokens, and knows their sizes and
 * fields. */
#include "intake/eval/interp_type.h"

#include "base/mem.h"
#include "base/str.h"
#include "intake/eval/interp_parts.h"
#include "intake/eval/layout.h"
#include "intake/syntax/spelling.h"

#include <string.h>

enum { MAX_TYPES = 4096 };

static bool ends_pointer(const char *text)
{
    return *text && text[strlen(text) - 1] == '*';
}

static const struct decl *struct_named(struct interp *ip, const char *name)
{
    const struct toks *toks = ip->resolver->toks;

    for (const char *p; (p = strstr(name, "::")) != NULL;)
        name = p + 2;
    name = arena_strndup(ip->arena, name, strcspn(name, "<"));
    for (unsigned i = toks_name(toks, name, 0); i < toks->nr; i = toks_again(toks, i, toks->nr)) {
        const struct decl *d = decls_at(ip->resolver->decls, i);

        if (d && (d->kind == DECL_TYPE || d->kind == DECL_USING) && strcmp(d->name, name) == 0 &&
            toks_find(toks, d->from, d->to, "{") < d->to)
            return d;
    }
    return NULL;
}

/* The first argument between the outermost < and >; NULL: there is none. */
static const char *inner_text(struct interp *ip, const char *text)
{
    const char *open = strchr(text, '<');
    struct tok_range first;
    struct toks toks;

    return open && toks_lex(&toks, ip->arena, open, strlen(open)) && toks_list(&toks, 0, &first, 1)
               ? toks_text(&toks, ip->arena, first.from, first.to)
               : NULL;
}

const struct type *interp_type_inner(struct interp *ip, const struct type *type)
{
    const char *text = inner_text(ip, type->text);

    return text ? interp_type_named(ip, text) : type;
}

static void describe_plain(struct interp *ip, struct type *t)
{
    static const char *const vectors[] = {
        "vector", "device_vector", "host_vector", "array", "unique_ptr", "shared_ptr", NULL};
    unsigned lanes;
    const char *c = resolver_type(ip->resolver, t->text, ip->at), *elem = spelling_elem(c, &lanes);
    size_t head = strcspn(t->text, "<");
    const char *name = t->text;

    for (const char *p; (p = strstr(name, "::")) != NULL && p < t->text + head;)
        name = p + 2;
    name = arena_strndup(ip->arena, name, head - (size_t)(name - t->text));
    if (elem) {
        t->bytes = spelling_bytes(c);
        t->kind = lanes > 1 ? TYPE_STRUCT : spelling_is_real(c) ? TYPE_REAL : TYPE_INT;
        t->is_unsigned = elem[0] == 'u' || strcmp(elem, "bool") == 0;
    } else if (strcmp(t->text, "dim3") == 0) {
        t->kind = TYPE_DIM3;
        t->bytes = 12;
    } else if (str_among(name, vectors) && inner_text(ip, t->text)) {
        t->kind = TYPE_VECTOR;
        t->to = interp_type_named(ip, inner_text(ip, t->text));
    } else if (strcmp(name, "string") == 0) {
        t->kind = TYPE_TEXT;
    } else if (ends_pointer(c)) {
        t->kind = TYPE_POINTER;
        t->bytes = 8;
        t->to = interp_type_named(ip, arena_strndup(ip->arena, c, strlen(c) - 1));
    } else {
        t->decl = struct_named(ip, c);
        bool is_enum =
            t->decl &&
            tok_is(
                &ip->resolver->toks
                     ->tok[t->decl->from + toks_is(ip->resolver->toks, t->decl->from, "typedef")],
                "enum");

        t->kind = is_enum ? TYPE_INT : t->decl ? TYPE_STRUCT : TYPE_OTHER;
        t->bytes = is_enum ? 4 : 0;
        if (strcmp(t->text, "cudaLaunchAttribute") == 0) /* programs have arrays of them */
            t->bytes = LAUNCH_ATTRIBUTE_BYTES;
    }
}

const struct type *interp_type_named(struct interp *ip, const char *text)
{
    unsigned nr = 0;

    for (struct type *t = ip->types; t; t = t->next, nr++)
        if (strcmp(t->text, text) == 0)
            return t;
    if (nr > MAX_TYPES || ip->depth > INTERP_MAX_DEPTH)
        return NULL;
    struct type *t = arena_alloc(ip->arena, sizeof(*t));

    *t = (struct type){.text = arena_strdup(ip->arena, text), .next = ip->types};
    ip->types = t;
    ip->depth++;
    if (ends_pointer(text)) {
        t->kind = TYPE_POINTER;
        t->bytes = 8;
        t->to = interp_type_named(ip, arena_strndup(ip->arena, text, strlen(text) - 1));
    } else {
        describe_plain(ip, t);
    }
    ip->depth--;
    return t;
}

const struct type *interp_type_pointer(struct interp *ip, const struct type *to)
{
    return interp_type_named(ip, arena_printf(ip->arena, "%s*", to ? to->text : "void"));
}

static const char *const skipped[] = {"const", "static", "constexpr", "volatile", "register",
    "extern", "inline", "struct", "class", "enum", "typename", "mutable", "__restrict__",
    "__restrict", "thread_local", "__device__", "__host__", "__managed__", "__shared__",
    "__constant__", NULL};

bool interp_type_word(const struct tok *t)
{
    return t->kind == TOK_NAME && str_among(t->text, skipped);
}

/* Adds tokens as text, with what the frame binds in place of template parameters. */
static void add_words(
    struct interp *ip, const struct toks *toks, unsigned from, unsigned to, struct str *out)
{
    for (unsigned i = from; i < to; i++) {
        const char *word = toks->tok[i].text;
        const struct type *bound = NULL;

        if (interp_type_word(&toks->tok[i]))
            continue;
        if (toks->tok[i].kind == TOK_NAME)
            bound = interp_bound_type(ip, word);
        word = bound ? bound->text : word;
        if (out->len && str_word_char(out->text[out->len - 1]) && str_word_char(*word))
            str_add_char(out, ' ');
        str_add(out, word);
    }
}

unsigned interp_type_read(struct interp *ip, const struct toks *toks, unsigned i, unsigned to,
    const struct type **type, bool *is_ref)
{
    static const char *const parts[] = {
        "unsigned", "signed", "long", "short", "int", "char", "double", NULL};
    unsigned start = i, name;
    struct str text = {0};

    *is_ref = false;
    *type = NULL;
    while (i < to && interp_type_word(&toks->tok[i]))
        i++;
    name = i;
    while (i < to && toks->tok[i].kind == TOK_NAME && str_among(toks->tok[i].text, parts)) {
        i++;
        while (i < to && toks_is(toks, i, "const"))
            i++;
    }
    if (i == name) {
        if (i < to && toks_is(toks, i, "::"))
            i++;
        if (i >= to || toks->tok[i].kind != TOK_NAME)
            return start;
        for (i++; i < to; i++) {
            unsigned close = toks_is(toks, i, "<") ? toks_angle(toks, i, to) : 0;

            if (close)
                i = close;
            else if (toks_is(toks, i, "::") && i + 1 < to && toks->tok[i + 1].kind == TOK_NAME)
                i++;
            else
                break;
        }
    }
    add_words(ip, toks, name, i, &text);
    for (; i < to; i++) {
        const struct tok *t = &toks->tok[i];

        if (tok_is(t, "*"))
            str_add_char(&text, '*');
        else if (tok_is(t, "&") || tok_is(t, "&&"))
            *is_ref = true;
        else if (!interp_type_word(t))
            break;
    }
    *type = strcmp(str_text(&text), "auto") == 0 ? NULL : interp_type_named(ip, str_text(&text));
    str_finish(&text);
    return i;
}

const struct type *interp_type_in(struct interp *ip, struct tok_range range)
{
    const struct type *type;
    bool is_ref;

    return interp_type_read(ip, range.toks, range.from, range.to, &type, &is_ref) == range.to
               ? type
               : NULL;
}

const struct type *interp_type_of_next(
    const struct toks *toks, unsigned past, const struct type *type)
{
    for (; past > 0 && type &&
           (toks_is(toks, past - 1, "*") || interp_type_word(&toks->tok[past - 1]));
         past--)
        if (toks_is(toks, past - 1, "*") && type->kind == TYPE_POINTER)
            type = type->to;
    return type;
}

/* ---- what stands in a struct ---- */

/* What a template argument stands for: a type, or the text of a number. */
static const struct type *template_arg(struct interp *ip, struct tok_range arg)
{
    const struct interp_value v = interp_evaluate(ip, arg);
    const struct type *type = interp_type_in(ip, arg);

    if (v.kind == VALUE_INT)
        return interp_type_named(ip, arena_printf(ip->arena, "%lld", (long long)v.i));
    return type ? type : interp_type_named(ip, toks_text(arg.toks, ip->arena, arg.from, arg.to));
}

const struct bound *interp_bind_args(struct interp *ip, const struct decl *decl,
    const struct toks *toks, unsigned angle, const struct bound *list)
{
    const char *names[MAX_TEMPLATE_ARGS];
    struct tok_range given[MAX_TEMPLATE_ARGS];
    const unsigned nr = params_of_template(ip->resolver->toks, decl, names, MAX_TEMPLATE_ARGS);
    const unsigned nr_given =
        nr && toks_is(toks, angle, "<") ? toks_list(toks, angle, given, MAX_TEMPLATE_ARGS) : 0;

    for (unsigned i = 0; i < nr && i < nr_given; i++)
        list = interp_bind(ip, names[i], template_arg(ip, given[i]), list);
    return list;
}

const struct bound *interp_type_bound(struct interp *ip, const struct type *type)
{
    const struct bound *list = ip->frame ? ip->frame->bound : NULL;
    const char *args = strchr(type->text, '<');
    struct toks *toks = arena_alloc(ip->arena, sizeof(*toks));

    return args && toks_lex(toks, ip->arena, args, strlen(args))
               ? interp_bind_args(ip, type->decl, toks, 0, list)
               : list;
}

/* Adds the fields of one declaration, up to its `;`, at *last, and moves *last. False: it cannot be
 * read. */
static bool read_field(struct interp *ip, unsigned i, unsigned end, struct type_field ***last)
{
    const struct toks *toks = ip->resolver->toks;
    const struct type *type;
    bool is_ref;
    unsigned name = interp_type_read(ip, toks, i, end, &type, &is_ref);
    const struct type *one = type, *next = interp_type_of_next(toks, name, type);

    for (; name < end; one = next) {
        struct type_field *field = arena_alloc(ip->arena, sizeof(*field));
        unsigned past;

        *field = (struct type_field){.count = 1};
        for (; name < end && toks_is(toks, name, "*"); name++)
            one = interp_type_pointer(ip, one);
        if (name >= end || toks->tok[name].kind != TOK_NAME)
            return false;
        for (past = name + 1; past < end && toks_is(toks, past, "[");
             past = toks->tok[past].match + 1) {
            struct interp_value n =
                interp_evaluate(ip, (struct tok_range){toks, past + 1, toks->tok[past].match});

            if (n.kind != VALUE_INT || n.i < 0 || n.i > 1 << 24 || !toks->tok[past].match)
                return false;
            field->count *= (unsigned)n.i;
        }
        field->name = toks->tok[name].text;
        field->type = one;
        field->to = toks_find(toks, past, end, ",");
        field->from = past + (past < field->to && toks_is(toks, past, "="));
        name = field->to + 1;
        **last = field;
        *last = &field->next;
    }
    return true;
}

/* Reads what stands between the braces of a struct. */
static void read_fields(struct interp *ip, const struct decl *d, struct type_fields *fields)
{
    const struct toks *toks = ip->resolver->toks;
    const unsigned open = toks_find(toks, d->from, d->to, "{");
    struct type_field **last = &fields->first;
    struct decl m;

    for (unsigned i = open + 1; open < d->to && decls_member(toks, &i, toks->tok[open].match, &m);
         ip->steps += 4)
        if (m.kind == DECL_FUNCTION)
            fields->known = fields->known && !toks_is(toks, m.from, "virtual");
        else if (m.kind != DECL_USING && !toks_is(toks, m.from, "static") &&
                 !toks_is(toks, m.from, "friend"))
            fields->known = read_field(ip, m.from, m.to - 1, &last) && fields->known;
}

const struct type_fields *interp_type_fields(struct interp *ip, const struct type *type)
{
    static const struct type_fields none = {0};
    struct type *t = (struct type *)type; /* it may be another interpreter's */

    if (!type->decl)
        return &none;
    if (type->fields)
        return type->fields;
    struct interp_frame frame = {.up = ip->frame, .bound = interp_type_bound(ip, type)};
    struct type_fields *fields = arena_alloc(ip->arena, sizeof(*fields));

    fields->known = true;
    t->fields = fields; /* also while it is read: a struct has no field of its own type */
    ip->frame = &frame;
    read_fields(ip, type->decl, fields);
    ip->frame = frame.up;
    if (ip->stopped) /* in the middle of it */
        t->fields = NULL;
    return fields;
}

const struct decl *interp_type_method(
    struct interp *ip, const struct type *type, const char *name, unsigned nr_args)
{
    const struct decl *d = type ? type->decl : NULL;

    return d ? interp_function(ip, name, nr_args, d->from, d->to) : NULL;
}

unsigned interp_sizeof(struct interp *ip, const struct type *type)
{
    if (!type)
        return 0;
    return type->kind == TYPE_STRUCT && !type->bytes ? layout_bytes(ip, type) : type->bytes;
}

unsigned interp_type_bytes(struct interp *ip, const char *type)
{
    return ip ? interp_sizeof(ip, interp_type_named(ip, type)) : 0;
}
