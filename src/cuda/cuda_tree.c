/* libclang's cursors copied into plain nodes. Only this file and libclang.c know libclang. */
#include "cuda/cuda_tree.h"

#include "base/mem.h"
#include "base/str.h"
#include "cuda/cuda_prelude.h"
#include "cuda/libclang.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static const char prelude_path[] = "/keet_prelude.cuh";
static const char source_path[] = "/keet_source.cu";

struct tree_builder {
    struct cuda_tree *tree;
    struct arena *arena;
    CXTranslationUnit unit;
    CXFile file;
    struct decl_entry {
        CXCursor cursor;
        struct node *node;
    } * decls;
    size_t nr_decls, cap_decls;
    struct macro_use {
        unsigned start, end;
        bool function_like;
    } * macros;
    size_t nr_macros, cap_macros;
};

static const char *take_string(struct arena *arena, CXString s)
{
    const char *text = clang.getCString(s);
    char *copy = arena_strdup(arena, text ? text : "");
    clang.disposeString(s);
    return copy;
}

/* --- the text that clang sees --- */

/* A copy in which `#pragma keet` lines and `#include` lines are blanks: every offset stays. */
static char *blanked(const char *source, size_t bytes)
{
    char *text = xmalloc(bytes + 1);
    memcpy(text, source, bytes);
    text[bytes] = '\0';
    for (size_t at = 0; at < bytes;) {
        size_t end = at, p = at;
        while (end < bytes && text[end] != '\n')
            end++;
        while (p < end && (text[p] == ' ' || text[p] == '\t'))
            p++;
        bool blank = false;
        if (p < end && text[p] == '#') {
            p++;
            while (p < end && (text[p] == ' ' || text[p] == '\t'))
                p++;
            if (end - p > 7 && !strncmp(text + p, "include", 7))
                blank = true;
            if (end - p > 6 && !strncmp(text + p, "pragma", 6)) {
                p += 6;
                while (p < end && (text[p] == ' ' || text[p] == '\t'))
                    p++;
                blank = end - p >= 4 && !strncmp(text + p, "keet", 4);
            }
        }
        while (blank) {
            const bool more = end > at && text[end - 1] == '\\' && end < bytes;
            memset(text + at, ' ', end - at);
            if (!more)
                break;
            at = ++end;
            while (end < bytes && text[end] != '\n')
                end++;
        }
        at = end + 1;
    }
    return text;
}

static bool has_conditionals(const char *text)
{
    for (const char *p = strchr(text, '#'); p; p = strchr(p + 1, '#')) {
        const char *q = p + 1;
        while (*q == ' ' || *q == '\t')
            q++;
        if (str_starts(q, "if") || str_starts(q, "elif"))
            return true;
    }
    return false;
}

/* --- types --- */

static enum scalar scalar_of(CXType type, const char *spelling)
{
    switch (type.kind) {
    case CXType_Void:
        return SCALAR_VOID;
    case CXType_Bool:
        return SCALAR_BOOL;
    case CXType_Char_S:
    case CXType_SChar:
        return SCALAR_I8;
    case CXType_Char_U:
    case CXType_UChar:
        return SCALAR_U8;
    case CXType_Short:
        return SCALAR_I16;
    case CXType_UShort:
        return SCALAR_U16;
    case CXType_Int:
    case CXType_Enum:
        return SCALAR_I32;
    case CXType_UInt:
        return SCALAR_U32;
    case CXType_Long:
    case CXType_LongLong:
        return SCALAR_I64;
    case CXType_ULong:
    case CXType_ULongLong:
        return SCALAR_U64;
    case CXType_Float:
        return SCALAR_F32;
    case CXType_Double:
        return SCALAR_F64;
    case CXType_Record:
        if (strstr(spelling, "bfloat16") && !strstr(spelling, "bfloat162"))
            return SCALAR_BF16;
        if (strstr(spelling, "half") && !strstr(spelling, "half2"))
            return SCALAR_F16;
        return SCALAR_OTHER;
    default:
        return SCALAR_OTHER;
    }
}

static struct ctype ctype_of(struct tree_builder *b, CXType type, bool want_base)
{
    struct ctype out = {0};
    CXType t = clang.getCanonicalType(type);
    if (t.kind == CXType_LValueReference || t.kind == CXType_RValueReference) {
        out.is_reference = true;
        t = clang.getPointeeType(t);
        type = clang.getPointeeType(type);
    }
    while (t.kind == CXType_ConstantArray || t.kind == CXType_IncompleteArray ||
           t.kind == CXType_VariableArray || t.kind == CXType_DependentSizedArray) {
        if (out.nr_dims < CTYPE_MAX_DIMS) {
            const long long size = clang.getArraySize(t);
            out.dims[out.nr_dims++] = t.kind == CXType_ConstantArray ? size : -1;
        }
        t = clang.getCanonicalType(clang.getArrayElementType(t));
        type = clang.getArrayElementType(type);
    }
    while (t.kind == CXType_Pointer) {
        out.is_pointer = true;
        out.is_restrict |= clang.isRestrictQualifiedType(t);
        t = clang.getPointeeType(t);
        type = clang.getPointeeType(type);
    }
    out.is_const = clang.isConstQualifiedType(t);
    if (want_base || t.kind == CXType_Record) {
        const char *spelling = take_string(b->arena, clang.getTypeSpelling(t));
        const char *written = take_string(b->arena, clang.getTypeSpelling(type));
        if (str_starts(spelling, "const "))
            spelling += 6;
        if (str_starts(written, "const "))
            written += 6;
        out.scalar = scalar_of(t, spelling);
        if (want_base)
            out.base = *written ? written : spelling;
    } else {
        out.scalar = scalar_of(t, "");
    }
    return out;
}

/* --- nodes --- */

static void range_of(struct tree_builder *b, CXCursor cursor, unsigned *start, unsigned *end)
{
    const CXSourceRange range = clang.getCursorExtent(cursor);
    CXFile file;
    unsigned line, column;
    clang.getExpansionLocation(clang.getRangeStart(range), &file, &line, &column, start);
    clang.getExpansionLocation(clang.getRangeEnd(range), &file, &line, &column, end);
    if (*end > b->tree->bytes)
        *end = (unsigned)b->tree->bytes;
    if (*start > *end)
        *start = *end;
}

static const struct macro_use *macro_at(const struct tree_builder *b, unsigned start, unsigned end)
{
    for (size_t i = 0; i < b->nr_macros; i++)
        if (start >= b->macros[i].start && end <= b->macros[i].end)
            return &b->macros[i];
    return NULL;
}

static struct node *new_node(
    struct tree_builder *b, enum node_kind kind, unsigned start, unsigned end)
{
    struct node *n = arena_alloc(b->arena, sizeof(*n));
    n->kind = kind;
    n->start = start;
    n->end = end;
    return n;
}

static void append(struct node *parent, struct node *child)
{
    struct node **at = &parent->child;
    while (*at)
        at = &(*at)->next;
    *at = child;
    child->parent = parent;
    parent->nr_children++;
}

struct child_list {
    CXCursor *items;
    size_t nr, cap;
};

static enum CXChildVisitResult collect(CXCursor cursor, CXCursor parent, CXClientData data)
{
    struct child_list *list = data;
    list->items = grow(list->items, &list->cap, list->nr + 1, sizeof(*list->items));
    list->items[list->nr++] = cursor;
    return CXChildVisit_Continue;
}

static struct child_list children_of(CXCursor cursor)
{
    struct child_list list = {0};
    clang.visitChildren(cursor, collect, &list);
    return list;
}

static bool is_tree_part(enum CXCursorKind kind)
{
    return clang.isExpression(kind) || clang.isStatement(kind) || kind == CXCursor_VarDecl;
}

static struct node *build(struct tree_builder *b, CXCursor cursor);

static void build_children(struct tree_builder *b, struct node *n, CXCursor cursor)
{
    struct child_list list = children_of(cursor);
    for (size_t i = 0; i < list.nr; i++) {
        if (!is_tree_part(clang.getCursorKind(list.items[i])))
            continue;
        struct node *child = build(b, list.items[i]);
        if (child)
            append(n, child);
    }
    free(list.items);
}

static const char *slice(struct tree_builder *b, unsigned start, unsigned end)
{
    const char *s = b->tree->source;
    while (start < end && isspace((unsigned char)s[start]))
        start++;
    while (end > start && isspace((unsigned char)s[end - 1]))
        end--;
    return arena_strndup(b->arena, s + start, end - start);
}

/* The operator that stands between two offsets, comments left out. */
static const char *operator_between(struct tree_builder *b, unsigned start, unsigned end)
{
    static const char *const known[] = {"<<=", ">>=", "<=>",
        "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<", ">>", "<=", ">=", "==", "!=", "&&",
        "||", "++", "--", "+", "-", "*", "/", "%", "&", "|", "^", "<", ">", "=", ",", "!", "~"};
    const char *s = b->tree->source;
    while (start < end) {
        if (isspace((unsigned char)s[start])) {
            start++;
        } else if (start + 1 < end && s[start] == '/' && s[start + 1] == '/') {
            while (start < end && s[start] != '\n')
                start++;
        } else if (start + 1 < end && s[start] == '/' && s[start + 1] == '*') {
            start += 2;
            while (start + 1 < end && !(s[start] == '*' && s[start + 1] == '/'))
                start++;
            start += 2;
        } else {
            break;
        }
    }
    for (size_t i = 0; i < ARRAY_SIZE(known); i++)
        if (start < end && !strncmp(s + start, known[i], strlen(known[i])))
            return known[i];
    return "?";
}

static struct node *find_decl(struct tree_builder *b, CXCursor cursor)
{
    for (size_t i = b->nr_decls; i-- > 0;)
        if (clang.equalCursors(b->decls[i].cursor, cursor))
            return b->decls[i].node;
    return NULL;
}

static void remember_decl(struct tree_builder *b, CXCursor cursor, struct node *node)
{
    b->decls = grow(b->decls, &b->cap_decls, b->nr_decls + 1, sizeof(*b->decls));
    b->decls[b->nr_decls++] = (struct decl_entry){cursor, node};
}

static unsigned name_offset(CXCursor cursor)
{
    CXFile file;
    unsigned line, column, offset;
    clang.getExpansionLocation(clang.getCursorLocation(cursor), &file, &line, &column, &offset);
    return offset;
}

static void build_declaration(struct tree_builder *b, struct node *n, CXCursor cursor)
{
    n->name = take_string(b->arena, clang.getCursorSpelling(cursor));
    n->name_at = name_offset(cursor);
    n->type = ctype_of(b, clang.getCursorType(cursor), true);
    n->is_extern = clang.Cursor_getStorageClass(cursor) == CX_SC_Extern;
    remember_decl(b, cursor, n);
    struct child_list list = children_of(cursor);
    for (size_t i = 0; i < list.nr; i++) {
        const enum CXCursorKind kind = clang.getCursorKind(list.items[i]);
        if (kind == CXCursor_CUDASharedAttr)
            n->is_shared = true;
        if (!is_tree_part(kind))
            continue;
        /* The extents of an array are children too. An initialiser comes after the '=', '(' or '{'
         * that follows the name. */
        unsigned start, end;
        range_of(b, list.items[i], &start, &end);
        bool extent = start < n->name_at;
        for (unsigned at = n->name_at; at < start && !extent; at++)
            extent = b->tree->source[at] == '[';
        for (unsigned at = n->name_at; at < start && extent; at++)
            extent = b->tree->source[at] != '=';
        if (extent || start == n->name_at)
            continue;
        struct node *child = build(b, list.items[i]);
        if (child) {
            n->init = child;
            append(n, child);
        }
    }
    free(list.items);
}

/* The places of the two semicolons in `for (...; ...; ...)`. */
static void for_semicolons(const char *s, unsigned start, unsigned end, unsigned semi[2])
{
    unsigned found = 0, depth = 0;
    semi[0] = semi[1] = end;
    for (unsigned at = start; at < end && found < 2; at++) {
        if (s[at] == '(' || s[at] == '{')
            depth++;
        else if (s[at] == ')' || s[at] == '}')
            depth--;
        else if (s[at] == ';' && depth == 1)
            semi[found++] = at;
    }
}

static void name_parts(struct tree_builder *b, struct node *n)
{
    struct node *first = n->child;
    if (n->kind == NODE_FOR) {
        unsigned semi[2];
        for_semicolons(b->tree->source, n->start, n->end, semi);
        for (struct node *c = first; c; c = c->next) {
            if (!c->next)
                n->body = c;
            else if (c->start < semi[0])
                n->init = c;
            else if (c->start < semi[1])
                n->cond = c;
            else
                n->step = c;
        }
    } else if (n->kind == NODE_IF && first) {
        n->cond = first;
        n->body = first->next;
        n->other = n->body ? n->body->next : NULL;
    } else if (n->kind == NODE_WHILE && first) {
        n->cond = first;
        n->body = first->next;
    } else if (n->kind == NODE_DO && first) {
        n->body = first;
        n->cond = first->next;
    } else if ((n->kind == NODE_BINARY || n->kind == NODE_ASSIGN) && first && first->next) {
        n->op = operator_between(b, first->end, first->next->start);
        if (n->kind == NODE_BINARY && !strcmp(n->op, "="))
            n->kind = NODE_ASSIGN;
    } else if (n->kind == NODE_UNARY && first) {
        n->postfix = first->start == n->start;
        n->op = n->postfix ? operator_between(b, first->end, n->end)
                           : operator_between(b, n->start, first->start);
    }
}

static enum node_kind kind_of(enum CXCursorKind kind)
{
    switch (kind) {
    case CXCursor_CompoundStmt:
        return NODE_BLOCK;
    case CXCursor_DeclStmt:
        return NODE_DECLS;
    case CXCursor_ForStmt:
        return NODE_FOR;
    case CXCursor_WhileStmt:
        return NODE_WHILE;
    case CXCursor_DoStmt:
        return NODE_DO;
    case CXCursor_IfStmt:
        return NODE_IF;
    case CXCursor_SwitchStmt:
        return NODE_SWITCH;
    case CXCursor_CaseStmt:
    case CXCursor_DefaultStmt:
        return NODE_CASE;
    case CXCursor_ReturnStmt:
        return NODE_RETURN;
    case CXCursor_BreakStmt:
        return NODE_BREAK;
    case CXCursor_ContinueStmt:
        return NODE_CONTINUE;
    case CXCursor_DeclRefExpr:
        return NODE_NAME;
    case CXCursor_IntegerLiteral:
    case CXCursor_FloatingLiteral:
    case CXCursor_CharacterLiteral:
    case CXCursor_CXXBoolLiteralExpr:
        return NODE_NUMBER;
    case CXCursor_BinaryOperator:
        return NODE_BINARY;
    case CXCursor_CompoundAssignOperator:
        return NODE_ASSIGN;
    case CXCursor_UnaryOperator:
        return NODE_UNARY;
    case CXCursor_ArraySubscriptExpr:
        return NODE_INDEX;
    case CXCursor_CallExpr:
        return NODE_CALL;
    case CXCursor_MemberRefExpr:
        return NODE_MEMBER;
    case CXCursor_ConditionalOperator:
        return NODE_COND;
    case CXCursor_ParenExpr:
        return NODE_PAREN;
    case CXCursor_CStyleCastExpr:
    case CXCursor_CXXStaticCastExpr:
    case CXCursor_CXXReinterpretCastExpr:
    case CXCursor_CXXConstCastExpr:
    case CXCursor_CXXFunctionalCastExpr:
        return NODE_CAST;
    case CXCursor_InitListExpr:
        return NODE_LIST;
    default:
        return NODE_OTHER;
    }
}

static void build_call(struct tree_builder *b, struct node *n, CXCursor cursor)
{
    n->name = take_string(b->arena, clang.getCursorSpelling(cursor));
    const int nr = clang.Cursor_getNumArguments(cursor);
    for (int i = 0; i < nr; i++) {
        const CXCursor arg = clang.Cursor_getArgument(cursor, (unsigned)i);
        if (clang.Cursor_isNull(arg))
            continue;
        struct node *child = build(b, arg);
        if (child && child->end > child->start) /* a default argument has no place */
            append(n, child);
    }
    /* An overloaded operator looks like the operator that it is. */
    if (n->nr_children == 2 && n->child->start == n->start) {
        n->op = operator_between(b, n->child->end, n->child->next->start);
        if (strcmp(n->op, "?")) {
            const bool compare = strchr("=!<>", n->op[0]) && n->op[1] == '=' && !n->op[2];
            const bool assigns = n->op[strlen(n->op) - 1] == '=' && !compare;
            n->kind = assigns ? NODE_ASSIGN : NODE_BINARY;
            return;
        }
    }
    /* A call in a template whose callee is not resolved has no name yet. */
    if (!*n->name) {
        unsigned end = n->start;
        const char *s = b->tree->source;
        while (end < n->end && (isalnum((unsigned char)s[end]) || s[end] == '_' || s[end] == ':'))
            end++;
        n->name = slice(b, n->start, end);
    }
}

/* A conversion that nobody wrote: it has one child, in exactly the same place. */
static bool is_implicit(const struct node *n)
{
    return n->nr_children == 1 && n->child->start == n->start && n->child->end == n->end;
}

static struct node *unwrap(struct node *n)
{
    struct node *child = n->child;
    child->parent = NULL;
    child->next = NULL;
    return child;
}

/* In a template a call of an overloaded function is not resolved: callee first, then arguments. */
static void name_unresolved_call(struct tree_builder *b, struct node *n)
{
    struct node *callee = n->child;
    if (!callee || callee->start != n->start || callee->end >= n->end ||
        b->tree->source[n->end - 1] != ')')
        return;
    unsigned at = callee->end;
    while (at < n->end && isspace((unsigned char)b->tree->source[at]))
        at++;
    if (b->tree->source[at] != '(')
        return;
    n->kind = NODE_CALL;
    n->name = slice(b, callee->start, callee->end);
    n->child = callee->next;
    n->nr_children--;
}

static struct node *build(struct tree_builder *b, CXCursor cursor)
{
    const enum CXCursorKind ckind = clang.getCursorKind(cursor);
    unsigned start, end;
    range_of(b, cursor, &start, &end);
    const struct macro_use *macro = macro_at(b, start, end);

    if (macro && !macro->function_like && clang.isExpression(ckind)) {
        struct node *name = new_node(b, NODE_NAME, start, end);
        name->name = slice(b, start, end);
        name->type = ctype_of(b, clang.getCursorType(cursor), false);
        return name;
    }
    if (ckind == CXCursor_VarDecl) {
        struct node *var = new_node(b, NODE_VAR, start, end);
        build_declaration(b, var, cursor);
        return var;
    }
    struct node *n = new_node(b, kind_of(ckind), start, end);
    n->in_macro = macro != NULL;
    if (clang.isExpression(ckind))
        n->type = ctype_of(b, clang.getCursorType(cursor), false);
    if (n->kind == NODE_CALL) {
        build_call(b, n, cursor);
        if (str_starts(n->name, "operator ") && !n->nr_children)
            build_children(b, n, cursor); /* a conversion: the object is below a member */
        return is_implicit(n) ? unwrap(n) : n;
    }
    build_children(b, n, cursor);
    if (n->kind == NODE_NAME) {
        n->name = take_string(b->arena, clang.getCursorSpelling(cursor));
        n->decl = find_decl(b, clang.getCursorReferenced(cursor));
    } else if (n->kind == NODE_MEMBER) {
        n->name = take_string(b->arena, clang.getCursorSpelling(cursor));
        if (n->child && n->child->end == n->end)
            return unwrap(n); /* a conversion operator that nobody wrote */
    } else if (n->kind == NODE_OTHER && n->nr_children == 1 &&
               (is_implicit(n) || clang.isStatement(ckind))) {
        return unwrap(n); /* implicit casts; statements with attributes such as #pragma unroll */
    } else if (n->kind == NODE_CAST && n->nr_children > 1) {
        struct node *last = n->child; /* a type's template arguments come first */
        while (last->next)
            last = last->next;
        n->child = last;
        n->nr_children = 1;
    }
    name_parts(b, n);
    if (n->kind == NODE_OTHER && clang.isExpression(ckind))
        name_unresolved_call(b, n);
    return n;
}

static void build_function(struct tree_builder *b, CXCursor cursor)
{
    unsigned start, end;
    range_of(b, cursor, &start, &end);
    struct node *f = new_node(b, NODE_FUNCTION, start, end);
    f->name = take_string(b->arena, clang.getCursorSpelling(cursor));
    f->name_at = name_offset(cursor);
    f->type = ctype_of(b, clang.getResultType(clang.getCursorType(cursor)), true);
    struct child_list list = children_of(cursor);
    for (size_t i = 0; i < list.nr; i++) {
        const enum CXCursorKind kind = clang.getCursorKind(list.items[i]);
        if (kind == CXCursor_CUDAGlobalAttr)
            f->is_kernel = true;
        if (kind == CXCursor_ParmDecl) {
            range_of(b, list.items[i], &start, &end);
            struct node *p = new_node(b, NODE_PARAM, start, end);
            p->name = take_string(b->arena, clang.getCursorSpelling(list.items[i]));
            p->name_at = name_offset(list.items[i]);
            p->type = ctype_of(b, clang.getCursorType(list.items[i]), true);
            remember_decl(b, list.items[i], p);
            append(f, p);
        } else if (kind == CXCursor_CompoundStmt) {
            f->body = build(b, list.items[i]);
            append(f, f->body);
        }
    }
    free(list.items);
    append(b->tree->root, f);
}

/* The first pass: libclang lists uses of macros after the declarations that need them. */
static enum CXChildVisitResult visit_macros(CXCursor cursor, CXCursor parent, CXClientData data)
{
    struct tree_builder *b = data;
    if (clang.getCursorKind(cursor) == CXCursor_MacroExpansion &&
        clang.Location_isFromMainFile(clang.getCursorLocation(cursor))) {
        struct macro_use use = {0};
        range_of(b, cursor, &use.start, &use.end);
        use.function_like = b->tree->source[use.end - (use.end > use.start)] == ')';
        b->macros = grow(b->macros, &b->cap_macros, b->nr_macros + 1, sizeof(*b->macros));
        b->macros[b->nr_macros++] = use;
    }
    return CXChildVisit_Continue;
}

static enum CXChildVisitResult visit_top(CXCursor cursor, CXCursor parent, CXClientData data)
{
    struct tree_builder *b = data;
    const enum CXCursorKind kind = clang.getCursorKind(cursor);
    if (!clang.Location_isFromMainFile(clang.getCursorLocation(cursor)))
        return CXChildVisit_Continue;
    if (kind == CXCursor_FunctionDecl || kind == CXCursor_FunctionTemplate) {
        build_function(b, cursor);
    } else if (kind == CXCursor_VarDecl) {
        struct node *var = build(b, cursor);
        append(b->tree->root, var);
    } else if (kind == CXCursor_Namespace || kind == CXCursor_LinkageSpec) {
        return CXChildVisit_Recurse;
    }
    return CXChildVisit_Continue;
}

static void set_lines(struct cuda_tree *tree)
{
    /* In pre-order the starts hardly ever decrease: one running position is enough. */
    unsigned at = 0, line = 1;
    for (struct node *n = tree->root; n; n = node_next(tree->root, n)) {
        if (n->start < at) {
            at = 0;
            line = 1;
        }
        for (; at < n->start; at++)
            line += tree->source[at] == '\n';
        n->line = line;
    }
}

static void find_trouble(struct tree_builder *b)
{
    const unsigned nr = clang.getNumDiagnostics(b->unit);
    for (unsigned i = 0; i < nr && !b->tree->trouble; i++) {
        CXDiagnostic diag = clang.getDiagnostic(b->unit, i);
        if (clang.getDiagnosticSeverity(diag) >= CXDiagnostic_Error) {
            CXFile file;
            unsigned line, column, offset;
            clang.getExpansionLocation(
                clang.getDiagnosticLocation(diag), &file, &line, &column, &offset);
            const char *text = take_string(b->arena, clang.getDiagnosticSpelling(diag));
            b->tree->trouble = arena_printf(b->arena, "line %u: %s", line, text);
        }
        clang.disposeDiagnostic(diag);
    }
}

const char *cuda_tree_library(struct err *err)
{
    return libclang_load(err) ? libclang_path() : NULL;
}

struct cuda_tree *cuda_tree_parse(struct arena *arena, const char *source, size_t bytes,
    const struct tune *tunes, unsigned nr_tunes, struct err *err)
{
    if (!libclang_load(err))
        return NULL;
    char *text = blanked(source, bytes);
    const bool conditionals = has_conditionals(text);
    struct str prelude = {0};
    str_add(&prelude, cuda_prelude);
    /* Tuning parameters are constants, so that the tree keeps their names; #if sees macros only. */
    for (unsigned i = 0; i < nr_tunes; i++)
        if (conditionals)
            str_addf(&prelude, "#define %s %lld\n", tunes[i].name, (long long)tunes[i].value);
        else
            str_addf(&prelude, "static constexpr int %s = %lld;\n", tunes[i].name,
                (long long)tunes[i].value);

    struct CXUnsavedFile files[] = {
        {source_path, text, bytes}, {prelude_path, str_text(&prelude), prelude.len}};
    const char *const args[] = {"-x", "cuda", "--cuda-device-only", "-nocudainc", "-nocudalib",
        "--cuda-gpu-arch=sm_70", "-std=c++17", "-w", "-nostdinc", "-ferror-limit=4", "-include",
        prelude_path};
    clang.toggleCrashRecovery(0); /* it leaves a process behind that may crash later */
    CXIndex index = clang.createIndex(0, 0);
    CXTranslationUnit unit = NULL;
    const enum CXErrorCode rc = clang.parseTranslationUnit2(index, source_path, args,
        (int)ARRAY_SIZE(args), files, ARRAY_SIZE(files),
        CXTranslationUnit_DetailedPreprocessingRecord | CXTranslationUnit_VisitImplicitAttributes,
        &unit);
    struct cuda_tree *tree = NULL;
    if (rc != CXError_Success || !unit) {
        err_set(err, "libclang could not parse the source (error %d)", (int)rc);
    } else {
        tree = arena_alloc(arena, sizeof(*tree));
        *tree = (struct cuda_tree){.arena = arena, .source = source, .bytes = bytes};
        struct tree_builder b = {.tree = tree, .arena = arena, .unit = unit};
        tree->root = new_node(&b, NODE_OTHER, 0, (unsigned)bytes);
        const CXCursor top = clang.getTranslationUnitCursor(unit);
        clang.visitChildren(top, visit_macros, &b);
        clang.visitChildren(top, visit_top, &b);
        find_trouble(&b);
        set_lines(tree);
        free(b.decls);
        free(b.macros);
        clang.disposeTranslationUnit(unit);
    }
    clang.disposeIndex(index);
    str_finish(&prelude);
    free(text);
    return tree;
}
