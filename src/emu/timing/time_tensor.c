/* Owns what matrix instructions cost on the tensor cores. */
#include "emu/state/tensor.h"
#include "emu/timing/time.h"

/* Of one tensor core, by the operands' type. Rates of 4 bits and 1 bit are taken to be those of 8.
 */
static double tensor_per_clk(const struct chip *chip, enum ptx_type type)
{
    const struct peak *peak = chip->peak;
    const double per_s = type == PTX_F64    ? peak[WORK_F64].tensor_per_s
                         : type == PTX_TF32 ? peak[WORK_TF32].tensor_per_s
                         : type == PTX_F16  ? peak[WORK_F16].tensor_per_s
                         : type == PTX_BF16 ? peak[WORK_BF16].tensor_per_s
                                            : 2 * peak[WORK_F16].tensor_per_s;
    const double vector = 2 * peak[WORK_F64].vector_per_clk_sm / chip->schedulers_per_sm;

    return per_s > 0 ? per_s / chip->clock_hz / chip->nr_sms / chip->schedulers_per_sm : vector;
}

double time_wgmma_share(const struct chip *chip, const struct time_listener *traced)
{
    for (unsigned i = 0; traced != NULL && i < traced->nr_traces; i++)
        if (traced->traces[i]->nr_read > 0)
            return chip->wgmma_share;
    return 1;
}

/* wgmma reaches the datasheet's rates, less what power takes (chip.wgmma_share), where the operands
 * come fast enough: the four warps of a warpgroup work on the four tensor cores side by side, and
 * shared memory gives them B, and A that is not in registers, with 128 bytes a clock. So with A in
 * shared memory n must be 64 at least for the full rate, as Luo et al. found (arXiv 2402.13499,
 * section on wgmma; quoted second-hand). A sparse product takes the time of a dense one of half the
 * depth, as the datasheet's rates say. They also give 128 cycles for m64n256k16, which is its time
 * in the pipe. The warp itself goes on; who waits for the group waits for the pipe, and for some
 * cycles more, taken over from mma.sync. */
static void cost_wgmma(struct pc_cost *cost, const struct inst *in, const struct chip *chip,
    double latency_beside_pipe)
{
    static const double group_rows = 64, smem_per_clk = 128;
    const struct wgmma *g = in->wgmma;
    const double work = 2 * group_rows / 4 * g->n * g->depth / tensor_per_clk(chip, g->a) /
                        chip->wgmma_share,
                 elements = (double)g->n * g->k + (g->a_in_regs ? 0 : group_rows * g->depth),
                 bytes = elements * g->bits / 8;
    double cycles;

    cycles = work > bytes / smem_per_clk ? work : bytes / smem_per_clk;
    time_set_cost(cost, PIPE_TENSOR, cycles + 0.5, cycles + latency_beside_pipe);
    cost->wgmma = cost->async_copy = true;
}

/* The dense rates of the whole chip are those of the datasheet; 8-bit types have twice that of f16.
 * On a Hopper only wgmma reaches these rates: mma.sync reached 62.9% of the peak on average over
 * shapes and types on H800, and takes some 33 cycles as m16n8k16 of f16 (Luo et al., arXiv
 * 2402.13499, tensor core section; both figures are quoted second-hand and have not been checked
 * against that paper's tables). Each chip has its own share. The latency of another shape
 * is that of m16n8k16 with the shape's own time in the pipe: an estimate. */
void time_cost_tensor(struct pc_cost *cost, const struct inst *in, const struct ptx_inst *ptx,
    const struct chip *chip)
{
    static const double latency_beside_pipe = 26;
    enum ptx_type type = ptx->type3 == PTX_NONE ? PTX_F16 : ptx->type2;
    double per_clk = tensor_per_clk(chip, type), cycles;

    if (in->kind == INST_WGMMA_GROUP)
        return;
    if (in->kind == INST_WGMMA) {
        cost_wgmma(cost, in, chip, latency_beside_pipe);
        return;
    }
    if (type != PTX_F64)
        per_clk *= chip->mma_share;
    if (type != PTX_TF32 && type != PTX_BF16 && ptx->type == PTX_F32)
        per_clk *= chip->f32_sum_share;
    cycles = 2.0 * ptx->m * ptx->n * ptx->k / per_clk + 0.5;
    time_set_cost(cost, PIPE_TENSOR, cycles < 1 ? 1 : cycles, cycles + latency_beside_pipe);
}
