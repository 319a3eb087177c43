/* Owns what a PTX instruction costs on the chip, and the order in which an optimising assembler
 * would list the instructions of a basic block.
 *
 * Widths and latencies come from struct chip. PTX is not SASS: some operations become a sequence of
 * instructions (division, square root), others none (moves). The lengths of those sequences are
 * counted in the disassembly of one-line kernels that ptxas 13.0 made for sm_90a, fast path only,
 * less what the same kernel needs without the operation: f32 div 10-14, sqrt and rcp 9-13; f64 div
 * and sqrt 16-20 of which 8 on the FP64 pipe; 32-bit integer div and rem 19-24; 64-bit about 60
 * where the operands need all bits; 64-bit mul 5. Their latencies are estimates. */
#include "emu/timing/time.h"

#include "base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static uint16_t pipe_cycles(const struct chip *chip, double per_clk)
{
    double cycles = WARP_LANES * chip->schedulers_per_sm / per_clk;

    return cycles < 1 ? 1 : (uint16_t)(cycles + 0.5);
}

void time_set_cost(struct pc_cost *cost, enum time_pipe pipe, double cycles, double latency)
{
    cost->pipe = (uint8_t)pipe;
    cost->pipe_cycles = (uint16_t)cycles;
    cost->latency = (uint16_t)(latency + 0.5);
}

static void set_sequence(struct pc_cost *cost, unsigned slots, double latency)
{
    cost->slots = (uint16_t)slots;
    cost->latency = (uint16_t)latency;
}

/* What ptxas makes of an operation: a column of ptx/ops.def. */
enum becomes {
    ONE,      /* one instruction */
    EITHER,   /* one instruction, for the ALU or the multiplier: ptxas shares them out */
    PRODUCT,  /* one instruction; of 64-bit integers a sequence */
    QUOTIENT, /* a sequence */
    ROOT,     /* a sequence, except in f32 with .approx */
    NOTHING   /* renamed registers */
};

#define COSTS(floats, integers, flops, becomes) becomes
#define RUNS(unit) ONE
static const uint8_t becomes[NR_PTX_OPS] = {
#define OP(id, name, class, takes, costs, decoder, meaning) [PTX_OP_##id] = costs,
#include "ptx/ops.def"
#undef OP
};

/* Sets the cost of operations that become several instructions. */
static void expand(struct pc_cost *cost, const struct ptx_inst *ptx, const struct chip *chip)
{
    bool wide = ptx_type_bytes(ptx->type) == 8;
    double fp64 = pipe_cycles(chip, chip->fp64_per_clk);

    switch (becomes[ptx->op]) {
    case QUOTIENT:
        if (ptx->type == PTX_F64) {
            time_set_cost(cost, PIPE_FP64, 8 * fp64, 0);
            set_sequence(cost, 17, 150);
        } else if (ptx->type == PTX_F32) {
            time_set_cost(cost, PIPE_XU, pipe_cycles(chip, chip->sfu_per_clk), 0);
            if (ptx->approx)
                set_sequence(cost, 2, chip->lat_sfu + 2 * chip->lat_alu);
            else if (ptx->full)
                set_sequence(cost, 5, chip->lat_sfu + 5 * chip->lat_alu);
            else
                set_sequence(cost, 10, chip->lat_sfu + 10 * chip->lat_alu);
        } else {
            time_set_cost(cost, PIPE_XU, pipe_cycles(chip, chip->sfu_per_clk), 0);
            set_sequence(cost,
                wide                            ? 60
                : ptx_type_is_signed(ptx->type) ? 24
                                                : 19,
                wide ? 400 : 130);
        }
        break;
    case ROOT:
        if (ptx->type == PTX_F64) {
            time_set_cost(cost, PIPE_FP64, 8 * fp64, 0);
            set_sequence(cost, 16, 120);
        } else if (!ptx->approx) {
            set_sequence(cost, 10, chip->lat_sfu + 9 * chip->lat_alu);
        }
        break;
    case PRODUCT:
        if (wide && ptx->mul != PTX_MUL_WIDE && !ptx_type_is_float(ptx->type)) {
            cost->slots = 5;
            cost->pipe_cycles *= 5;
            cost->latency = (uint16_t)(3 * chip->lat_alu);
        }
        break;
    default:
        break;
    }
}

/* Where results of denormal operands are not flushed, ptxas compares, multiplies the operand by a
 * power of two under a predicate, and the result by another: nbody's rsqrtf is four instructions in
 * the machine code for sm_90a. */
static void cost_xu(struct pc_cost *cost, const struct inst_info *info, const struct chip *chip)
{
    const struct ptx_inst *ptx = info->ptx;
    bool wide = ptx_type_bytes(ptx->type) == 8 || ptx_type_bytes(ptx->type2) == 8;

    if (info->class != PTX_CLASS_CONVERT) {
        time_set_cost(cost, PIPE_XU, pipe_cycles(chip, chip->sfu_per_clk), chip->lat_sfu);
        if (ptx->approx && ptx->type == PTX_F32 && !ptx->ftz && ptx->op != PTX_OP_TANH &&
            ptx->op != PTX_OP_SIN && ptx->op != PTX_OP_COS)
            set_sequence(cost, 4, chip->lat_sfu + 2 * chip->lat_alu);
        cost->reason = STALL_SHORT;
    } else if (!ptx_type_is_float(ptx->type) && !ptx_type_is_float(ptx->type2)) {
        /* from one width of integer to another: a move or a mask */
        time_set_cost(cost, PIPE_ALU, pipe_cycles(chip, chip->int_per_clk), chip->lat_alu);
    } else {
        time_set_cost(cost, PIPE_XU,
            pipe_cycles(chip, wide ? chip->cvt64_per_clk : chip->cvt_per_clk),
            wide ? chip->lat_sfu : chip->lat_sfu / 2);
        cost->reason = STALL_SHORT;
    }
}

static void cost_one(struct pc_cost *cost, const struct inst *in, const struct inst_info *info,
    const struct chip *chip)
{
    const struct ptx_inst *ptx = info->ptx;

    cost->slots = 1;
    cost->reason = STALL_WAIT;
    cost->latency = (uint16_t)chip->lat_alu;
    if (ptx == NULL || (in->flags & INST_HIDDEN) != 0 || info->unit == UNIT_NONE ||
        becomes[ptx->op] == NOTHING || info->space == PTX_PARAM) {
        cost->free = true;
        cost->latency = 0;
        return;
    }
    switch (info->unit) {
    case UNIT_FMA:
        time_set_cost(cost, PIPE_FMA, pipe_cycles(chip, chip->fp32_per_clk), chip->lat_alu);
        break;
    case UNIT_ALU:
        time_set_cost(cost, PIPE_ALU, pipe_cycles(chip, chip->int_per_clk), chip->lat_alu);
        if (becomes[ptx->op] == EITHER)
            cost->alt = PIPE_IMUL;
        /* Registers have 32 bits: each half is an instruction, and the second waits for the carry.
         */
        if (ptx_type_bytes(ptx->type) == 8) {
            cost->slots = 2;
            cost->pipe_cycles *= 2;
            cost->latency = (uint16_t)(2 * chip->lat_alu + 1); /* stall counts of ptxas: 4, 5 */
        }
        break;
    case UNIT_IMUL:
        time_set_cost(cost, PIPE_IMUL, pipe_cycles(chip, chip->imul_per_clk), chip->lat_alu);
        break;
    case UNIT_FP64:
        time_set_cost(cost, PIPE_FP64, pipe_cycles(chip, chip->fp64_per_clk), chip->lat_fp64);
        break;
    case UNIT_FP16:
        time_set_cost(cost, PIPE_FP16, pipe_cycles(chip, chip->half2_per_clk), chip->lat_alu);
        break;
    case UNIT_XU:
        cost_xu(cost, info, chip);
        break;
    case UNIT_LSU:
        cost->lsu = !info->is_memory;
        cost->latency = (uint16_t)(info->is_memory ? chip->lat_l1 : chip->lat_sfu);
        cost->reason = STALL_SHORT;
        break;
    case UNIT_TENSOR:
        time_cost_tensor(cost, in, info->ptx, chip);
        break;
    case UNIT_BRANCH:
        time_set_cost(cost, PIPE_BRANCH, 2, chip->lat_alu);
        break;
    case UNIT_NONE:
        break;
    }
    expand(cost, ptx, chip);
    /* Slow paths are functions, which the code calls behind a branch: f32 and f64 division, square
     * root and reciprocal for denormal operands, 64-bit integer division for large ones. */
    cost->ends_block = !ptx->approx && !ptx->full &&
                       (becomes[ptx->op] == ROOT ||
                           (becomes[ptx->op] == QUOTIENT &&
                               (ptx_type_is_float(ptx->type) || ptx_type_bytes(ptx->type) == 8)));
}

static void cost_kind(struct pc_cost *cost, const struct inst *in, const struct inst_info *info)
{
    cost->release = info->ptx != NULL && time_releases(info->ptx, in);
    cost->acquire = info->ptx != NULL && time_acquires(info->ptx, in);
    if (in->guard != 0 && info->nr_sources > 0)
        cost->guard = info->source[info->nr_sources - 1] + 1;
    if (in->kind == INST_BARRIER && in->sub != PTX_SUB_ARRIVE)
        cost->barrier = true;
    if (in->kind == INST_CP_ASYNC)
        cost->async_copy = true;
    if (in->kind == INST_WARP_SYNC) /* nothing is left of it where the warp has not diverged */
        cost->pipe = PIPE_NONE;
    if (info->ptx == NULL || (info->ptx->op != PTX_OP_CP && in->kind != INST_WGMMA_GROUP))
        return;
    cost->async_commit = info->ptx->sub == PTX_SUB_COMMIT_GROUP;
    if (info->ptx->sub == PTX_SUB_WAIT_GROUP || info->ptx->sub == PTX_SUB_WAIT_ALL)
        cost->async_wait = true;
    if (info->ptx->sub == PTX_SUB_WAIT_GROUP && info->ptx->nr_operands > 0)
        cost->async_left = (uint16_t)info->ptx->operand[0].imm;
}

static struct trace_access *head_access(
    const struct time_listener *traced, const struct block_trace *trace, unsigned w, size_t e)
{
    const struct trace_event *event = &trace->warps[w].events[e];

    return traced->merges[event->pc].head == event->pc + 1 && event->nr_accesses > 0
               ? &trace->accesses[event->access]
               : NULL;
}

/* One pass over all traced heads: finds the heads that were not aligned every time, or (narrow)
 * makes their loads narrow again. */
static void visit_heads(const struct time_listener *traced, bool *broken, bool narrow)
{
    for (unsigned i = 0; i < traced->nr_traces; i++) {
        const struct block_trace *trace = traced->traces[i];

        for (unsigned w = 0; w < trace->nr_warps; w++) {
            for (size_t e = 0; e < trace->warps[w].nr; e++) {
                struct trace_access *access = head_access(traced, trace, w, e);
                uint32_t pc = trace->warps[w].events[e].pc;

                if (access != NULL && !narrow)
                    broken[pc] |= access->wide == 0;
                else if (access != NULL && broken[pc])
                    access->wide = 0;
            }
        }
    }
}

/* A merged load stays merged when all traced addresses of its head were aligned for it. */
static void check_merges(
    struct pc_cost *costs, const struct program *program, const struct time_listener *traced)
{
    bool *broken = xcalloc(program->nr_insts + 1, sizeof(*broken));

    visit_heads(traced, broken, false);
    visit_heads(traced, broken, true);
    for (uint32_t pc = 0; pc < program->nr_insts; pc++) {
        uint32_t head = traced->merges[pc].head;

        if (head != 0 && !broken[head - 1])
            costs[pc].head = head - 1;
    }
    free(broken);
}

static bool *block_starts(const struct program *program, const struct pc_cost *costs);

static bool is_parameter(const struct program *program, uint32_t pc)
{
    const struct inst_info *info = &program->info[pc];

    return info->ptx != NULL && info->ptx->op == PTX_OP_LD && info->space == PTX_PARAM &&
           (program->insts[pc].flags & INST_HIDDEN) == 0 && info->func != NULL &&
           info->func == program->info[program->entry].func;
}

/* Does a branch follow that leads back to where this basic block begins? */
static bool is_loop(const struct program *program, const bool *starts, uint32_t begin)
{
    uint32_t end = begin + 1;

    while (end < program->nr_insts && !starts[end])
        end++;
    return end < program->nr_insts && program->insts[end].kind == INST_BRANCH &&
           program->insts[end].target == begin;
}

/* Constants are seldom held in registers over a branch: what uses a parameter in another basic
 * block than the one that loaded it loads it again, but in loops of one block. In the machine code
 * of 19 kernels of bench/ there are twice as many LDC and ULDC as parameters. */
static void reload_parameters(const struct program *program, struct pc_cost *costs)
{
    uint32_t *held =
        xcalloc(program->nr_regs + 1, sizeof(*held)); /* in this block; 0: no parameter */
    bool *starts = block_starts(program, costs), loop = false;
    uint32_t block = 1;

    for (uint32_t pc = 0; pc < program->nr_insts; pc++) {
        const struct inst_info *info = &program->info[pc];

        if (starts[pc]) {
            block++;
            loop = is_loop(program, starts, pc);
        }
        for (unsigned i = 0; i < info->nr_sources && !costs[pc].free; i++) {
            uint32_t *at = &held[info->source[i]];

            if (*at == 0 || *at == block)
                continue;
            *at = block;
            costs[pc].slots += !loop;
        }
        for (unsigned i = 0; i < info->nr_dests; i++)
            held[info->dest[i]] = is_parameter(program, pc) ? block : 0;
    }
    free(held);
    free(starts);
}

/* Around what lanes may skip stand two more instructions, which note where the lanes meet again and
 * wait for them there (BSSY, BSYNC). */
static void cost_branches(const struct program *program, struct pc_cost *costs)
{
    for (uint32_t pc = 0; pc < program->nr_insts; pc++) {
        const struct inst *in = &program->insts[pc];

        if (in->kind == INST_BRANCH && in->guard != 0 && !costs[pc].free && in->target > pc &&
            in->target < program->nr_insts && program->insts[in->target].kind != INST_RET &&
            program->insts[in->target].kind != INST_EXIT)
            costs[pc].slots += 2;
    }
}

/* A shift by a constant, or a product of 32-bit factors with 64 bits. */
static bool scales(const struct inst_info *info)
{
    const struct ptx_inst *ptx = info->ptx;

    if (ptx == NULL || info->nr_dests != 1 || info->nr_sources != 1)
        return false;
    return ptx->op == PTX_OP_SHL ||
           (ptx->op == PTX_OP_MUL && ptx->mul == PTX_MUL_WIDE && ptx_type_bytes(ptx->type) == 4);
}

/* Scaling and adding is one instruction: IMAD.WIDE of a widening product and a 64-bit sum, LEA of a
 * shift and a sum (64 bits: LEA and LEA.HI). The scaling stays where something else needs it. */
static void fuse_sums(const struct program *program, struct pc_cost *costs)
{
    uint32_t *scaled = xcalloc(program->nr_regs + 1, sizeof(*scaled)); /* pc + 1 that wrote it */
    bool *fused = xcalloc(program->nr_insts + 1, sizeof(*fused));

    for (uint32_t pc = 0; pc < program->nr_insts; pc++) {
        const struct inst_info *info = &program->info[pc];
        bool sum = info->ptx != NULL && info->ptx->op == PTX_OP_ADD && info->unit == UNIT_ALU;

        for (unsigned i = 0; i < info->nr_sources; i++) {
            const uint32_t from = scaled[info->source[i]];

            if (from == 0)
                continue;
            fused[from - 1] &= sum;
            if (sum && program->info[from - 1].ptx->op == PTX_OP_MUL) {
                costs[pc].pipe = PIPE_IMUL;
                costs[pc].slots = 1;
                costs[pc].latency = costs[from - 1].latency;
            }
            sum = false; /* one a sum */
        }
        for (unsigned i = 0; i < info->nr_dests; i++)
            scaled[info->dest[i]] = 0;
        if (scales(info) && !costs[pc].free) {
            scaled[info->dest[0]] = pc + 1;
            fused[pc] = true;
        }
    }
    for (uint32_t pc = 0; pc < program->nr_insts; pc++)
        costs[pc].free |= fused[pc];
    free(scaled);
    free(fused);
}

struct pc_cost *time_costs(
    const struct program *program, const struct chip *of, const struct time_listener *traced)
{
    struct pc_cost *costs = xcalloc(program->nr_insts, sizeof(*costs));
    struct chip here = *of;
    const struct chip *chip = &here;

    here.wgmma_share = time_wgmma_share(of, traced);

    for (uint32_t pc = 0; pc < program->nr_insts; pc++) {
        costs[pc].head = pc;
        costs[pc].part = 1;
        cost_one(&costs[pc], &program->insts[pc], &program->info[pc], chip);
        cost_kind(&costs[pc], &program->insts[pc], &program->info[pc]);
        if (is_parameter(program, pc)) /* a load from the constant bank: LDC, ULDC */
            costs[pc] = (struct pc_cost){.head = pc,
                .part = 1,
                .slots = 1,
                .latency = 8,
                .reason = STALL_WAIT,
                .constant = true};
    }
    fuse_sums(program, costs);
    time_predicate(program, costs);
    cost_branches(program, costs);
    reload_parameters(program, costs);
    bool *starts = block_starts(program, costs);
    time_unroll(program, starts, costs);
    free(starts);
    if (traced != NULL) {
        check_merges(costs, program, traced);
        meet_rivals(traced, costs);
    }
    for (uint32_t pc = 0; pc < program->nr_insts; pc++)
        costs[pc].free |= costs[pc].head != pc;
    return costs;
}

/* --- the order within basic blocks ---
 *
 * The PTX of an unrolled loop has each load right before its use; ptxas moves the loads up, so that
 * they are in flight together. List scheduling does the same: of the instructions whose operands
 * are issued, the one with the longest way to the block's end goes first. Memory operations keep
 * their order against stores of the same kind of memory; barriers and branches end a block. */

enum { MAX_BLOCK = 2048 };

struct edge {
    uint32_t to;
    int32_t next; /* -1 none */
};

struct sched_node {
    uint32_t pc, nr_before;
    int32_t edges; /* first edge to a node that waits for this one */
    double height, ready;
};

struct scheduler {
    const struct program *program;
    const struct pc_cost *costs;
    struct inst_order order;
    struct sched_node *nodes;
    uint32_t nr, body;               /* nodes; of a turn of an unrolled loop, or all */
    int32_t *last_write, *last_read; /* node by register, -1 none */
    struct edge *edges;
    size_t nr_edges, cap_edges;
};

static void add_edge(struct scheduler *s, int32_t from, uint32_t to)
{
    struct sched_node *node;

    if (from < 0 || (uint32_t)from == to)
        return;
    node = &s->nodes[from];
    if (node->edges >= 0 && s->edges[node->edges].to == to)
        return;
    s->edges = grow(s->edges, &s->cap_edges, s->nr_edges + 1, sizeof(*s->edges));
    s->edges[s->nr_edges] = (struct edge){to, node->edges};
    node->edges = (int32_t)s->nr_edges++;
    s->nodes[to].nr_before++;
}

static double result_latency(const struct scheduler *s, uint32_t pc)
{
    const struct inst_info *info = &s->program->info[pc];

    if (s->costs[pc].head != pc)
        return 0;
    if (!info->is_load && !info->is_atomic)
        return s->costs[pc].latency;
    return info->space == PTX_SHARED ? 29 : 200;
}

/* From one instruction to another that waits for it. */
static double latency_between(const struct scheduler *s, uint32_t from, uint32_t to)
{
    const struct inst_info *info = &s->program->info[from];
    double latency = result_latency(s, from);

    for (unsigned i = 0; i < info->nr_dests; i++)
        if (s->costs[to].guard == info->dest[i] + 1)
            latency += GUARD_CYCLES;
    return latency;
}

static bool may_conflict(const struct inst_info *a, const struct inst_info *b)
{
    if (a->is_load && b->is_load)
        return false;
    if (a->ptx->nc || b->ptx->nc)
        return false;
    return a->space == b->space || a->space == PTX_GENERIC || b->space == PTX_GENERIC;
}

static void add_dependencies(struct scheduler *s, uint32_t n)
{
    const struct inst_info *info = &s->program->info[s->nodes[n].pc];
    const uint32_t guard = s->costs[s->nodes[n].pc].guard;

    for (unsigned i = 0; i < info->nr_sources; i++)
        add_edge(s, s->last_write[info->source[i]], n);
    if (guard != 0)
        add_edge(s, s->last_write[guard - 1], n);
    /* Turns of an unrolled loop have registers of their own. */
    for (unsigned i = 0; i < info->nr_dests && s->body == s->nr; i++) {
        add_edge(s, s->last_write[info->dest[i]], n);
        add_edge(s, s->last_read[info->dest[i]], n);
    }
    for (unsigned i = 0; i < info->nr_sources; i++)
        s->last_read[info->source[i]] = (int32_t)n;
    if (guard != 0)
        s->last_read[guard - 1] = (int32_t)n;
    for (unsigned i = 0; i < info->nr_dests; i++)
        s->last_write[info->dest[i]] = (int32_t)n;
    if (s->costs[s->nodes[n].pc].head != s->nodes[n].pc)
        add_edge(s, (int32_t)(n - (s->nodes[n].pc - s->costs[s->nodes[n].pc].head)), n);
    if (!info->is_memory || info->ptx == NULL || info->space == PTX_PARAM)
        return;
    /* Only the nearest earlier conflicting operations matter: older ones are ordered through these.
     */
    for (uint32_t m = n, found = 0; m-- > 0 && found < 8;) {
        const struct inst_info *other = &s->program->info[s->nodes[m].pc];

        if (other->is_memory && other->ptx != NULL && other->space != PTX_PARAM &&
            may_conflict(info, other)) {
            add_edge(s, (int32_t)m, n);
            found++;
        }
    }
}

static void forget_registers(struct scheduler *s)
{
    for (uint32_t n = 0; n < s->nr; n++) {
        const struct inst_info *info = &s->program->info[s->nodes[n].pc];

        for (unsigned i = 0; i < info->nr_sources; i++)
            s->last_write[info->source[i]] = s->last_read[info->source[i]] = -1;
        if (s->costs[s->nodes[n].pc].guard != 0)
            s->last_read[s->costs[s->nodes[n].pc].guard - 1] = -1;
        for (unsigned i = 0; i < info->nr_dests; i++)
            s->last_write[info->dest[i]] = s->last_read[info->dest[i]] = -1;
    }
}

/* Picks, among the nodes that can go, the one that can start first; then the one with the longest
 * way to the end. */
static uint32_t pick(const struct scheduler *s, const bool *gone, double now)
{
    uint32_t best = UINT32_MAX;
    double best_start = 0;

    for (uint32_t n = 0, seen = 0; n < s->nr && seen < 256; n++) {
        const struct sched_node *node = &s->nodes[n];
        double start;

        if (gone[n])
            continue;
        seen++;
        if (node->nr_before > 0)
            continue;
        start = node->ready > now ? node->ready : now;
        if (best == UINT32_MAX || start < best_start ||
            (start == best_start && node->height > s->nodes[best].height)) {
            best = n;
            best_start = start;
        }
    }
    return best;
}

/* Is the node one that an unrolled loop does without? */
static bool is_dropped(const struct scheduler *s, uint32_t n)
{
    return n + s->body < s->nr && s->costs[s->nodes[n].pc].once;
}

static void make_nodes(struct scheduler *s, uint32_t begin, uint32_t body, unsigned turns)
{
    s->nr = turns * body;
    s->body = body;
    s->nr_edges = 0;
    for (uint32_t n = 0; n < s->nr; n++)
        s->nodes[n] = (struct sched_node){.pc = begin + n % body, .edges = -1};
    for (uint32_t n = 0; n < s->nr; n++)
        if (!is_dropped(s, n))
            add_dependencies(s, n);
    forget_registers(s);
    for (uint32_t n = s->nr; n-- > 0;) {
        struct sched_node *node = &s->nodes[n];

        for (int32_t e = node->edges; e >= 0; e = s->edges[e].next)
            if (s->nodes[s->edges[e].to].height > node->height)
                node->height = s->nodes[s->edges[e].to].height;
        node->height += result_latency(s, node->pc) + 1;
    }
}

/* Lists the instructions of a basic block, or of `turns` turns of a loop of one block. */
static void list_block(struct scheduler *s, uint32_t begin, uint32_t end, unsigned turns)
{
    bool gone[MAX_BLOCK] = {0};
    uint32_t nr_left = 0;
    double now = 0;

    make_nodes(s, begin, end - begin, turns);
    for (uint32_t n = 0; n < s->nr; n++) {
        gone[n] = is_dropped(s, n);
        nr_left += !gone[n];
    }
    for (uint32_t place = 0; place < nr_left; place++) {
        uint32_t n = pick(s, gone, now);
        struct sched_node *node = &s->nodes[n];
        double start = node->ready > now ? node->ready : now;

        gone[n] = true;
        if (turns > 1)
            s->order.unrolled[UNROLLED * node->pc + n / s->body] = place;
        else
            s->order.rank[node->pc] = place;
        now = start + (s->costs[node->pc].free ? 0 : s->costs[node->pc].slots);
        for (int32_t e = node->edges; e >= 0; e = s->edges[e].next) {
            struct sched_node *next = &s->nodes[s->edges[e].to];

            next->nr_before--;
            next->ready = fmax(next->ready, start + latency_between(s, node->pc, next->pc));
        }
    }
}

/* Where basic blocks of the machine code begin; costs NULL: those of the PTX. */
static bool *block_starts(const struct program *program, const struct pc_cost *costs)
{
    bool *starts = xcalloc(program->nr_insts + 2, sizeof(*starts));

    starts[0] = starts[program->entry] = true;
    for (uint32_t pc = 0; pc < program->nr_insts; pc++) {
        const struct inst *in = &program->insts[pc];

        if (costs != NULL && costs[pc].skip_to != 0)
            continue;
        if (costs != NULL && costs[pc].ends_block)
            starts[pc + 1] = true;
        if (in->kind == INST_BRANCH || in->kind == INST_CALL) {
            if (in->target < program->nr_insts)
                starts[in->target] = true;
            if (in->reconverge < program->nr_insts)
                starts[in->reconverge] = true;
        }
        for (int64_t t = 0; in->kind == INST_BRANCH_INDEXED && t < in->imm; t++)
            starts[in->rows[t]] = true;
        /* Whatever orders memory or ends a block stays where it is: it is a block of its own. */
        if (in->kind != INST_ALU && in->kind != INST_LOAD && in->kind != INST_STORE &&
            in->kind != INST_COLLECTIVE)
            starts[pc] = starts[pc + 1] = true;
    }
    return starts;
}

struct inst_order time_schedule(const struct program *program, const struct pc_cost *costs)
{
    bool *starts = block_starts(program, costs);
    struct scheduler s = {.program = program, .costs = costs};
    uint32_t nr_blocks = 0;

    s.order.rank = xcalloc(program->nr_insts + 1, sizeof(*s.order.rank));
    s.order.block = xcalloc(program->nr_insts + 1, sizeof(*s.order.block));
    s.order.unrolled = xcalloc(UNROLLED * (size_t)program->nr_insts + 1, sizeof(*s.order.unrolled));
    s.nodes = xcalloc(MAX_BLOCK, sizeof(*s.nodes));
    s.last_write = xmalloc((program->nr_regs + 1) * sizeof(*s.last_write));
    s.last_read = xmalloc((program->nr_regs + 1) * sizeof(*s.last_read));
    memset(s.last_write, 0xff, (program->nr_regs + 1) * sizeof(*s.last_write));
    memset(s.last_read, 0xff, (program->nr_regs + 1) * sizeof(*s.last_read));
    for (uint32_t begin = 0, end; begin < program->nr_insts; begin = end) {
        for (end = begin + 1; end < program->nr_insts && !starts[end]; end++)
            ;
        for (uint32_t pc = begin; pc < end; pc++) {
            s.order.rank[pc] = pc - begin;
            s.order.block[pc] = nr_blocks;
        }
        if (end - begin > 2 && end - begin <= MAX_BLOCK)
            list_block(&s, begin, end, 1);
        if (costs[begin].body_end == end)
            list_block(&s, begin, end, UNROLLED);
        nr_blocks++;
    }
    free(starts);
    free(s.nodes);
    free(s.edges);
    free(s.last_write);
    free(s.last_read);
    return s.order;
}

/* --- merged loads --- */

struct shared_load {
    uint32_t pc;
    int32_t reg;
    uint64_t at;
    unsigned bytes;
};

static int by_address(const void *a, const void *b)
{
    const struct shared_load *x = a, *y = b;

    if (x->reg != y->reg)
        return (x->reg > y->reg) - (x->reg < y->reg);
    if (x->at != y->at)
        return (x->at > y->at) - (x->at < y->at);
    return (x->pc > y->pc) - (x->pc < y->pc);
}

static void merge_run(struct load_merge *merges, const struct shared_load *run, unsigned nr)
{
    uint32_t head = run[0].pc;

    for (unsigned i = 1; i < nr; i++)
        head = run[i].pc < head ? run[i].pc : head;
    for (unsigned i = 0; i < nr; i++)
        merges[run[i].pc] = (struct load_merge){
            head + 1, (uint8_t)(nr * run[0].bytes), (int8_t)(run[i].at - run[0].at)};
}

/* Finds runs of loads off one register, at successive addresses that could be aligned to 16 or 8.
 */
static void merge_loads(struct load_merge *merges, struct shared_load *loads, unsigned nr)
{
    qsort(loads, nr, sizeof(*loads), by_address);
    for (unsigned i = 0, len; i < nr; i += len) {
        const struct shared_load *l = &loads[i];
        unsigned most = l->at % 16 == 0 ? 16 / l->bytes : l->at % 8 == 0 ? 8 / l->bytes : 1;

        for (len = 1; len < most && i + len < nr; len++)
            if (loads[i + len].reg != l->reg || loads[i + len].bytes != l->bytes ||
                loads[i + len].at != l->at + len * l->bytes)
                break;
        if (len == 3)
            len = 2;
        if (len > 1)
            merge_run(merges, l, len);
    }
}

static bool as_shared_load(const struct program *program, uint32_t pc, struct shared_load *load)
{
    const struct inst_info *info = &program->info[pc];
    const struct ptx_operand *from;

    if (info->ptx == NULL || !info->is_load || info->space != PTX_SHARED ||
        program->insts[pc].kind != INST_LOAD || info->ptx->guard >= 0 ||
        info->ptx->nr_operands < 2 || (info->access_bytes != 4 && info->access_bytes != 8))
        return false;
    from = &info->ptx->operand[1];
    if (from->kind != PTX_OPERAND_ADDRESS)
        return false;
    *load = (struct shared_load){pc, from->reg, from->imm, info->access_bytes};
    if (from->symbol != NULL)
        load->at += from->symbol->offset;
    return true;
}

struct load_merge *time_merges(const struct program *program)
{
    struct load_merge *merges = xcalloc(program->nr_insts + 1, sizeof(*merges));
    struct shared_load *loads = xmalloc((program->nr_insts + 1) * sizeof(*loads));
    bool *starts = block_starts(program, NULL);
    unsigned nr = 0;

    for (uint32_t pc = 0; pc < program->nr_insts; pc++) {
        const struct inst_info *info = &program->info[pc];
        bool stores = info->is_memory && !info->is_load;

        if (starts[pc] || stores) {
            merge_loads(merges, loads, nr);
            nr = 0;
        }
        nr += as_shared_load(program, pc, &loads[nr]);
        /* An address register gets a new value: the accesses that follow are somewhere else. */
        for (unsigned i = 0; i < nr; i++) {
            for (unsigned d = 0; d < info->nr_dests && info->ptx != NULL; d++) {
                if (loads[i].reg >= 0 && info->ptx->operand[d].kind == PTX_OPERAND_REG &&
                    info->ptx->operand[d].reg == loads[i].reg) {
                    merge_loads(merges, loads, nr);
                    nr = 0;
                    break;
                }
            }
        }
    }
    merge_loads(merges, loads, nr);
    free(starts);
    free(loads);
    return merges;
}
