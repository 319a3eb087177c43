/* Private to intake/: what a file declares, and which of it the device needs. */
#ifndef KEET_INTAKE_SYNTAX_DECLS_H
#define KEET_INTAKE_SYNTAX_DECLS_H

#include "intake/syntax/tokens.h"

enum decl_kind { DECL_FUNCTION, DECL_VARIABLE, DECL_TYPE, DECL_USING, DECL_DIRECTIVE };

struct decl {
    enum decl_kind kind;
    unsigned from, to;   /* tokens [from, to) */
    unsigned container;  /* index of the namespace or extern "C" around it; 0: none */
    const char *name;    /* "" when it has none */
    unsigned open, body; /* of a function: the tokens `(` and `{`; body 0: none */
    bool is_kernel, is_device, is_host; /* as written */
    bool keep;
    const struct toks *toks; /* of a lambda that a macro makes; NULL: the file's */
    bool is_twin;            /* the text has the same declaration already: it is never kept */
};

struct container {
    unsigned from, open, close; /* tokens: the first, `{`, `}` */
    unsigned parent;
    bool keep;
};

struct decls {
    const struct toks *toks;
    struct decl *decl;
    unsigned nr, nr_own; /* decls_reach has looked at the first nr_own */
    struct decl *bodies; /* nr_bodies functions and methods that have one, in their order */
    unsigned nr_bodies;
    struct container *container; /* [0] is the file */
    unsigned nr_containers;
    bool *host; /* by token: it is in a member function that only the host can call */
};

void decls_read(struct decls *decls, struct arena *arena, const struct toks *toks);

/* Reads the member of a type at token *i, and moves *i behind it. False: there is none before
 * `close`. */
bool decls_member(const struct toks *toks, unsigned *i, unsigned close, struct decl *member);

/* Sets keep for kernels in the first own_bytes, for all that they and the text `also` reach by
 * name, and for directives other than headers of the host. Nothing from byte device_bytes on is
 * kept. A second call adds to what is kept. */
void decls_reach(struct decls *decls, struct arena *arena, size_t own_bytes, size_t device_bytes,
    const char *also);

/* The source with only the kept declarations; its line breaks stay. Headers that the device code
 * needs and a dropped header brought along are added: the first nr_in_place lines, which were
 * empty, name some of them. Where there was no room, nr_added further lines stand before line
 * added_at (from 0). */
struct device_text {
    char *text;
    unsigned nr_in_place, nr_added, added_at;
};
struct device_text decls_device_text(const struct decls *decls, struct arena *arena, size_t bytes);

/* The declaration that token `at` stands in; NULL: none. */
const struct decl *decls_at(const struct decls *decls, unsigned at);

/* The function of that name; one with a body comes first. NULL: none. */
const struct decl *decls_function(const struct decls *decls, const char *name);

/* What stands behind the word in a #define: the name, and what the name means; NULL: the directive
 * is another one. */
const char *decls_defined(const char *directive);

/* The name that a #define gives a meaning; NULL: the directive is another one. */
const char *decls_defined_name(struct arena *arena, const char *directive);

/* ---- headers.c: #include lines ---- */

/* The name in an #include line, *quoted where it stands in quotes; NULL: it is another directive.
 */
const char *headers_include_name(struct arena *arena, const char *directive, bool *quoted);

/* False for a header that only host code can want: the device code drops its #include line. */
bool headers_is_device(const char *name);

/* The #include lines, one a line, of headers that the kept code needs and that a dropped header
 * brought along. */
const char *headers_brought(const struct decls *decls, struct arena *arena);

#endif
