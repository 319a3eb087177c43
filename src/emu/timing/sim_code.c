/* Owns when machine code and parameters get to the simulated SM. A measured run follows a memset
 * that leaves nothing else in L2, so both come from DRAM. Code comes in lines of 128 bytes, eight
 * instructions. Whoever asks for a line makes the next ones come, too: CODE_AHEAD lines are under
 * way at a time. Fitted to launches of a few microseconds on an H100, whose threads run through
 * some hundred instructions once (bench/time/found.txt, half `fit`: batchnorm_relu, group_norm,
 * conv2d without clusters); straight code so comes at ten cycles an instruction.
 *
 * Where ptxas makes less code than the model thinks, the lines are as many as ptxas makes. Where
 * it makes more, the more is loops that it unrolls on paths that are seldom taken. */
#include "emu/timing/sim_code.h"

#include "base/mem.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>

enum { LINE_INSTS = 8, CODE_AHEAD = 8 };

struct code_line {
    bool known;
    double wanted, there; /* when a warp asked for it first, when it came */
};

void sim_code_init(struct sim_code *code, const struct sim_input *in)
{
    const unsigned insts = in->run->launch->machine_insts;

    *code = (struct sim_code){.latency = in->run->chip->lat_dram};
    code->scale = insts > 0 ? fmin(1, insts / fmax(1, in->nr_places)) : 1;
    code->lines =
        xcalloc((size_t)(in->nr_places * code->scale / LINE_INSTS) + 1, sizeof(*code->lines));
}

void sim_code_finish(struct sim_code *code)
{
    free(code->lines);
}

double sim_code_fetch(struct sim_code *code, uint32_t place, double now)
{
    const size_t nr = (size_t)(place * code->scale / LINE_INSTS);
    struct code_line *line = &code->lines[nr];

    if (line->known)
        return line->there;
    *line = (struct code_line){true, now, now + code->latency};
    for (size_t back = 1; back <= CODE_AHEAD && back <= nr && line[-(ptrdiff_t)back].known; back++)
        line->there = line[-(ptrdiff_t)back].wanted + code->latency;
    if (!code->begun) /* the launch waits for the first line */
        *line = (struct code_line){true, now - code->latency, now};
    code->begun = true;
    line->there = fmax(line->there, now);
    return line->there;
}

double sim_code_constants(struct sim_code *code, double now)
{
    if (code->constants == 0)
        code->constants = now + code->latency;
    return code->constants;
}
