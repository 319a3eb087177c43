/* When the machine code of the simulated SM (time_sim.c) is there: before each run of a kernel its
 * caches have none of it. Times are in cycles.
 *
 *     sim_code_init(&code, &in);
 *     there = sim_code_fetch(&code, place, now);
 *     sim_code_finish(&code); */
#ifndef KEET_EMU_TIMING_SIM_CODE_H
#define KEET_EMU_TIMING_SIM_CODE_H

#include "emu/timing/time.h"

struct sim_code {
    struct code_line *lines;
    double scale;   /* instructions of the machine code for one of the model's */
    double latency; /* from a request to a line that nothing has asked for ahead of time */
    bool begun;
    double constants; /* when the constant bank's first line is there; 0: nobody has asked */
};

void sim_code_init(struct sim_code *code, const struct sim_input *in);
void sim_code_finish(struct sim_code *code);
/* When the instruction at pc_cost.place is there that a warp wants at `now`. */
double sim_code_fetch(struct sim_code *code, uint32_t place, double now);
/* The same for the kernel's parameters. */
double sim_code_constants(struct sim_code *code, double now);

#endif
