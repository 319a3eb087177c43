/* Owns the control-flow graph of a function and its post-dominators.
 *
 * Method: Cooper, Harvey, Kennedy, "A simple, fast dominance algorithm" (2001), on the reversed
 * graph. Edges by which lanes only leave the function are not in the graph: on the chip a lane that
 * exits drops out of every reconvergence it would have taken part in. */
#include "ptx/parse.h"

#include <string.h>

enum { NO_BLOCK = UINT32_MAX };

struct basic_block {
    uint32_t first, end; /* instructions */
    uint32_t *next;      /* successors in the graph */
    uint32_t nr_next;
    bool leaves;        /* the block is one ret, exit or trap and nothing else */
    bool returns;       /* the block ends in ret, which is the ordinary way out */
    bool lost;          /* the ordinary way out cannot be reached from here */
    uint32_t order;     /* in the post-order of the reversed graph, from 0; NO_BLOCK unreached */
    uint32_t dominator; /* index of block, nr: the exit; NO_BLOCK unknown */
    uint32_t first_pred, nr_preds;
};

struct flow_graph {
    const struct ptx_func *func;
    struct arena *scratch;
    struct basic_block *blocks; /* nr + 1: the last is the exit */
    uint32_t nr;
    uint32_t *block_of; /* instruction -> block */
    uint32_t *preds;
    uint32_t *by_order;
    uint32_t nr_ordered;
    uint32_t *stack, *stack_at;
};

static bool is_leave(enum ptx_op op)
{
    return op == PTX_OP_RET || op == PTX_OP_EXIT || op == PTX_OP_TRAP;
}

static bool is_jump(const struct ptx_inst *inst)
{
    return inst->op == PTX_OP_BRA || inst->op == PTX_OP_BRX;
}

static bool ends_block(const struct ptx_inst *inst)
{
    return is_jump(inst) || (is_leave(inst->op) && inst->guard < 0);
}

/* Where a jump may lead; *nr of them. */
static const struct ptx_operand *jump_targets(const struct ptx_inst *inst, uint32_t *nr)
{
    const struct ptx_operand *last = &inst->operand[inst->op == PTX_OP_BRX];

    *nr = inst->op == PTX_OP_BRX ? last->nr : 1;
    return inst->op == PTX_OP_BRX ? last->vec : last;
}

static void find_blocks(struct flow_graph *flow)
{
    const struct ptx_func *func = flow->func;
    uint8_t *starts = arena_alloc(flow->scratch, func->nr_insts + 1);
    uint32_t i, nr = 0;

    starts[0] = 1;
    for (i = 0; i < func->nr_insts; i++) {
        uint32_t nr_targets = 0;
        const struct ptx_operand *targets =
            is_jump(&func->insts[i]) ? jump_targets(&func->insts[i], &nr_targets) : NULL;
        for (uint32_t t = 0; t < nr_targets; t++)
            starts[targets[t].target] = 1;
        if (ends_block(&func->insts[i]))
            starts[i + 1] = 1;
    }
    for (i = 0; i < func->nr_insts; i++)
        nr += starts[i];
    flow->nr = nr;
    flow->blocks = arena_array(flow->scratch, nr + 1, sizeof(*flow->blocks));
    flow->block_of = arena_array(flow->scratch, func->nr_insts + 1, sizeof(*flow->block_of));
    nr = 0;
    for (i = 0; i < func->nr_insts; i++) {
        if (starts[i])
            flow->blocks[nr++].first = i;
        flow->block_of[i] = nr - 1;
        flow->blocks[nr - 1].end = i + 1;
    }
    flow->block_of[func->nr_insts] = nr; /* the exit */
}

/* A jump that all lanes take is an edge to its target. When only some lanes take a jump, and its
 * target is a lone ret, those lanes leave the function: such a jump is no edge. */
static void jump_edges(
    struct flow_graph *flow, struct basic_block *block, const struct ptx_inst *last)
{
    uint32_t nr;
    const struct ptx_operand *targets = jump_targets(last, &nr);
    const bool some = last->guard >= 0 || nr > 1;

    block->next = arena_array(flow->scratch, nr + 1, sizeof(*block->next));
    if (last->guard >= 0)
        block->next[block->nr_next++] = flow->block_of[block->end];
    for (uint32_t t = 0; t < nr; t++) {
        const uint32_t target = flow->block_of[targets[t].target];
        if (!some || (target < flow->nr && !flow->blocks[target].leaves))
            block->next[block->nr_next++] = target;
    }
}

static void one_edge(struct flow_graph *flow, struct basic_block *block, uint32_t next)
{
    block->next = arena_array(flow->scratch, 1, sizeof(*block->next));
    block->next[block->nr_next++] = next;
}

static void find_edges(struct flow_graph *flow)
{
    const struct ptx_func *func = flow->func;
    uint32_t b;

    for (b = 0; b < flow->nr; b++) {
        struct basic_block *block = &flow->blocks[b];
        const struct ptx_inst *last = &func->insts[block->end - 1];
        block->leaves = block->end - block->first == 1 && is_leave(last->op) && last->guard < 0;
        block->returns = last->op == PTX_OP_RET && last->guard < 0;
    }
    for (b = 0; b < flow->nr; b++) {
        struct basic_block *block = &flow->blocks[b];
        const struct ptx_inst *last = &func->insts[block->end - 1];
        if (is_jump(last))
            jump_edges(flow, block, last);
        else if (block->returns)
            one_edge(flow, block, flow->nr);
        else if (!ends_block(last))
            one_edge(flow, block, flow->block_of[block->end]);
    }
}

static void find_preds(struct flow_graph *flow)
{
    uint32_t b, at = 0, s;

    for (b = 0; b < flow->nr; b++) {
        for (s = 0; s < flow->blocks[b].nr_next; s++)
            flow->blocks[flow->blocks[b].next[s]].nr_preds++;
    }
    for (b = 0; b <= flow->nr; b++) {
        flow->blocks[b].first_pred = at;
        at += flow->blocks[b].nr_preds;
        flow->blocks[b].nr_preds = 0;
        flow->blocks[b].order = flow->blocks[b].dominator = NO_BLOCK;
    }
    flow->preds = arena_array(flow->scratch, at, sizeof(*flow->preds));
    for (b = 0; b < flow->nr; b++) {
        for (s = 0; s < flow->blocks[b].nr_next; s++) {
            struct basic_block *next = &flow->blocks[flow->blocks[b].next[s]];
            flow->preds[next->first_pred + next->nr_preds++] = b;
        }
    }
}

/* Depth first over predecessors; NO_BLOCK - 1 marks blocks on the way. */
static void walk(struct flow_graph *flow, uint32_t root)
{
    uint32_t top = 0;

    flow->stack[0] = root;
    flow->stack_at[0] = 0;
    flow->blocks[root].order = NO_BLOCK - 1;
    for (;;) {
        struct basic_block *block = &flow->blocks[flow->stack[top]];
        if (flow->stack_at[top] < block->nr_preds) {
            const uint32_t pred = flow->preds[block->first_pred + flow->stack_at[top]++];
            if (flow->blocks[pred].order == NO_BLOCK) {
                flow->blocks[pred].order = NO_BLOCK - 1;
                flow->stack[++top] = pred;
                flow->stack_at[top] = 0;
            }
            continue;
        }
        block->order = flow->nr_ordered;
        flow->by_order[flow->nr_ordered++] = flow->stack[top];
        if (!top--)
            return;
    }
}

static const uint32_t *neighbours(
    const struct flow_graph *flow, uint32_t b, bool forward, uint32_t *nr)
{
    const struct basic_block *block = &flow->blocks[b];
    *nr = forward ? block->nr_next : block->nr_preds;
    return forward ? block->next : flow->preds + block->first_pred;
}

/* Marks with `bit` the blocks to which ways lead from block b, or from which they lead there. */
static void mark_ways(
    struct flow_graph *flow, uint32_t b, bool forward, uint8_t bit, uint8_t *marks)
{
    uint32_t top = 0, nr;

    flow->stack[top++] = b;
    while (top) {
        const uint32_t *to = neighbours(flow, flow->stack[--top], forward, &nr);
        for (uint32_t i = 0; i < nr; i++) {
            if (marks[to[i]] & bit)
                continue;
            marks[to[i]] |= bit;
            flow->stack[top++] = to[i];
        }
    }
}

/* The one block of the loop around b that leads to the block by which the loop is entered; b itself
 * where there is no loop, or no such block. marks: scratch of a byte a block and the exit. */
static uint32_t latch_of(struct flow_graph *flow, uint32_t b, uint8_t *marks)
{
    enum { IN_LOOP = 3 };
    uint32_t entered = NO_BLOCK, latch = b, nr_latches = 0;

    memset(marks, 0, flow->nr + 1);
    mark_ways(flow, b, true, 1, marks);
    mark_ways(flow, b, false, 2, marks);
    for (uint32_t i = 0; i < flow->nr && marks[b] == IN_LOOP; i++) {
        const struct basic_block *block = &flow->blocks[i];
        bool outside = i == 0;
        for (uint32_t p = 0; p < block->nr_preds; p++)
            outside |= marks[flow->preds[block->first_pred + p]] != IN_LOOP;
        if (marks[i] != IN_LOOP || !outside)
            continue;
        if (entered != NO_BLOCK)
            return b;
        entered = i;
    }
    for (uint32_t p = 0; entered != NO_BLOCK && p < flow->blocks[entered].nr_preds; p++) {
        const uint32_t from = flow->preds[flow->blocks[entered].first_pred + p];
        if (marks[from] != IN_LOOP)
            continue;
        latch = from;
        nr_latches++;
    }
    return nr_latches == 1 ? latch : b;
}

/* Blocks from which the ordinary exit cannot be reached (endless loops, ways to a trap) get an edge
 * to the exit from the latch of their loop, else from their last block. The walk from the
 * exit itself must get the last numbers, so these roots go first. A latch is looked for among all
 * blocks, and so for the first endless loops only: a hostile function has one a block. */
static void order_blocks(struct flow_graph *flow)
{
    enum { MOST_LATCHES = 256 };
    uint8_t *reached = arena_alloc(flow->scratch, flow->nr + 1);
    uint8_t *marks = arena_alloc(flow->scratch, flow->nr + 1);
    uint32_t top, b;
    uint32_t *roots = arena_array(flow->scratch, flow->nr + 1, sizeof(*roots));
    uint32_t nr_roots = 0;
    bool mark_lost = false;

    roots[nr_roots++] = flow->nr;
    for (b = flow->nr;; b--) {
        if (!reached[b]) {
            const uint32_t root =
                b < flow->nr && nr_roots <= MOST_LATCHES ? latch_of(flow, b, marks) : b;
            if (b < flow->nr) {
                roots[nr_roots++] = root;
                mark_lost = true;
            }
            reached[root] = 1;
            flow->blocks[root].lost = mark_lost;
            flow->stack[0] = root;
            top = 1;
            while (top) {
                const struct basic_block *block = &flow->blocks[flow->stack[--top]];
                for (uint32_t i = 0; i < block->nr_preds; i++) {
                    const uint32_t pred = flow->preds[block->first_pred + i];
                    if (!reached[pred]) {
                        reached[pred] = 1;
                        flow->blocks[pred].lost = mark_lost;
                        flow->stack[top++] = pred;
                    }
                }
            }
        }
        if (!b)
            break;
    }
    for (uint32_t r = nr_roots; r > 0; r--) {
        walk(flow, roots[r - 1]);
        if (roots[r - 1] != flow->nr)
            flow->blocks[roots[r - 1]].dominator = flow->nr;
    }
}

static uint32_t meet(const struct flow_graph *flow, uint32_t a, uint32_t b)
{
    while (a != b) {
        while (flow->blocks[a].order < flow->blocks[b].order)
            a = flow->blocks[a].dominator;
        while (flow->blocks[b].order < flow->blocks[a].order)
            b = flow->blocks[b].dominator;
    }
    return a;
}

static void find_dominators(struct flow_graph *flow)
{
    struct basic_block *blocks = flow->blocks;
    bool changed = true;

    blocks[flow->nr].dominator = flow->nr;
    while (changed) {
        changed = false;
        for (uint32_t i = flow->nr_ordered; i > 0; i--) {
            const uint32_t b = flow->by_order[i - 1];
            uint32_t dominator = NO_BLOCK;
            if (b == flow->nr)
                continue;
            for (uint32_t s = 0; s < blocks[b].nr_next; s++) {
                const uint32_t next = blocks[b].next[s];
                if (blocks[next].dominator == NO_BLOCK)
                    continue;
                if (blocks[next].lost && !blocks[b].lost)
                    continue; /* lanes that go there do not come back */
                dominator = dominator == NO_BLOCK ? next : meet(flow, dominator, next);
            }
            if (blocks[b].dominator == flow->nr || dominator == NO_BLOCK)
                continue; /* as far out as can be */
            if (blocks[b].dominator != dominator) {
                blocks[b].dominator = dominator;
                changed = true;
            }
        }
    }
}

void flow_reconverge(struct ptx_func *func, struct ptx_inst *insts, struct arena *scratch)
{
    struct flow_graph flow = {.func = func, .scratch = scratch};

    if (!func->nr_insts)
        return;
    find_blocks(&flow);
    find_edges(&flow);
    find_preds(&flow);
    flow.by_order = arena_array(scratch, flow.nr + 1, sizeof(uint32_t));
    flow.stack = arena_array(scratch, flow.nr + 2, sizeof(uint32_t));
    flow.stack_at = arena_array(scratch, flow.nr + 2, sizeof(uint32_t));
    order_blocks(&flow);
    find_dominators(&flow);
    for (uint32_t b = 0; b < flow.nr; b++) {
        struct ptx_inst *last = &insts[flow.blocks[b].end - 1];
        const uint32_t dominator = flow.blocks[b].dominator;
        if (!is_jump(last))
            continue;
        last->reconverge = dominator < flow.nr ? flow.blocks[dominator].first : func->nr_insts;
    }
}
