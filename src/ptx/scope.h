/* Private to ptx: which name means what, in nested scopes. A name declared again in an inner scope
 * shadows the outer one until the scope closes. `.reg .b32 %r<9>` is one binding, the range. */
#ifndef KEET_PTX_SCOPE_H
#define KEET_PTX_SCOPE_H

#include "base/arena.h"
#include "ptx/ptx.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum bound {
    BOUND_REG,
    BOUND_RANGE,
    BOUND_VECTOR,
    BOUND_SYMBOL,
    BOUND_FUNC,
    BOUND_LABEL,
    BOUND_TARGETS,
    BOUND_PROTOTYPE
};

struct symbol_binding {
    enum bound kind;
    uint32_t depth;
    union {
        struct {
            uint32_t first, nr; /* REG, RANGE, VECTOR: indices of registers */
        };
        struct ptx_symbol *symbol;
        struct ptx_func *func;
        uint32_t target;               /* LABEL: index of an instruction */
        const struct targets *targets; /* TARGETS: inst.c's */
    };
    struct scope_name *name;
    struct symbol_binding *shadowed;      /* the same name, further out */
    struct symbol_binding *next_in_scope; /* declared before it in the same scope */
};

struct scope_name {
    const char *text;
    uint32_t len;
    bool is_range;
    uint32_t hash;
    struct symbol_binding *top; /* innermost, or NULL */
};

enum { MAX_DEPTH = 64 };

struct scopes {
    struct arena *arena; /* for names and bindings */
    struct scope_name **slots;
    uint32_t nr_slots, nr_names;
    uint32_t depth; /* 0: the module */
    struct symbol_binding *declared[MAX_DEPTH + 1];
};

void scopes_init(struct scopes *scopes, struct arena *arena);
void scopes_finish(struct scopes *scopes);
bool scopes_enter(struct scopes *scopes); /* false: nested too deep */
void scopes_leave(struct scopes *scopes);

/* NULL: declared in this scope already. The caller fills the union. */
struct symbol_binding *scopes_bind(
    struct scopes *scopes, enum bound kind, const char *text, uint32_t len);

/* The innermost binding of the name. For a member of a range, the range with *index set to the
 * register; for a register *index is set too. NULL: not declared. */
struct symbol_binding *scopes_find(
    struct scopes *scopes, const char *text, uint32_t len, uint32_t *index);

#endif
