/* Private to ptx: the state of one parse, shared by the files that each read a part of the text.
 * Functions return false once the problem is set; nothing is read after that. */
#ifndef KEET_PTX_PARSE_H
#define KEET_PTX_PARSE_H

#include "base/arena.h"
#include "ptx/lex.h"
#include "ptx/loc.h"
#include "ptx/ptx.h"
#include "ptx/scope.h"
#include "ptx/words.h"

/* Limits that no compiler's output comes near, so that hostile text cannot exhaust memory. */
enum {
    MAX_TEXT_BYTES = 64 << 20,
    MAX_INSTS = 1 << 20, /* in a module */
    MAX_REGS = 1 << 21,  /* in a module */
    MAX_INIT_BYTES = 256 << 20,
    MAX_TARGETS = 1 << 14 /* of one .branchtargets */
};

/* A label used before it was seen, or in a scope still open. */
struct pending {
    uint32_t inst;
    uint8_t operand;
    uint32_t element; /* of a vector of labels */
    uint32_t depth;
    const char *text;
    uint32_t len, line;
};

/* Scopes: 0 the module, 1 a function's parameters, 2 its body. */
enum { BODY_DEPTH = 2 };

/* The function being read. */
struct func_body {
    struct ptx_func *func;
    struct ptx_inst *insts;
    uint32_t *locs; /* of each instruction: index of its .loc, or NO_LOC */
    size_t nr_insts, cap_insts, cap_locs;
    struct ptx_reg *regs;
    size_t nr_regs, cap_regs;
    struct pending *pending;
    size_t nr_pending, cap_pending;
    struct ptx_symbol **shared; /* its own .shared variables, offsets from 0 until laid out */
    size_t nr_shared, cap_shared;
    uint64_t shared_bytes, local_bytes, call_bytes;
    bool label_at_end;
    bool rolled; /* .pragma "nounroll" stood before the next instruction */
};

/* What finalize.c must know of each function to lay out shared memory. */
struct func_facts {
    struct ptx_func *func;
    struct ptx_symbol **shared;
    size_t nr_shared;
    uint64_t shared_bytes;
    uint32_t *locs;
    bool uses_module_shared;
};

struct ptx_parser {
    struct ptx_module *module;
    struct arena *arena;   /* the module's */
    struct arena *scratch; /* gone after the parse */
    struct ptx_problem *problem;
    struct ptx_lexer lexer;
    struct token token, ahead; /* the current one and the one after it */
    struct scopes scopes;
    struct ptx_words words;
    struct locs locs;
    struct func_body body;
    struct ptx_symbol **globals;
    size_t nr_globals, cap_globals;
    struct func_facts *funcs;
    size_t nr_funcs, cap_funcs;
    struct ptx_symbol **shared; /* of the module, not external */
    size_t nr_shared, cap_shared;
    uint64_t init_bytes;
    uint64_t nr_insts, nr_regs; /* in the module so far */
};

/* parse.c: tokens and problems */
void parser_advance(struct ptx_parser *p);
bool parser_fail(struct ptx_parser *p, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
bool parser_unsupported(struct ptx_parser *p, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
bool parser_is(const struct ptx_parser *p, char punct);
bool parser_is_word(const struct ptx_parser *p, const char *word); /* the current .word */
bool parser_accept(struct ptx_parser *p, char punct);
bool parser_expect(struct ptx_parser *p, char punct);
bool parser_expect_name(struct ptx_parser *p, struct token *name);
char *parser_copy(struct ptx_parser *p, const struct token *token);
/* How a token is named in a message: at most 60 characters of it. */
#define TOKEN_ARG(t) (int)((t)->len > 60 ? 60 : (t)->len), (t)->text

/* imm.c: constants */
enum literal { LITERAL_INT = 1, LITERAL_F32, LITERAL_F64 };
bool parse_constant(struct ptx_parser *p, uint64_t *value, enum literal *literal);
bool parse_u64(struct ptx_parser *p, uint64_t max, uint64_t *value);
/* The bits of a literal at a type; false: the literal cannot stand for that type. */
bool literal_at_type(uint64_t value, enum literal literal, enum ptx_type type, uint64_t *bits);

/* decl.c: variables */
bool parse_variable(struct ptx_parser *p, enum ptx_space space, bool external, bool in_body);
bool parse_params(struct ptx_parser *p, enum ptx_role role, struct ptx_symbol **params,
    uint32_t *nr, uint32_t *bytes);
bool parse_reg(struct ptx_parser *p);

/* inst.c: instructions */
bool parse_inst(struct ptx_parser *p);
const struct targets *parse_targets(
    struct ptx_parser *p);                 /* after .branchtargets; NULL: the problem is set */
bool resolve_labels(struct ptx_parser *p); /* those of the scope about to close */

/* verify.c: operands against the opcode's form */
/* second_dest: it was written d|p */
bool verify_inst(struct ptx_parser *p, struct ptx_inst *inst, bool second_dest);

/* video.c: video instructions, beyond their forms */
bool verify_video(struct ptx_parser *p, const struct ptx_inst *inst);

/* finalize.c: after the last directive */
bool finalize_module(struct ptx_parser *p);

/* flow.c: reconvergence points of a finished function; scratch memory is the arena's */
void flow_reconverge(struct ptx_func *func, struct ptx_inst *insts, struct arena *scratch);

#endif
