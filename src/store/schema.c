/* Owns all SQL text: the schema, and every prepared statement. */
#include "store/db.h"

/* Version 1. Names of enums are stored, not numbers, so that the file can be queried by hand.
 * Reals are 8-byte IEEE and come back exactly; NaN is NULL. 64-bit unsigned values are stored as
 * their signed pattern. Hashes are 32 hex digits. launch -1 is the sum of all launches. */
static const char schema_v1[] =
    "CREATE TABLE run ("
    " id INTEGER PRIMARY KEY, kernel_path TEXT NOT NULL, original TEXT NOT NULL,"
    " device TEXT NOT NULL, policy TEXT NOT NULL, version TEXT NOT NULL, seed INTEGER NOT NULL,"
    " budget TEXT NOT NULL, started TEXT NOT NULL, ended TEXT, done INTEGER NOT NULL DEFAULT 0,"
    " why_stopped TEXT);"

    "CREATE TABLE source (hash TEXT PRIMARY KEY, text TEXT NOT NULL) WITHOUT ROWID;"

    "CREATE TABLE node ("
    " id INTEGER PRIMARY KEY, run INTEGER NOT NULL REFERENCES run(id), number INTEGER NOT NULL,"
    " parent INTEGER, seed INTEGER NOT NULL, action TEXT NOT NULL, proposer TEXT NOT NULL,"
    " variant INTEGER NOT NULL, prior REAL NOT NULL, what TEXT, source TEXT REFERENCES "
    "source(hash),"
    " proposal_note TEXT, verdict TEXT NOT NULL, verdict_text TEXT, verdict_line INTEGER NOT NULL,"
    " recalled_from INTEGER, speedup REAL, stored TEXT NOT NULL,"
    " UNIQUE (run, number), FOREIGN KEY (run, parent) REFERENCES node (run, number));"

    /* PTX and cubin themselves live in the compile cache, under their keys. */
    "CREATE TABLE compilation ("
    " node INTEGER PRIMARY KEY REFERENCES node(id), key TEXT, ptx_bytes INTEGER NOT NULL,"
    " ptx_hash TEXT, cubin_bytes INTEGER NOT NULL, cubin_hash TEXT, log TEXT,"
    " compile_ms REAL, cached INTEGER NOT NULL);"
    "CREATE INDEX compilation_key ON compilation (key);"

    "CREATE TABLE kernel ("
    " node INTEGER NOT NULL REFERENCES node(id), seq INTEGER NOT NULL, kernel TEXT, lowered TEXT,"
    " registers INTEGER NOT NULL, stack_bytes INTEGER NOT NULL,"
    " spill_store_bytes INTEGER NOT NULL, spill_load_bytes INTEGER NOT NULL,"
    " smem_static_bytes INTEGER NOT NULL, const_bytes INTEGER NOT NULL,"
    " nr_barriers INTEGER NOT NULL, PRIMARY KEY (node, seq)) WITHOUT ROWID;"

    "CREATE TABLE check_result ("
    " node INTEGER PRIMARY KEY REFERENCES node(id), nr_runs INTEGER NOT NULL,"
    " nr_shapes INTEGER NOT NULL, max_abs REAL, max_rel REAL, q99_rel REAL, worst_array TEXT,"
    " worst_index INTEGER NOT NULL, nondeterministic_allowed INTEGER NOT NULL, note TEXT);"

    "CREATE TABLE measurement ("
    " node INTEGER PRIMARY KEY REFERENCES node(id), nr_launches INTEGER NOT NULL,"
    " longest INTEGER NOT NULL, time_ns REAL, time_low_ns REAL, time_high_ns REAL,"
    " time_from TEXT NOT NULL);"

    "CREATE TABLE launch ("
    " node INTEGER NOT NULL REFERENCES node(id), launch INTEGER NOT NULL, kernel TEXT,"
    " grid_x INTEGER, grid_y INTEGER, grid_z INTEGER, block_x INTEGER, block_y INTEGER,"
    " block_z INTEGER, cluster_x INTEGER, cluster_y INTEGER, cluster_z INTEGER,"
    " smem_bytes INTEGER, blocks_run INTEGER NOT NULL, blocks_all INTEGER NOT NULL,"
    " PRIMARY KEY (node, launch)) WITHOUT ROWID;"

    "CREATE TABLE counter ("
    " node INTEGER NOT NULL REFERENCES node(id), launch INTEGER NOT NULL, metric TEXT NOT NULL,"
    " value REAL, provenance TEXT NOT NULL, PRIMARY KEY (node, launch, metric)) WITHOUT ROWID;"

    "CREATE TABLE line_cost ("
    " node INTEGER NOT NULL REFERENCES node(id), launch INTEGER NOT NULL, line INTEGER NOT NULL,"
    " access_bytes INTEGER NOT NULL, warp_inst REAL, thread_inst REAL, global_requests REAL,"
    " global_sectors REAL, global_sectors_ideal REAL, global_bytes REAL, shared_requests REAL,"
    " shared_wavefronts REAL, shared_wavefronts_ideal REAL, local_requests REAL, atomics REAL,"
    " barriers REAL, branches REAL, branches_divergent REAL, fp64_inst REAL, special_inst REAL,"
    " integer_inst REAL, conversion_inst REAL, stall_cycles REAL,"
    " PRIMARY KEY (node, launch, line)) WITHOUT ROWID;"

    "CREATE TABLE explanation ("
    " node INTEGER PRIMARY KEY REFERENCES node(id), bound TEXT NOT NULL, confidence REAL,"
    " roofline_ns REAL, roofline_share REAL, summary TEXT, unexamined TEXT);"

    "CREATE TABLE finding ("
    " node INTEGER NOT NULL REFERENCES node(id), seq INTEGER NOT NULL, tool TEXT NOT NULL,"
    " severity INTEGER NOT NULL, line INTEGER NOT NULL, text TEXT NOT NULL, share REAL,"
    " max_gain REAL, PRIMARY KEY (node, seq)) WITHOUT ROWID;"

    "CREATE TABLE evidence ("
    " node INTEGER NOT NULL, finding INTEGER NOT NULL, seq INTEGER NOT NULL, metric TEXT NOT NULL,"
    " value REAL, provenance TEXT NOT NULL, PRIMARY KEY (node, finding, seq),"
    " FOREIGN KEY (node, finding) REFERENCES finding (node, seq)) WITHOUT ROWID;"

    "CREATE TABLE weight ("
    " node INTEGER NOT NULL, finding INTEGER NOT NULL, seq INTEGER NOT NULL, action TEXT NOT NULL,"
    " weight REAL NOT NULL, PRIMARY KEY (node, finding, seq),"
    " FOREIGN KEY (node, finding) REFERENCES finding (node, seq)) WITHOUT ROWID;"

    "CREATE TABLE option ("
    " node INTEGER NOT NULL REFERENCES node(id), seq INTEGER NOT NULL, action TEXT NOT NULL,"
    " proposer TEXT NOT NULL, variant INTEGER NOT NULL, prior REAL NOT NULL, what TEXT,"
    " PRIMARY KEY (node, seq)) WITHOUT ROWID;"

    /* Language models fill model_call; lessons across runs fill lesson. */
    "CREATE TABLE model_call ("
    " id INTEGER PRIMARY KEY, run INTEGER NOT NULL REFERENCES run(id),"
    " node INTEGER REFERENCES node(id), model TEXT NOT NULL, prompt TEXT NOT NULL, answer TEXT,"
    " tokens_in INTEGER, tokens_out INTEGER, cost REAL, ms REAL, called TEXT NOT NULL);"
    "CREATE TABLE lesson ("
    " id INTEGER PRIMARY KEY, run INTEGER REFERENCES run(id), action TEXT, device TEXT,"
    " text TEXT NOT NULL, support INTEGER NOT NULL DEFAULT 1, learned TEXT NOT NULL);";

/* Version 2: questions to models and their answers, in full; the order of asking, for picks of
 * which several are under way at once; the circumstances of lessons. */
static const char schema_v2[] =
    /* number is the node's number. node is NULL until the node is stored, and stays NULL when the
     * run ended before that. */
    "ALTER TABLE model_call ADD COLUMN number INTEGER NOT NULL DEFAULT -1;"
    "ALTER TABLE model_call ADD COLUMN seq INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE model_call ADD COLUMN purpose TEXT NOT NULL DEFAULT 'write';"
    "ALTER TABLE model_call ADD COLUMN error TEXT;"
    "ALTER TABLE model_call ADD COLUMN tokens_cached INTEGER;"
    "ALTER TABLE model_call ADD COLUMN tokens_estimated INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE model_call ADD COLUMN verdict TEXT NOT NULL DEFAULT 'ok';"
    "ALTER TABLE model_call ADD COLUMN verdict_text TEXT;"
    "UPDATE model_call SET seq = id;"
    "CREATE UNIQUE INDEX model_call_number ON model_call (run, number, seq);"

    /* nr_told: how many nodes had been told to the search when this node was asked. */
    "CREATE TABLE pick ("
    " run INTEGER NOT NULL REFERENCES run(id), number INTEGER NOT NULL, nr_told INTEGER NOT NULL,"
    " PRIMARY KEY (run, number)) WITHOUT ROWID;"

    "ALTER TABLE lesson ADD COLUMN proposer TEXT NOT NULL DEFAULT 'none';"
    "ALTER TABLE lesson ADD COLUMN bound TEXT NOT NULL DEFAULT 'unknown';"
    "ALTER TABLE lesson ADD COLUMN features INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE lesson ADD COLUMN kernel TEXT NOT NULL DEFAULT '';"
    "ALTER TABLE lesson ADD COLUMN verdict TEXT NOT NULL DEFAULT 'ok';"
    "ALTER TABLE lesson ADD COLUMN gain REAL NOT NULL DEFAULT 0;";

/* Version 3: a call is on record from its beginning, with the cost of its attempts; a run records
 * its models. */
static const char schema_v3[] =
    "ALTER TABLE model_call ADD COLUMN outcome TEXT NOT NULL DEFAULT 'ok';"
    "UPDATE model_call SET outcome = 'failed' WHERE answer IS NULL;"
    "ALTER TABLE model_call ADD COLUMN attempts INTEGER NOT NULL DEFAULT 1;"
    "ALTER TABLE model_call ADD COLUMN lost_in INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE model_call ADD COLUMN lost_out INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE model_call ADD COLUMN waited_ms REAL NOT NULL DEFAULT 0;"
    "ALTER TABLE model_call ADD COLUMN queued_ms REAL NOT NULL DEFAULT 0;"

    /* Models as given, one a line; models that a resumed run adds follow. */
    "ALTER TABLE run ADD COLUMN models TEXT NOT NULL DEFAULT '';";

/* Version 4: how times were taken on a GPU. */
static const char schema_v4[] =
    "CREATE TABLE timing ("
    " node INTEGER PRIMARY KEY REFERENCES node(id), nr_samples INTEGER NOT NULL,"
    " nr_dropped INTEGER NOT NULL, standard_error REAL, baseline_ns REAL, ratio REAL,"
    " ratio_low REAL, ratio_high REAL, refused INTEGER NOT NULL, clock_low_mhz REAL,"
    " clock_high_mhz REAL, baseline_clock_low_mhz REAL, baseline_clock_high_mhz REAL,"
    " temperature_low_c REAL, temperature_high_c REAL, throttle INTEGER NOT NULL, note TEXT);";

/* Version 5: why hardware counters, or the energy, of a measurement are absent. */
static const char schema_v5[] = "ALTER TABLE measurement ADD COLUMN no_counters TEXT;"
                                "ALTER TABLE measurement ADD COLUMN no_energy TEXT;";

/* Version 6: the cycles of waiting at a line by reason. */
static const char schema_v6[] =
    "ALTER TABLE line_cost ADD COLUMN stall_long REAL NOT NULL DEFAULT 0;"
    "ALTER TABLE line_cost ADD COLUMN stall_short REAL NOT NULL DEFAULT 0;"
    "ALTER TABLE line_cost ADD COLUMN stall_barrier REAL NOT NULL DEFAULT 0;"
    "ALTER TABLE line_cost ADD COLUMN stall_wait REAL NOT NULL DEFAULT 0;"
    "ALTER TABLE line_cost ADD COLUMN stall_mio REAL NOT NULL DEFAULT 0;"
    "ALTER TABLE line_cost ADD COLUMN stall_math REAL NOT NULL DEFAULT 0;"
    "ALTER TABLE line_cost ADD COLUMN stall_other REAL NOT NULL DEFAULT 0;";

/* Version 7: the node that a run ended with as its best, by its own objective. */
static const char schema_v7[] = "ALTER TABLE run ADD COLUMN best INTEGER;";

/* Version 8: what a pick was for, and the parent of a pick that follows from the one before;
 * experiences. */
static const char schema_v8[] =
    "ALTER TABLE pick ADD COLUMN kind TEXT NOT NULL DEFAULT 'any';"
    "ALTER TABLE pick ADD COLUMN parent INTEGER;"

    /* What whole runs came to: of --memory files. */
    "CREATE TABLE experience ("
    " id INTEGER PRIMARY KEY, kernel TEXT NOT NULL, device TEXT NOT NULL,"
    " shape TEXT NOT NULL, intensity REAL, speedup REAL, time_ns REAL,"
    " story TEXT NOT NULL, source TEXT NOT NULL, learned TEXT NOT NULL,"
    " UNIQUE (kernel, device, shape, story));";

/* Version 9: the variants that are under way. A row goes when its node is stored. */
static const char schema_v9[] =
    "CREATE TABLE trial ("
    " run INTEGER NOT NULL REFERENCES run(id), number INTEGER NOT NULL, parent INTEGER NOT NULL,"
    " action TEXT NOT NULL, proposer TEXT NOT NULL, what TEXT, stage TEXT NOT NULL,"
    " since_ms INTEGER NOT NULL, PRIMARY KEY (run, number)) WITHOUT ROWID;";

/* Version 10: of the times without a cause, what limits a launch then. */
static const char schema_v10[] = "ALTER TABLE counter ADD COLUMN unit TEXT;"
                                 "ALTER TABLE counter ADD COLUMN unit_pct REAL;"
                                 "ALTER TABLE counter ADD COLUMN wait TEXT;"
                                 "ALTER TABLE counter ADD COLUMN wait_pct REAL;";

/* Version 11: which nodes were compared at the timed sizes; NULL: an older version stored the node,
 * and had compared what it called the best. Nodes whose outcome that comparison changed after the
 * search was told: what it was told, and when it was told otherwise. */
static const char schema_v11[] =
    "ALTER TABLE check_result ADD COLUMN timed INTEGER;"
    "CREATE TABLE revision ("
    " run INTEGER NOT NULL REFERENCES run(id), number INTEGER NOT NULL, nr_told INTEGER NOT NULL,"
    " nr_asked INTEGER NOT NULL, speedup REAL, PRIMARY KEY (run, number)) WITHOUT ROWID;";

const char *const schema_changes[] = {schema_v1, schema_v2, schema_v3, schema_v4, schema_v5,
    schema_v6, schema_v7, schema_v8, schema_v9, schema_v10, schema_v11};
_Static_assert(
    sizeof(schema_changes) / sizeof(schema_changes[0]) == SCHEMA_VERSION, "one a version");

#define COUNTERS_OF_NODE                                                                           \
    "SELECT launch, metric, value, provenance, unit, unit_pct, wait, wait_pct FROM counter"        \
    " WHERE node = ?"

const char *const sql_text[NR_SQL] = {
    [SQL_BEGIN] = "BEGIN IMMEDIATE",
    [SQL_COMMIT] = "COMMIT",
    [SQL_ROLLBACK] = "ROLLBACK",
    [SQL_ADD_RUN] = "INSERT INTO run (kernel_path, original, device, policy, version, seed, budget,"
                    " started, models, done) VALUES (?,?,?,?,?,?,?,?,?,0)",
    [SQL_FIND_RUN] = "SELECT id, kernel_path, original, device, policy, version, seed, budget,"
                     " started, done, models, ended, why_stopped FROM run WHERE ?1 = 0 OR id = ?1"
                     " ORDER BY id DESC LIMIT 1",
    [SQL_LIST_RUNS] = "SELECT id, kernel_path, original, device, policy, version, seed, budget,"
                      " started, done, models, ended, why_stopped FROM run ORDER BY id",
    [SQL_FIND_EQUAL_RUN] = "SELECT id FROM run WHERE original = ? AND device = ? AND policy = ?"
                           " AND version = ? ORDER BY id DESC LIMIT 1",
    [SQL_GO_ON] = "UPDATE run SET models = ?, budget = ?, best = NULL WHERE id = ?",
    [SQL_END_RUN] = "UPDATE run SET done = 1, why_stopped = ?, ended = ?, best = ? WHERE id = ?",
    [SQL_ADD_SOURCE] = "INSERT OR IGNORE INTO source (hash, text) VALUES (?,?)",
    [SQL_ADD_NODE] = "INSERT INTO node (run, number, parent, seed, action, proposer, variant,"
                     " prior, what, source, proposal_note, verdict, verdict_text, verdict_line,"
                     " recalled_from, speedup, stored) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
    [SQL_ADD_COMPILATION] = "INSERT INTO compilation (node, key, ptx_bytes, ptx_hash, cubin_bytes,"
                            " cubin_hash, log, compile_ms, cached) VALUES (?,?,?,?,?,?,?,?,?)",
    [SQL_ADD_KERNEL] = "INSERT INTO kernel VALUES (?,?,?,?,?,?,?,?,?,?,?)",
    [SQL_ADD_CHECK] = "INSERT INTO check_result VALUES (?,?,?,?,?,?,?,?,?,?,?)",
    [SQL_ADD_MEASUREMENT] = "INSERT INTO measurement VALUES (?,?,?,?,?,?,?,?,?)",
    [SQL_ADD_LAUNCH] = "INSERT INTO launch VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
    [SQL_ADD_COUNTER] = "INSERT INTO counter VALUES (?,?,?,?,?,?,?,?,?)",
    [SQL_ADD_LINE] =
        "INSERT INTO line_cost VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,"
        "?,?,?,?)",
    [SQL_ADD_EXPLANATION] = "INSERT INTO explanation VALUES (?,?,?,?,?,?,?)",
    [SQL_ADD_FINDING] = "INSERT INTO finding VALUES (?,?,?,?,?,?,?,?)",
    [SQL_ADD_EVIDENCE] = "INSERT INTO evidence VALUES (?,?,?,?,?,?)",
    [SQL_ADD_WEIGHT] = "INSERT INTO weight VALUES (?,?,?,?,?)",
    [SQL_ADD_OPTION] = "INSERT INTO option VALUES (?,?,?,?,?,?,?)",
    [SQL_GET_NODE] = "SELECT node.id, parent, seed, action, proposer, variant, prior, what,"
                     " proposal_note, verdict, verdict_text, verdict_line, recalled_from, speedup,"
                     " text FROM node LEFT JOIN source ON source.hash = node.source"
                     " WHERE run = ? AND number = ?",
    [SQL_GET_MOVE] = "SELECT id, parent, seed, action, proposer, variant, prior, what,"
                     " proposal_note, verdict, verdict_text, verdict_line, recalled_from, speedup,"
                     " NULL FROM node WHERE run = ? AND number = ?",
    [SQL_GET_COMPILATION] = "SELECT key, log, compile_ms, cached FROM compilation WHERE node = ?",
    [SQL_GET_KERNELS] = "SELECT kernel, lowered, registers, stack_bytes, spill_store_bytes,"
                        " spill_load_bytes, smem_static_bytes, const_bytes, nr_barriers"
                        " FROM kernel WHERE node = ? ORDER BY seq",
    [SQL_GET_CHECK] =
        "SELECT nr_runs, nr_shapes, max_abs, max_rel, q99_rel, worst_array,"
        " worst_index, nondeterministic_allowed, note, coalesce(timed, 1) FROM check_result"
        " WHERE node = ?",
    [SQL_GET_MEASUREMENT] = "SELECT nr_launches, longest, time_ns, time_low_ns, time_high_ns,"
                            " time_from, no_counters, no_energy FROM measurement WHERE node = ?",
    [SQL_ADD_TIMING] = "INSERT INTO timing VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
    [SQL_GET_TIMING] = "SELECT nr_samples, nr_dropped, standard_error, baseline_ns, ratio,"
                       " ratio_low, ratio_high, refused, clock_low_mhz, clock_high_mhz,"
                       " baseline_clock_low_mhz, baseline_clock_high_mhz, temperature_low_c,"
                       " temperature_high_c, throttle, note FROM timing WHERE node = ?",
    [SQL_GET_LAUNCHES] = "SELECT launch, kernel, grid_x, grid_y, grid_z, block_x, block_y, block_z,"
                         " cluster_x, cluster_y, cluster_z, smem_bytes, blocks_run, blocks_all"
                         " FROM launch WHERE node = ? ORDER BY launch",
    [SQL_GET_COUNTERS] = COUNTERS_OF_NODE,
    [SQL_GET_ENERGY] = COUNTERS_OF_NODE
    " AND launch = -1 AND metric IN ('keet__energy.sum', 'keet__energy_low.sum',"
    " 'keet__energy_high.sum')",
    [SQL_GET_LINES] = "SELECT launch, line, access_bytes, warp_inst, thread_inst, global_requests,"
                      " global_sectors, global_sectors_ideal, global_bytes, shared_requests,"
                      " shared_wavefronts, shared_wavefronts_ideal, local_requests, atomics,"
                      " barriers, branches, branches_divergent, fp64_inst, special_inst,"
                      " integer_inst, conversion_inst, stall_cycles, stall_long,"
                      " stall_short, stall_barrier, stall_wait, stall_mio, stall_math,"
                      " stall_other"
                      " FROM line_cost WHERE node = ? ORDER BY launch, line",
    [SQL_GET_EXPLANATION] = "SELECT bound, confidence, roofline_ns, roofline_share, summary,"
                            " unexamined FROM explanation WHERE node = ?",
    [SQL_GET_FINDINGS] = "SELECT tool, severity, line, text, share, max_gain FROM finding"
                         " WHERE node = ? ORDER BY seq",
    [SQL_GET_EVIDENCE] = "SELECT finding, metric, value, provenance FROM evidence"
                         " WHERE node = ? ORDER BY finding, seq",
    [SQL_GET_WEIGHTS] = "SELECT finding, action, weight FROM weight"
                        " WHERE node = ? ORDER BY finding, seq",
    [SQL_GET_OPTIONS] = "SELECT action, proposer, variant, prior, what FROM option"
                        " WHERE node = ? ORDER BY seq",
    [SQL_NR_NODES] = "SELECT count(*) FROM node WHERE run = ?",
    /* By the key first, and the oldest first, so that what is found does not take longer in a
     * larger run: CROSS JOIN keeps SQLite from going through the nodes of the run instead. */
    [SQL_NODE_BY_KEY] = "SELECT node.id, number, verdict, verdict_text, verdict_line, speedup,"
                        " text"
                        " FROM compilation CROSS JOIN node ON node.id = compilation.node"
                        " LEFT JOIN source ON source.hash = node.source"
                        " WHERE key = ?2 AND run = ?1 AND recalled_from IS NULL"
                        " ORDER BY compilation.node LIMIT 1",
    [SQL_REFUSAL_BY_SOURCE] =
        "SELECT number, verdict, verdict_text, verdict_line FROM node WHERE run = ?"
        " AND source = ? AND recalled_from IS NULL"
        " AND verdict IN ('contract', 'no_compile') ORDER BY number LIMIT 1",
    [SQL_HAS_SOURCE] = "SELECT count(*) FROM source WHERE hash = ?",
    [SQL_SOURCE_OF_NODE] = "SELECT text FROM node JOIN source ON source.hash = node.source"
                           " WHERE run = ? AND number = ?",
    [SQL_TREE] = "SELECT number, parent, action, proposer, variant, verdict, speedup, source"
                 " FROM node WHERE run = ? ORDER BY number",
    /* A call keeps its row, and so its place in the order of asking, however often the call is
     * saved. */
    [SQL_ADD_CALL] =
        "INSERT INTO model_call (run, number, node, seq, purpose, model, prompt, answer, error,"
        " outcome, tokens_in, tokens_out, tokens_cached, tokens_estimated, lost_in, lost_out,"
        " attempts, cost, ms, waited_ms, queued_ms, verdict, verdict_text, called)"
        " VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)"
        " ON CONFLICT (run, number, seq) DO UPDATE SET node = excluded.node,"
        " purpose = excluded.purpose, model = excluded.model, prompt = excluded.prompt,"
        " answer = excluded.answer, error = excluded.error, outcome = excluded.outcome,"
        " tokens_in = excluded.tokens_in, tokens_out = excluded.tokens_out,"
        " tokens_cached = excluded.tokens_cached, tokens_estimated = excluded.tokens_estimated,"
        " lost_in = excluded.lost_in, lost_out = excluded.lost_out, attempts = excluded.attempts,"
        " cost = excluded.cost, ms = excluded.ms, waited_ms = excluded.waited_ms,"
        " queued_ms = excluded.queued_ms, verdict = excluded.verdict,"
        " verdict_text = excluded.verdict_text",
    [SQL_GET_CALLS] = "SELECT purpose, model, prompt, answer, error, outcome, tokens_in,"
                      " tokens_out, tokens_cached, tokens_estimated, lost_in, lost_out, attempts,"
                      " cost, ms, waited_ms, queued_ms, verdict, verdict_text"
                      " FROM model_call WHERE run = ? AND number = ? ORDER BY seq",
    [SQL_LIST_CALLS] = "SELECT model_call.number, action, purpose, model, prompt, answer, error,"
                       " outcome, tokens_in, tokens_out, tokens_cached, tokens_estimated, lost_in,"
                       " lost_out, attempts, cost, ms, waited_ms, queued_ms, model_call.verdict,"
                       " model_call.verdict_text FROM model_call"
                       " LEFT JOIN node ON node.id = model_call.node WHERE model_call.run = ?"
                       " ORDER BY model_call.id",
    [SQL_ADD_PICK] = "INSERT OR IGNORE INTO pick (run, number, nr_told, kind, parent)"
                     " VALUES (?,?,?,?,?)",
    [SQL_GET_PICKS] = "SELECT number, nr_told, kind, parent FROM pick WHERE run = ?"
                      " ORDER BY number",
    [SQL_GET_TOLD] = "SELECT number FROM node WHERE run = ? AND number > 0 ORDER BY id",
    [SQL_FIND_NODE] = "SELECT id FROM node WHERE run = ? AND number = ?",
    [SQL_REVISE_NODE] = "UPDATE node SET verdict = ?, verdict_text = ?, verdict_line = ?,"
                        " speedup = ? WHERE id = ?",
    [SQL_FORGET_WEIGHTS] = "DELETE FROM weight WHERE node = ?",
    [SQL_FORGET_EVIDENCE] = "DELETE FROM evidence WHERE node = ?",
    [SQL_FORGET_FINDINGS] = "DELETE FROM finding WHERE node = ?",
    [SQL_FORGET_EXPLANATION] = "DELETE FROM explanation WHERE node = ?",
    [SQL_FORGET_LINES] = "DELETE FROM line_cost WHERE node = ?",
    [SQL_FORGET_COUNTERS] = "DELETE FROM counter WHERE node = ?",
    [SQL_FORGET_LAUNCHES] = "DELETE FROM launch WHERE node = ?",
    [SQL_FORGET_TIMING] = "DELETE FROM timing WHERE node = ?",
    [SQL_FORGET_MEASUREMENT] = "DELETE FROM measurement WHERE node = ?",
    [SQL_FORGET_CHECK] = "DELETE FROM check_result WHERE node = ?",
    [SQL_ADD_REVISION] = "INSERT OR IGNORE INTO revision (run, number, nr_told, nr_asked, speedup)"
                         " VALUES (?,?,?,?,?)",
    [SQL_GET_REVISIONS] = "SELECT number, nr_told, nr_asked, speedup FROM revision WHERE run = ?"
                          " ORDER BY nr_told, nr_asked, number",
    [SQL_ADD_TRIAL] = "INSERT OR REPLACE INTO trial (run, number, parent, action, proposer, what,"
                      " stage, since_ms) VALUES (?,?,?,?,?,?,?,?)",
    [SQL_END_TRIAL] = "DELETE FROM trial WHERE run = ? AND number = ?",
    [SQL_END_TRIALS] = "DELETE FROM trial WHERE run = ?",
    [SQL_LIST_TRIALS] = "SELECT number, parent, action, proposer, what, stage, since_ms FROM trial"
                        " WHERE run = ? ORDER BY number",
    [SQL_ADD_LESSON] = "INSERT INTO lesson (run, action, device, text, learned, proposer, bound,"
                       " features, kernel, verdict, gain) VALUES (?,?,?,?,?,?,?,?,?,?,?)",
    [SQL_GET_LESSONS] = "SELECT action, device, text, proposer, bound, features, kernel, verdict,"
                        " gain FROM lesson WHERE ? = 0 OR run = ? ORDER BY id",
    [SQL_ADD_EXPERIENCE] = "INSERT OR REPLACE INTO experience (kernel, device, shape, intensity,"
                           " speedup, time_ns, story, source, learned) VALUES (?,?,?,?,?,?,?,?,?)",
    [SQL_GET_EXPERIENCES] = "SELECT kernel, device, shape, intensity, speedup, time_ns, story,"
                            " source FROM experience ORDER BY id",
    [SQL_GET_TRIED] = "SELECT number, action, proposer, variant, what, verdict, verdict_text,"
                      " speedup FROM node WHERE run = ? AND parent = ? ORDER BY number",
    [SQL_DIGEST_VERDICTS] = "SELECT verdict, count(*), count(*) - count(recalled_from) FROM node"
                            " WHERE run = ? AND number > 0 GROUP BY verdict",
    /* The node that the run ended with. Before the end: the fastest of the nodes that were compared
     * at the timed sizes; the interval of its speedup must exclude 1 where an interval is known. */
    [SQL_DIGEST_BEST] =
        "SELECT number, speedup, time_ns, time_from FROM node JOIN run ON run.id = node.run"
        " JOIN measurement ON measurement.node = node.id LEFT JOIN timing ON timing.node = node.id"
        " LEFT JOIN check_result ON check_result.node = node.id"
        " WHERE run = ? AND verdict = 'ok' AND (number = 0 OR number IS best OR ((ratio IS NULL"
        " OR ratio <= 0 OR ratio_low > 1) AND timed IS NOT 0))"
        " ORDER BY number IS best DESC, speedup DESC, number LIMIT 1",
    [SQL_DIGEST_CALLS] =
        "SELECT count(*), total(tokens_in + lost_in), total(tokens_out + lost_out),"
        " total(cost), count(*) - count(cost), total(purpose = 'repair'"
        " AND verdict NOT IN ('declined', 'no_answer') AND outcome NOT IN ('" CALL_ASKED
        "', '" CALL_LOOK_UP "', '" CALL_NO_TOOLS
        "') AND node IS NOT NULL) FROM model_call WHERE run = ?",
    [SQL_DIGEST_FILL] = "SELECT count(*) FROM node JOIN pick USING (run, number) WHERE run = ?"
                        " AND kind = 'fill' AND recalled_from IS NULL",
    [SQL_LIST_SPEEDS] = "SELECT number, parent, action, what, verdict, verdict_text, speedup,"
                        " time_ns FROM node LEFT JOIN measurement ON measurement.node = node.id"
                        " WHERE run = ? ORDER BY number",
};
