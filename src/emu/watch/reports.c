/* Owns the lists of what sanitizers found. */
#include "emu/watch/reports.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

static struct noted *find(
    struct reports *reports, enum emu_check check, uint32_t pc, uint32_t other)
{
    for (size_t i = 0; i < reports->nr; i++) {
        struct noted *n = &reports->items[i];
        if (n->report.check == check && n->pc == pc && n->other == other)
            return n;
    }
    return NULL;
}

static void add(struct reports *reports, const struct noted *noted)
{
    struct noted *n = find(reports, noted->report.check, noted->pc, noted->other);
    if (!n) {
        reports->items = grow(reports->items, &reports->cap, reports->nr + 1, sizeof(*n));
        reports->items[reports->nr++] = *noted;
        return;
    }
    const uint64_t times = n->report.times + noted->report.times;
    if (noted->report.block < n->report.block)
        *n = *noted;
    n->report.times = times;
}

void reports_add(struct reports *reports, enum emu_check check, const struct emu_fault *fault)
{
    struct noted noted = {.pc = fault->pc, .other = fault->other};
    noted.report = (struct emu_report){.check = check,
        .verdict = fault->verdict,
        .line = fault->line,
        .block = fault->block,
        .times = 1};
    memcpy(noted.report.text, fault->text, sizeof(noted.report.text));
    add(reports, &noted);
}

void reports_lowest(struct emu_fault *into, const struct emu_fault *from, size_t nr)
{
    for (size_t i = 0; i < nr; i++) {
        if (from[i].verdict != VERDICT_OK &&
            (into[i].verdict == VERDICT_OK || from[i].block < into[i].block))
            into[i] = from[i];
    }
}

void reports_found(struct reports *reports, enum emu_check check, const struct emu_fault *found,
    size_t nr, struct emu_result *result)
{
    const struct emu_fault *first = NULL;

    for (size_t i = 0; i < nr; i++) {
        if (found[i].verdict == VERDICT_OK)
            continue;
        if (reports)
            reports_add(reports, check, &found[i]);
        if (!first || found[i].block < first->block)
            first = &found[i];
    }
    if (!first || reports || result->verdict != VERDICT_OK)
        return;
    result->verdict = first->verdict;
    result->line = first->line;
    memcpy(result->text, first->text, sizeof(result->text));
}

void reports_merge(struct reports *into, const struct reports *from)
{
    for (size_t i = 0; i < from->nr; i++)
        add(into, &from->items[i]);
}

static int by_block(const void *a, const void *b)
{
    const struct noted *x = a, *y = b;
    if (x->report.block != y->report.block)
        return x->report.block < y->report.block ? -1 : 1;
    if (x->report.check != y->report.check)
        return x->report.check < y->report.check ? -1 : 1;
    if (x->pc != y->pc)
        return x->pc < y->pc ? -1 : 1;
    return x->other < y->other ? -1 : x->other > y->other;
}

void reports_finish(
    struct reports *reports, unsigned max, struct arena *arena, struct emu_result *result)
{
    unsigned nr[NR_EMU_CHECKS] = {0};

    if (reports->nr)
        qsort(reports->items, reports->nr, sizeof(*reports->items), by_block);
    struct emu_report *list = arena_array(arena, reports->nr + 1, sizeof(*list));
    for (size_t i = 0; i < reports->nr; i++) {
        const struct emu_report *r = &reports->items[i].report;
        if (nr[r->check]++ < max)
            list[result->nr_reports++] = *r;
        else
            result->nr_more[r->check]++;
    }
    result->reports = list;
    if (result->verdict == VERDICT_OK && result->nr_reports) {
        result->verdict = list[0].verdict;
        result->line = list[0].line;
        memcpy(result->text, list[0].text, sizeof(result->text));
    }
}

void reports_destroy(struct reports *reports)
{
    free(reports->items);
    *reports = (struct reports){0};
}
