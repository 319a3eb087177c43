/* A candidate with every field filled, by number and seed. To be included by one file of tests. */
#ifndef KEET_TESTS_FULL_CANDIDATE_H
#define KEET_TESTS_FULL_CANDIDATE_H

#include "base/rng.h"
#include "core/candidate.h"
#include "store/db.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void fill_lines(struct arena *arena, struct counters *counters, unsigned nr, struct rng *rng)
{
    counters->lines = arena_array(arena, nr, sizeof(*counters->lines));
    counters->nr_lines = nr;
    for (unsigned i = 0; i < nr; i++) {
        struct line_cost *line = &counters->lines[i];

        *line = (struct line_cost){.line = 3 + 2 * i, .access_bytes = 4 + i};
        for (size_t k = 0; k < nr_line_cost_fields; k++) {
            *(double *)((char *)line + line_cost_fields[k]) = rng_unit(rng) * 1e9;
        }
    }
}

static void fill_counters(struct arena *arena, struct counters *counters, struct rng *rng)
{
    *counters = (struct counters){.blocks_run = rng_next(rng), .blocks_all = rng_next(rng)};
    for (unsigned m = 0; m < NR_METRICS; m++) {
        if (m % 5 != 4) { /* every fifth absent */
            counters_set(counters, (enum metric)m, rng_normal(rng) / 3,
                (enum provenance)(1 + rng_below(rng, NR_PROVENANCES - 1)));
        }
    }
    fill_lines(arena, counters, 3, rng);
}

static void fill_findings(struct arena *arena, struct explanation *explanation, struct rng *rng)
{
    explanation->findings = arena_array(arena, 2, sizeof(*explanation->findings));
    explanation->nr_findings = 2;
    for (unsigned i = 0; i < 2; i++) {
        struct finding *finding = &explanation->findings[i];

        *finding = (struct finding){.tool = i ? "tail" : "coalescing",
            .severity = i ? SEVERITY_INFO : SEVERITY_CRITICAL,
            .line = 9 * i,
            .share = rng_unit(rng),
            .max_gain = 1 / rng_unit(rng),
            .nr_evidence = i ? 1 : FINDING_MAX_EVIDENCE,
            .nr_weights = i ? 0 : FINDING_MAX_WEIGHTS};
        memset(finding->text, 'a' + (int)i, FINDING_TEXT_BYTES - 1);
        for (unsigned k = 0; k < finding->nr_evidence; k++) {
            finding->evidence[k] =
                (struct evidence){(enum metric)(7 * k), rng_normal(rng), PROV_SAMPLED};
        }
        for (unsigned k = 0; k < finding->nr_weights; k++) {
            finding->weights[k] = (struct weight){(enum action)(2 * k), (float)rng_unit(rng)};
        }
    }
}

static void fill_options(struct arena *arena, struct candidate *c, unsigned nr, struct rng *rng)
{
    c->options = arena_array(arena, nr, sizeof(*c->options));
    c->nr_options = nr;
    for (unsigned i = 0; i < nr; i++) {
        c->options[i] = (struct option){.action = (enum action)(i % NR_ACTIONS),
            .proposer = i % 2 ? PROPOSER_TUNER : PROPOSER_REWRITER,
            .variant = i,
            .prior = (float)rng_unit(rng),
            .what = arena_printf(arena, "option %u with 'quotes' and \"more\"; --", i)};
    }
}

/* A candidate with every part filled. */
static struct candidate full_candidate(struct arena *arena, int64_t node, uint64_t seed)
{
    struct rng rng;
    struct candidate c = {.arena = arena, .node = node, .parent = node - 1, .recalled_from = -1};

    rng_seed(&rng, seed, 0);
    c.seed = rng_next(&rng) | 1ull << 63;
    c.option = (struct option){node ? ACTION_SHARED_TILE : ACTION_NONE,
        node ? PROPOSER_REWRITER : PROPOSER_NONE, 7, 0.1f, "tile the loop at line 9"};
    c.source = arena_printf(
        arena, "// %llu\n__global__ void f() {}\n// caf\xc3\xa9 '\n", (unsigned long long)seed);
    c.source_bytes = strlen(c.source);
    c.proposal_note = "staged A and B";
    c.compilation = (struct compilation){.ptx = ".version 8.0",
        .ptx_bytes = 12,
        .cubin = "\x7f"
                 "ELF",
        .cubin_bytes = 4,
        .log = "ptxas info",
        .key = {seed + 1, 2},
        .compile_ms = 12.25,
        .cached = true};
    c.compilation.kernels = arena_array(arena, 2, sizeof(*c.compilation.kernels));
    c.compilation.nr_kernels = 2;
    c.compilation.kernels[0] =
        (struct kernel_facts){"f<float>", "_Z1fIfEvv", 32, 1, 2, 3, 4096, 5, 1, 0, false};
    c.compilation.kernels[1] = (struct kernel_facts){"g", NULL, 255, 0, 0, 0, 0, 0, 0, 0, false};
    c.check = (struct check_result){9, 3, 0, 1e-7, (double)INFINITY, 0.1 + 0.2, "C", UINT64_MAX,
        true, false, "compared 9 runs"};
    c.profiled = true;
    c.profile = (struct profile){.nr_launches = 2,
        .longest = 1,
        .time_ns = 12345.678,
        .time_low_ns = 1.0 / 3,
        .time_high_ns = 1e300,
        .time_from = PROV_MODELLED,
        .no_counters = "CUPTI: the driver gives counters to administrators only",
        .timing = {31, 2, 0.004, 54321.5, 1.0 / 7, 0.1, 0.2, true, 1700, 1755, 1740, 1980, 44, 61,
            UINT64_C(1) << 63 | 4, "the clocks differ"}};
    c.profile.launches = arena_array(arena, 2, sizeof(*c.profile.launches));
    c.profile.configs = arena_array(arena, 2, sizeof(*c.profile.configs));
    for (unsigned i = 0; i < 2; i++) {
        fill_counters(arena, &c.profile.launches[i], &rng);
        c.profile.configs[i] = (struct launch_config){
            i ? "g" : "f<float>", {1024, 2, 3 + i}, {256, 1, 1}, {1, 1, 1}, 48 * i};
    }
    fill_counters(arena, &c.profile.total, &rng);
    c.explanation = (struct explanation){.bound = BOUND_LATENCY,
        .confidence = 0.7,
        .roofline_ns = 100.5,
        .roofline_share = 0.01,
        .summary = "It waits.",
        .unexamined = "divergence"};
    fill_findings(arena, &c.explanation, &rng);
    fill_options(arena, &c, 12, &rng);
    c.speedup = 3.0000000000000004;
    return c;
}

#endif
