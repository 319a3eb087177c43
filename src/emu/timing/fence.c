/* Owns which PTX instructions order memory beyond the block. */
#include "emu/timing/time.h"

/* What ptxas 13.0 makes for sm_90a of what orders memory (read in the machine code of one kernel a
 * form):
 *
 *     fence, membar at the scope of cluster or gpu    MEMBAR.GPU, ERRBAR, CCTL.IVALL
 *     release at these scopes                         MEMBAR.GPU, ERRBAR before the operation
 *     acquire at these scopes                         CCTL.IVALL behind it
 *     barrier.cluster.arrive, unless .relaxed         as a release
 *     barrier.cluster.wait                            as an acquire
 *     fence.proxy.async                               MEMBAR.GPU, FENCE.VIEW.ASYNC
 *     fence.proxy.async of a stated space             FENCE.VIEW.ASYNC at most
 *
 * MEMBAR.GPU waits until the chip has seen what the warp wrote; CCTL.IVALL empties L1. */
bool time_releases(const struct ptx_inst *ptx, const struct inst *in)
{
    if (in->kind == INST_CLUSTER_BARRIER)
        return in->sub == PTX_SUB_ARRIVE && ptx->sem != PTX_SEM_RELAXED;
    if (ptx->op == PTX_OP_FENCE && ptx->sub == PTX_SUB_PROXY)
        return ptx->async_ && ptx->space == PTX_GENERIC;
    if (ptx->scope < PTX_SCOPE_CLUSTER || in->sub == PTX_SUB_INIT)
        return false;
    return ptx->op == PTX_OP_MEMBAR || (ptx->op == PTX_OP_FENCE && ptx->sub == PTX_SUB_NONE) ||
           ptx->sem >= PTX_SEM_RELEASE;
}

bool time_acquires(const struct ptx_inst *ptx, const struct inst *in)
{
    if (in->kind == INST_CLUSTER_BARRIER)
        return in->sub == PTX_SUB_WAIT;
    if (ptx->scope < PTX_SCOPE_CLUSTER || ptx->sub == PTX_SUB_PROXY)
        return false;
    return ptx->op == PTX_OP_MEMBAR || (ptx->op == PTX_OP_FENCE && ptx->sub == PTX_SUB_NONE) ||
           ptx->sem == PTX_SEM_ACQUIRE || ptx->sem == PTX_SEM_ACQ_REL;
}
