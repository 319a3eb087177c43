/* Owns graphs: what a stream was given while it was recorded, and nodes that a program adds itself.
 * A node's operations run one after the other, behind those of the nodes that it depends on. */
#include "swdriver/sw_state.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

static void copy_op(struct sw_op *to, const struct sw_op *from)
{
    *to = *from;
    if (from->params != NULL) {
        to->params = xmalloc(from->params_bytes + 1);
        memcpy(to->params, from->params, from->params_bytes);
    }
}

static void add_op(struct sw_part *part, const struct sw_op *op)
{
    part->ops = grow(part->ops, &part->cap, part->nr + 1, sizeof(*part->ops));
    part->ops[part->nr++] = *op;
}

static struct sw_part copy_part(const struct sw_part *from)
{
    struct sw_part to = {.node = from->node, .type = from->type};

    for (size_t i = 0; i < from->nr; i++) {
        struct sw_op op;

        copy_op(&op, &from->ops[i]);
        add_op(&to, &op);
    }
    return to;
}

/* --- nodes --- */

static CUgraphNode add_node(CUgraph graph, CUgraphNodeType type)
{
    CUgraphNode node = xcalloc(1, sizeof(*node));

    node->graph = graph;
    node->part.node = node;
    node->part.type = type;
    graph->nodes = grow(graph->nodes, &graph->cap, graph->nr + 1, sizeof(CUgraphNode));
    graph->nodes[graph->nr++] = node;
    return node;
}

static void depend(CUgraphNode node, CUgraphNode on)
{
    node->after = grow(node->after, &node->cap_after, node->nr_after + 1, sizeof(CUgraphNode));
    node->after[node->nr_after++] = on;
}

static void free_node(CUgraphNode node)
{
    sw_ops_free(node->part.ops, node->part.nr);
    free(node->after);
    free(node);
}

static CUgraphNodeType type_of(const struct sw_op *op)
{
    return op->kind == SW_LAUNCH ? CU_GRAPH_NODE_TYPE_KERNEL
           : op->kind == SW_SET  ? CU_GRAPH_NODE_TYPE_MEMSET
           : op->kind == SW_CALL ? CU_GRAPH_NODE_TYPE_HOST
                                 : CU_GRAPH_NODE_TYPE_MEMCPY;
}

/* What a stream is given depends on what it was given before; what a program adds itself is
 * gathered in one node. */
void sw_graph_append(CUgraph graph, const struct sw_op *op)
{
    CUgraphNode last = graph->nr > 0 ? graph->nodes[graph->nr - 1] : NULL, node = graph->filled;

    if (node == NULL) {
        node = add_node(graph, type_of(op));
        if (last != NULL)
            depend(node, last);
    } else {
        node->part.type = type_of(op);
    }
    add_op(&node->part, op);
}

void sw_graph_free(CUgraph graph)
{
    for (size_t i = 0; i < graph->nr; i++)
        free_node(graph->nodes[i]);
    free(graph->nodes);
    free(graph);
}

void sw_exec_free(CUgraphExec exec)
{
    for (size_t i = 0; i < exec->nr; i++)
        sw_ops_free(exec->parts[i].ops, exec->parts[i].nr);
    free(exec->parts);
    free(exec);
}

static CUgraph graph_create(CUcontext ctx)
{
    CUgraph graph = xcalloc(1, sizeof(*graph));

    graph->next = ctx->graphs;
    ctx->graphs = graph;
    return graph;
}

/* --- graphs that streams record --- */

CUresult CUDAAPI cuStreamBeginCapture(CUstream stream, CUstreamCaptureMode mode)
{
    CUcontext ctx;
    CUresult code = sw_begin(&ctx);
    CUstream s = code == CUDA_SUCCESS ? sw_stream(ctx, stream) : NULL;

    if (code == CUDA_SUCCESS && s == NULL)
        code = CUDA_ERROR_INVALID_HANDLE;
    if (code == CUDA_SUCCESS && s == &ctx->null_stream)
        code = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    if (code == CUDA_SUCCESS && s->capture != NULL)
        code = CUDA_ERROR_ILLEGAL_STATE;
    if (code != CUDA_SUCCESS)
        return sw_end(code);
    s->capture = graph_create(ctx);
    return sw_end(CUDA_SUCCESS);
}

CUresult CUDAAPI cuStreamEndCapture(CUstream stream, CUgraph *graph)
{
    CUcontext ctx;
    CUresult code = sw_begin(&ctx);
    CUstream s = code == CUDA_SUCCESS ? sw_stream(ctx, stream) : NULL;

    if (code == CUDA_SUCCESS && (s == NULL || s->capture == NULL))
        code = CUDA_ERROR_ILLEGAL_STATE;
    if (code != CUDA_SUCCESS)
        return sw_end(code);
    *graph = s->capture;
    for (CUevent e = ctx->events; e != NULL; e = e->next)
        e->capture = e->capture == *graph ? NULL : e->capture;
    for (CUstream other = ctx->streams; other != NULL; other = other->next)
        other->capture = other->capture == *graph ? NULL : other->capture;
    return sw_end(CUDA_SUCCESS);
}

CUresult CUDAAPI cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus *status)
{
    CUcontext ctx;
    CUresult code = sw_begin(&ctx);
    CUstream s = code == CUDA_SUCCESS ? sw_stream(ctx, stream) : NULL;

    if (code == CUDA_SUCCESS && s == NULL)
        code = CUDA_ERROR_INVALID_HANDLE;
    if (code == CUDA_SUCCESS)
        *status =
            s->capture != NULL ? CU_STREAM_CAPTURE_STATUS_ACTIVE : CU_STREAM_CAPTURE_STATUS_NONE;
    return sw_end(code);
}

static bool find_graph(CUcontext ctx, CUgraph graph, CUgraph **link)
{
    for (*link = &ctx->graphs; **link != NULL && **link != graph;)
        *link = &(**link)->next;
    return **link != NULL;
}

static bool find_exec(CUcontext ctx, CUgraphExec exec, CUgraphExec **link)
{
    for (*link = &ctx->execs; **link != NULL && **link != exec;)
        *link = &(**link)->next;
    return **link != NULL;
}

/* --- graphs that a program builds node by node --- */

CUresult CUDAAPI cuGraphCreate(CUgraph *graph, unsigned flags)
{
    CUcontext ctx;
    CUresult code = sw_begin(&ctx);

    if (code == CUDA_SUCCESS && (graph == NULL || flags != 0))
        code = CUDA_ERROR_INVALID_VALUE;
    if (code == CUDA_SUCCESS)
        *graph = graph_create(ctx);
    return sw_end(code);
}

static bool has_node(CUgraph graph, CUgraphNode node)
{
    for (size_t i = 0; i < graph->nr; i++)
        if (graph->nodes[i] == node)
            return true;
    return false;
}

static bool has_nodes(CUgraph graph, const CUgraphNode *nodes, size_t nr)
{
    for (size_t i = 0; i < nr; i++)
        if (nodes == NULL || !has_node(graph, nodes[i]))
            return false;
    return true;
}

/* The runtime fills a node by what it submits to the stream meanwhile. */
CUresult keet_software_driver_node(
    CUgraph graph, const CUgraphNode *after, size_t nr, CUgraphNode *node, CUstream *feeder);
CUresult keet_software_driver_node(
    CUgraph graph, const CUgraphNode *after, size_t nr, CUgraphNode *node, CUstream *feeder)
{
    CUcontext ctx;
    CUresult code = sw_begin(&ctx);
    CUgraph *link;

    if (code == CUDA_SUCCESS &&
        (node == NULL || !find_graph(ctx, graph, &link) || !has_nodes(graph, after, nr)))
        code = CUDA_ERROR_INVALID_VALUE;
    if (code != CUDA_SUCCESS)
        return sw_end(code);
    *node = add_node(graph, CU_GRAPH_NODE_TYPE_EMPTY);
    for (size_t i = 0; i < nr; i++)
        depend(*node, after[i]);
    if (feeder != NULL) {
        ctx->feeder.capture = graph;
        ctx->feeder.ctx = ctx;
        graph->filled = *node;
        *feeder = &ctx->feeder;
    }
    return sw_end(CUDA_SUCCESS);
}

/* Other operations for a node, in the graph or, where exec is not NULL, in what was made of it. */
CUresult keet_software_driver_refill(CUgraphExec exec, CUgraphNode node, CUstream *feeder);
CUresult keet_software_driver_refill(CUgraphExec exec, CUgraphNode node, CUstream *feeder)
{
    CUcontext ctx;
    CUresult code = sw_begin(&ctx);
    CUgraphExec *link;
    CUgraph graph = NULL;

    if (code == CUDA_SUCCESS && exec != NULL && !find_exec(ctx, exec, &link))
        code = CUDA_ERROR_INVALID_VALUE;
    for (graph = ctx != NULL ? ctx->graphs : NULL; graph != NULL && !has_node(graph, node);)
        graph = graph->next;
    if (code == CUDA_SUCCESS && graph == NULL)
        code = CUDA_ERROR_INVALID_VALUE;
    if (code != CUDA_SUCCESS)
        return sw_end(code);
    ctx->feeder.capture = graph;
    ctx->feeder.ctx = ctx;
    graph->filled = node;
    ctx->refilled = exec;
    ctx->kept = node->part;
    node->part = (struct sw_part){.node = node, .type = ctx->kept.type};
    *feeder = &ctx->feeder;
    return sw_end(CUDA_SUCCESS);
}

/* The end of both; code: what the submission said. A node that could not be filled is as before. */
CUresult keet_software_driver_filled(CUresult code, bool again);
CUresult keet_software_driver_filled(CUresult code, bool again)
{
    CUcontext ctx;
    const CUresult begun = sw_begin(&ctx);
    CUgraph graph = begun == CUDA_SUCCESS ? ctx->feeder.capture : NULL;
    CUgraphNode node = graph != NULL ? graph->filled : NULL;

    if (node == NULL)
        return sw_end(code != CUDA_SUCCESS ? code : begun);
    ctx->feeder.capture = NULL;
    graph->filled = NULL;
    if (!again && code != CUDA_SUCCESS) {
        graph->nr--; /* it is the last one */
        free_node(node);
    } else if (again) {
        struct sw_part made = node->part;

        node->part = ctx->kept;
        for (size_t i = 0; code == CUDA_SUCCESS && ctx->refilled != NULL && i < ctx->refilled->nr;
             i++)
            if (ctx->refilled->parts[i].node == node) {
                const struct sw_part old = ctx->refilled->parts[i];

                ctx->refilled->parts[i] = made;
                made = old;
            }
        if (code == CUDA_SUCCESS && ctx->refilled == NULL) {
            node->part = made;
            made = ctx->kept;
        }
        sw_ops_free(made.ops, made.nr);
    }
    return sw_end(code);
}

CUresult CUDAAPI cuGraphAddEmptyNode(
    CUgraphNode *node, CUgraph graph, const CUgraphNode *after, size_t nr)
{
    return keet_software_driver_node(graph, after, nr, node, NULL);
}

CUresult CUDAAPI cuGraphAddChildGraphNode(
    CUgraphNode *node, CUgraph graph, const CUgraphNode *after, size_t nr, CUgraph child)
{
    CUresult code = keet_software_driver_node(graph, after, nr, node, NULL);
    CUgraphExec exec;

    if (code != CUDA_SUCCESS)
        return code;
    (*node)->part.type = CU_GRAPH_NODE_TYPE_GRAPH; /* what the child is now, in its order */
    code = cuGraphInstantiateWithFlags(&exec, child, 0);
    if (code != CUDA_SUCCESS)
        return code;
    for (size_t i = 0; i < exec->nr; i++) {
        struct sw_part part = copy_part(&exec->parts[i]);

        for (size_t k = 0; k < part.nr; k++)
            add_op(&(*node)->part, &part.ops[k]);
        free(part.ops);
    }
    return cuGraphExecDestroy(exec);
}

static CUresult add_dependencies(
    CUgraph graph, const CUgraphNode *from, const CUgraphNode *to, size_t nr)
{
    CUcontext ctx;
    CUresult code = sw_begin(&ctx);
    CUgraph *link;

    if (code == CUDA_SUCCESS && (!find_graph(ctx, graph, &link) || !has_nodes(graph, from, nr) ||
                                    !has_nodes(graph, to, nr)))
        code = CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; code == CUDA_SUCCESS && i < nr; i++)
        depend(to[i], from[i]);
    return sw_end(code);
}

CUresult CUDAAPI cuGraphAddDependencies_v2(CUgraph graph, const CUgraphNode *from,
    const CUgraphNode *to, const CUgraphEdgeData *how, size_t nr)
{
    return add_dependencies(graph, from, to, nr);
}

#undef cuGraphAddDependencies
CUresult CUDAAPI cuGraphAddDependencies(
    CUgraph graph, const CUgraphNode *from, const CUgraphNode *to, size_t nr);
CUresult CUDAAPI cuGraphAddDependencies(
    CUgraph graph, const CUgraphNode *from, const CUgraphNode *to, size_t nr)
{
    return add_dependencies(graph, from, to, nr);
}

/* Without room: how many there are. */
static CUresult list_nodes(CUgraph graph, CUgraphNode *nodes, size_t *nr, bool roots)
{
    CUcontext ctx;
    CUresult code = sw_begin(&ctx);
    size_t found = 0;
    CUgraph *link;

    if (code == CUDA_SUCCESS && (nr == NULL || !find_graph(ctx, graph, &link)))
        code = CUDA_ERROR_INVALID_VALUE;
    if (code != CUDA_SUCCESS)
        return sw_end(code);
    for (size_t i = 0; i < graph->nr; i++) {
        if (roots && graph->nodes[i]->nr_after > 0)
            continue;
        if (nodes != NULL && found < *nr)
            nodes[found] = graph->nodes[i];
        found++;
    }
    for (size_t i = found; nodes != NULL && i < *nr; i++)
        nodes[i] = NULL;
    *nr = nodes != NULL && *nr < found ? *nr : found;
    return sw_end(CUDA_SUCCESS);
}

CUresult CUDAAPI cuGraphGetNodes(CUgraph graph, CUgraphNode *nodes, size_t *nr)
{
    return list_nodes(graph, nodes, nr, false);
}

CUresult CUDAAPI cuGraphGetRootNodes(CUgraph graph, CUgraphNode *nodes, size_t *nr)
{
    return list_nodes(graph, nodes, nr, true);
}

CUresult CUDAAPI cuGraphNodeGetType(CUgraphNode node, CUgraphNodeType *type)
{
    if (node == NULL || type == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    *type = node->part.type;
    return CUDA_SUCCESS;
}

/* --- what is made of graphs --- */

/* The nodes in an order in which each comes behind those that it depends on; of several that may
 * come next, the one that was added first. NULL: they depend on one another in a circle. */
static CUgraphNode *in_order(CUgraph graph)
{
    CUgraphNode *order = xcalloc(graph->nr + 1, sizeof(CUgraphNode));
    size_t done = 0;

    for (size_t i = 0; i < graph->nr; i++)
        graph->nodes[i]->placed = false;
    while (done < graph->nr) {
        const size_t before = done;

        for (size_t i = 0; i < graph->nr && done == before; i++) {
            CUgraphNode node = graph->nodes[i];
            bool ready = !node->placed;

            for (size_t k = 0; ready && k < node->nr_after; k++)
                ready = node->after[k]->placed;
            if (!ready)
                continue;
            node->placed = true;
            order[done++] = node;
        }
        if (done == before) {
            free(order);
            return NULL;
        }
    }
    return order;
}

static void fill_exec(CUgraphExec exec, const CUgraphNode *order, size_t nr)
{
    exec->parts = xcalloc(nr + 1, sizeof(*exec->parts));
    exec->nr = nr;
    for (size_t i = 0; i < nr; i++)
        exec->parts[i] = copy_part(&order[i]->part);
}

CUresult CUDAAPI cuGraphInstantiateWithFlags(
    CUgraphExec *exec, CUgraph graph, unsigned long long flags)
{
    CUcontext ctx;
    CUresult code = sw_begin(&ctx);
    CUgraphNode *order = NULL;
    CUgraph *link;

    if (code == CUDA_SUCCESS &&
        (exec == NULL || !find_graph(ctx, graph, &link) || (order = in_order(graph)) == NULL))
        code = CUDA_ERROR_INVALID_VALUE;
    if (code != CUDA_SUCCESS)
        return sw_end(code);
    *exec = xcalloc(1, sizeof(**exec));
    fill_exec(*exec, order, graph->nr);
    free(order);
    (*exec)->next = ctx->execs;
    ctx->execs = *exec;
    return sw_end(CUDA_SUCCESS);
}

/* Nodes of the same types in the same order are the same graph with other parameters. */
CUresult CUDAAPI cuGraphExecUpdate_v2(
    CUgraphExec exec, CUgraph graph, CUgraphExecUpdateResultInfo *result)
{
    CUcontext ctx;
    CUresult code = sw_begin(&ctx);
    CUgraphNode *order = NULL;
    CUgraphExec *link;
    CUgraph *other;
    bool same;

    if (code == CUDA_SUCCESS && (!find_exec(ctx, exec, &link) || !find_graph(ctx, graph, &other) ||
                                    (order = in_order(graph)) == NULL))
        code = CUDA_ERROR_INVALID_VALUE;
    if (code != CUDA_SUCCESS)
        return sw_end(code);
    same = exec->nr == graph->nr;
    for (size_t i = 0; same && i < exec->nr; i++)
        same = exec->parts[i].type == order[i]->part.type;
    if (result != NULL)
        *result = (CUgraphExecUpdateResultInfo){
            .result =
                same ? CU_GRAPH_EXEC_UPDATE_SUCCESS : CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED};
    if (same) {
        for (size_t i = 0; i < exec->nr; i++)
            sw_ops_free(exec->parts[i].ops, exec->parts[i].nr);
        free(exec->parts);
        fill_exec(exec, order, graph->nr);
    }
    free(order);
    return sw_end(same ? CUDA_SUCCESS : CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
}

CUresult CUDAAPI cuGraphClone(CUgraph *clone, CUgraph graph)
{
    CUcontext ctx;
    CUresult code = sw_begin(&ctx);
    CUgraph *link;

    if (code == CUDA_SUCCESS && (clone == NULL || !find_graph(ctx, graph, &link)))
        code = CUDA_ERROR_INVALID_VALUE;
    if (code != CUDA_SUCCESS)
        return sw_end(code);
    *clone = graph_create(ctx);
    for (size_t i = 0; i < graph->nr; i++) {
        CUgraphNode node = add_node(*clone, graph->nodes[i]->part.type);

        node->part = copy_part(&graph->nodes[i]->part);
        node->part.node = node;
        graph->nodes[i]->copy = node;
    }
    for (size_t i = 0; i < graph->nr; i++)
        for (size_t k = 0; k < graph->nodes[i]->nr_after; k++)
            depend((*clone)->nodes[i], graph->nodes[i]->after[k]->copy);
    return sw_end(CUDA_SUCCESS);
}

CUresult CUDAAPI cuGraphUpload(CUgraphExec exec, CUstream stream)
{
    return cuStreamQuery(stream);
}

CUresult CUDAAPI cuGraphLaunch(CUgraphExec exec, CUstream stream)
{
    CUcontext ctx;
    CUresult code = sw_begin(&ctx);
    CUgraphExec *link;

    if (code == CUDA_SUCCESS && (!find_exec(ctx, exec, &link) || sw_stream(ctx, stream) == NULL))
        code = CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < (code == CUDA_SUCCESS ? exec->nr : 0); i++)
        for (size_t k = 0;
             code == CUDA_SUCCESS && ctx->sticky == CUDA_SUCCESS && k < exec->parts[i].nr; k++)
            code = sw_run(ctx, &exec->parts[i].ops[k]);
    return sw_end(code);
}

CUresult CUDAAPI cuGraphDestroy(CUgraph graph)
{
    CUcontext ctx;
    CUresult code = sw_begin(&ctx);
    CUgraph *link;

    if (code == CUDA_SUCCESS && !find_graph(ctx, graph, &link))
        code = CUDA_ERROR_INVALID_VALUE;
    if (code != CUDA_SUCCESS)
        return sw_end(code);
    *link = graph->next;
    sw_graph_free(graph);
    return sw_end(CUDA_SUCCESS);
}

CUresult CUDAAPI cuGraphExecDestroy(CUgraphExec exec)
{
    CUcontext ctx;
    CUresult code = sw_begin(&ctx);
    CUgraphExec *link;

    if (code == CUDA_SUCCESS && !find_exec(ctx, exec, &link))
        code = CUDA_ERROR_INVALID_VALUE;
    if (code != CUDA_SUCCESS)
        return sw_end(code);
    *link = exec->next;
    sw_exec_free(exec);
    return sw_end(CUDA_SUCCESS);
}
