/* Owns the line programs of DWARF 2 to 4: addresses of instructions to lines of the kernel's file.
 */
#include "nv/cubin_bytes.h"

#include "base/mem.h"

#include <stdlib.h>

/* Standard opcodes and extended ones, DWARF 4, 7.21; the last is NVIDIA's. */
enum {
    LNS_COPY = 1,
    LNS_ADVANCE_PC,
    LNS_ADVANCE_LINE,
    LNS_SET_FILE,
    LNS_SET_COLUMN,
    LNS_NEGATE_STMT,
    LNS_SET_BASIC_BLOCK,
    LNS_CONST_ADD_PC,
    LNS_FIXED_ADVANCE_PC,
    LNE_END_SEQUENCE = 1,
    LNE_SET_ADDRESS = 2,
    LNE_NVIDIA_INLINED = 0x90
};

enum { MAX_DEPTH = 64, NO_SECTION = UINT32_MAX };

/* A row as the program gives it; its code may be inlined at an earlier row of the sequence. */
struct raw_row {
    uint64_t address;
    uint32_t file, line;
    uint32_t context; /* the number of that earlier row, from 1; 0: the code is not inlined */
};

struct machine {
    struct bytes all; /* up to the end of the unit */
    uint64_t at;      /* offset in `all` */
    const struct cubin_place *places;
    size_t nr_places;
    uint8_t min_inst_bytes, line_range, opcode_base;
    int8_t line_base;
    /* registers */
    uint64_t address;
    uint32_t file, line, context, section;
    struct raw_row *raw;
    size_t nr_raw, cap_raw;
};

static uint8_t next(struct machine *m)
{
    return m->at < m->all.len ? m->all.at[m->at++] : 0;
}

/* LEB128 (DWARF 4, 7.6): the bits read, sign not extended. */
static uint64_t next_bits(struct machine *m, unsigned *nr_bits, bool *negative)
{
    uint64_t value = 0;
    uint8_t byte;

    *nr_bits = 0;
    do {
        byte = next(m);
        if (*nr_bits < 64)
            value |= (uint64_t)(byte & 0x7f) << *nr_bits;
        *nr_bits += 7;
    } while ((byte & 0x80) != 0 && m->at < m->all.len);
    *negative = (byte & 0x40) != 0;
    return value;
}

static uint64_t next_unsigned(struct machine *m)
{
    unsigned nr_bits;
    bool negative;

    return next_bits(m, &nr_bits, &negative);
}

static int64_t next_signed(struct machine *m)
{
    unsigned nr_bits;
    bool negative;
    uint64_t value = next_bits(m, &nr_bits, &negative);

    if (nr_bits < 64 && negative)
        value |= ~UINT64_C(0) << nr_bits;
    return (int64_t)value;
}

static void start_sequence(struct machine *m)
{
    m->address = 0;
    m->file = 1;
    m->line = 1;
    m->context = 0;
    m->section = NO_SECTION;
    m->nr_raw = 0;
}

static void emit(struct machine *m)
{
    m->raw = grow(m->raw, &m->cap_raw, m->nr_raw + 1, sizeof(*m->raw));
    m->raw[m->nr_raw++] = (struct raw_row){m->address, m->file, m->line, m->context};
}

/* The line of a row in `file`: its own line, or the line of the nearest row at which it is inlined.
 */
static uint32_t line_in(const struct machine *m, size_t i, uint32_t file)
{
    for (int depth = 0; depth < MAX_DEPTH; depth++) {
        const struct raw_row *row = &m->raw[i];

        if (row->file == file)
            return row->line;
        if (row->context == 0 || row->context > m->nr_raw)
            return 0;
        i = row->context - 1;
    }
    return 0;
}

/* The file of the kernel is that of its first row that is not inlined. */
static void end_sequence(struct machine *m, struct cubin_lines *lines)
{
    uint32_t file = 1;

    for (size_t i = 0; i < m->nr_raw; i++) {
        if (m->raw[i].context == 0) {
            file = m->raw[i].file;
            break;
        }
    }
    for (size_t i = 0; m->section != NO_SECTION && i < m->nr_raw; i++) {
        lines->rows = grow(lines->rows, &lines->cap_rows, lines->nr + 1, sizeof(*lines->rows));
        lines->sections =
            grow(lines->sections, &lines->cap_sections, lines->nr + 1, sizeof(*lines->sections));
        lines->rows[lines->nr] = (struct cubin_row){m->raw[i].address, line_in(m, i, file)};
        lines->sections[lines->nr++] = m->section;
    }
    start_sequence(m);
}

static void set_address(struct machine *m, uint64_t operand)
{
    size_t low = 0, high = m->nr_places;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (m->places[middle].offset < operand)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < m->nr_places && m->places[low].offset == operand) {
        m->section = m->places[low].section;
        m->address = m->places[low].value;
    }
}

static void extended(struct machine *m, struct cubin_lines *lines)
{
    const uint64_t len = next_unsigned(m), start = m->at;
    uint8_t op;

    if (len == 0 || len > m->all.len - start) {
        m->at = m->all.len;
        return;
    }
    op = next(m);
    if (op == LNE_END_SEQUENCE)
        end_sequence(m, lines);
    else if (op == LNE_SET_ADDRESS)
        set_address(m, m->at);
    else if (op == LNE_NVIDIA_INLINED)
        m->context = (uint32_t)next_unsigned(m);
    m->at = start + len;
}

static void advance(struct machine *m, unsigned adjusted)
{
    m->address += (uint64_t)(adjusted / m->line_range) * m->min_inst_bytes;
}

static void standard(struct machine *m, uint8_t op, const uint8_t *nr_operands)
{
    switch (op) {
    case LNS_COPY:
        emit(m);
        break;
    case LNS_ADVANCE_PC:
        m->address += next_unsigned(m) * m->min_inst_bytes;
        break;
    case LNS_ADVANCE_LINE:
        m->line = (uint32_t)((uint64_t)m->line + (uint64_t)next_signed(m));
        break;
    case LNS_SET_FILE:
        m->file = (uint32_t)next_unsigned(m);
        break;
    case LNS_CONST_ADD_PC:
        advance(m, 255u - m->opcode_base);
        break;
    case LNS_FIXED_ADVANCE_PC:
        m->address += bytes_number(m->all, m->at, 2);
        m->at += 2;
        break;
    default: /* the header tells how to skip an unknown opcode */
        for (unsigned i = 0; i < nr_operands[op - 1]; i++)
            next_unsigned(m);
        break;
    }
}

/* One unit: header, then program. False: not understood. */
static bool run_unit(
    struct machine *m, struct bytes section, uint64_t unit, uint64_t end, struct cubin_lines *lines)
{
    const unsigned version = (unsigned)bytes_number(section, unit + 4, 2);
    const uint64_t program = unit + 10 + bytes_number(section, unit + 6, 4);
    const uint64_t fields = unit + 10 + (version >= 4 ? 1 : 0);
    struct bytes counts;

    m->min_inst_bytes = (uint8_t)bytes_number(section, unit + 10, 1);
    m->line_base = (int8_t)bytes_number(section, fields + 2, 1);
    m->line_range = (uint8_t)bytes_number(section, fields + 3, 1);
    m->opcode_base = (uint8_t)bytes_number(section, fields + 4, 1);
    if (version < 2 || version > 4 || m->line_range == 0 || m->opcode_base == 0 || program > end)
        return false;
    counts = bytes_part(section, fields + 5, m->opcode_base - 1u);
    if (counts.len != m->opcode_base - 1u)
        return false;
    m->all = bytes_part(section, 0, end);
    m->at = program;
    start_sequence(m);
    while (m->at < m->all.len) {
        const uint8_t op = next(m);

        if (op == 0) {
            extended(m, lines);
        } else if (op < m->opcode_base) {
            standard(m, op, counts.at);
        } else {
            advance(m, (unsigned)(op - m->opcode_base));
            m->line =
                (uint32_t)((int64_t)m->line + m->line_base + (op - m->opcode_base) % m->line_range);
            emit(m);
        }
    }
    return true;
}

void cubin_lines_read(struct bytes debug_line, const struct cubin_place *places, size_t nr_places,
    struct cubin_lines *lines)
{
    struct machine m = {.places = places, .nr_places = nr_places};
    uint64_t unit = 0;

    while (unit + 10 <= debug_line.len) {
        const uint64_t len = bytes_number(debug_line, unit, 4);

        /* A length of 0xffffffff and no less than 0xfffffff0 means something else; ptxas does not
         * write it. */
        if (len < 6 || len > debug_line.len - unit - 4 ||
            !run_unit(&m, debug_line, unit, unit + 4 + len, lines))
            break;
        unit += 4 + len;
    }
    free(m.raw);
}
