/* Recognises products of matrices. */
#include "propose/rewrite/product.h"

#include "propose/rewrite/contraction_code.h"

#include <string.h>

struct node *product_load(struct node *n)
{
    for (;;) {
        bool converts = n->kind == NODE_CALL && n->nr_children == 1 &&
                        (!strcmp(n->name, "__half2float") || !strcmp(n->name, "__bfloat162float"));
        bool casts = n->kind == NODE_CAST && n->type.scalar == SCALAR_F32 && !n->type.is_pointer;
        if (n->kind == NODE_INDEX)
            return n;
        if ((n->kind != NODE_PAREN && !casts && !converts) || !n->child)
            return NULL;
        n = n->child;
    }
}

/* Whether the initialiser says zero. */
static bool is_zero(const struct contraction *c, const struct node *init)
{
    static const char *const zeros[] = {"0", "0.0f", "0.f", "0.0", "0.", NULL};
    return str_among(tree_text(c->in->tree, init), zeros);
}

/* The kind of an element of 8 bits; NULL: it is none. */
static const char *eight_bits(const struct node *load)
{
    const struct node *base = load ? node_base(load) : NULL;
    const char *type = base && base->type.base ? base->type.base : "";
    return !strcmp(type, "__nv_fp8_e4m3") ? "e4m3" : !strcmp(type, "__nv_fp8_e5m2") ? "e5m2" : NULL;
}

bool product_read(struct product *p, const struct contraction *c, const char **why)
{
    const struct node *s = c->body;
    *p = (struct product){.scalar = SCALAR_F32};
    if (s->kind == NODE_BLOCK) {
        unsigned nr = s->nr_children;
        for (s = s->child; nr > 1 && c->nr_outer && s->kind == NODE_DECLS; nr--)
            s = s->next;
        s = nr == 1 ? s : NULL;
    }
    if (!c->neutral || !s || s->kind != NODE_ASSIGN || c->nr_accs != 1 || c->nr_operands != 2)
        return *why = "the loop is not one sum of products of two operands", false;
    const struct node *factors = node_strip(s->child->next);
    if (factors->kind != NODE_BINARY || strcmp(factors->op, "*") != 0 ||
        !product_load(factors->child) || !product_load(factors->child->next))
        return *why = "the loop is not one sum of products of two operands", false;
    if (c->accs[0]->type.scalar != SCALAR_F32)
        return *why = "the sum is not in f32", false;
    for (unsigned i = 0; i < 2; i++)
        *(c->operands[i].axis == ALONG_Y ? &p->a : &p->b) = &c->operands[i];
    if (!p->a || !p->b)
        return *why = "no operand is shared between threads along both axes", false;
    const struct node *a = product_load(p->a->node), *b = product_load(p->b->node);
    p->scalar = a ? a->type.scalar : SCALAR_F32;
    p->eight = eight_bits(a);
    if (!b || b->type.scalar != p->scalar || p->eight != eight_bits(b) ||
        (p->scalar != SCALAR_F16 && p->scalar != SCALAR_BF16 && p->scalar != SCALAR_F32 &&
            !p->eight))
        return *why = "the operands are not both f16, both bf16 or both f32", false;
    if (strcmp(p->a->type, "float") != 0 || strcmp(p->b->type, "float") != 0)
        return *why = "the products are rounded to 16 bits", false;
    p->type = p->eight                  ? node_base(a)->type.base
              : p->scalar == SCALAR_F16 ? "half"
              : p->scalar == SCALAR_F32 ? "float"
                                        : "__nv_bfloat16";
    return true;
}

void product_rest(const struct contraction *c, struct str *out, const struct substs *s,
    const char *value, const char *indent)
{
    const struct node *acc = c->accs[0];
    str_addf(out, "%s%s %s = %s;\n", indent, acc->type.base, acc->name, value);
    if (!is_zero(c, acc->init)) {
        struct code_needs needs = {.roots = {acc->init}, .nr = 1};
        str_addf(out, "%s{\n", indent);
        code_decls(c, out, &needs, arena_printf(c->in->arena, "%s    ", indent));
        str_addf(out, "%s    %s += %s;\n%s}\n", indent, acc->name,
            tree_text(c->in->tree, acc->init), indent);
    }
    code_rest(c, out, s, indent);
}
