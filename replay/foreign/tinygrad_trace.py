#!/usr/bin/env python3
"""Records what the original tinygrad's compiler does into a .uoptrace file, for uopscope's window and command line.

  python tinygrad_trace.py record SCRIPT.py [-o OUT.uoptrace] [-- ARGS]     run a script under the recorder
  python tinygrad_trace.py convert [rewrites.pkl] [-o OUT.uoptrace]         a trace that VIZ=1 or TRACK_MATCH_STATS=2 saved

Stand-alone: needs Python 3.10 with sqlite3, and the tinygrad (0.12.0 or newer) it is run beside. It hooks functions of
tinygrad while a script runs and changes no file of it.

What the original cannot tell stays empty: a failed match is counted as one whose structure differs, whether its pattern
or its function refused; a saved pickle has neither counts nor kernels' texts nor times of passes. `meta` says so under
"foreign". Invariant: rows follow docs/guide/trace-format.md; nodes are stored once, by content, sources first.
"""
import argparse, ast, atexit, functools, json, os, pathlib, pickle, platform, runpy, sqlite3, sys, time, weakref, zlib

# --- the schema: made from replay/schema/trace.sql
SCHEMA = r"""
-- A trace of uopscope. docs/guide/trace-format.md explains it with example queries.
-- Times are integer nanoseconds since the recording began; every column that holds one ends in _ns, and they are, with
-- the keys of meta that begin with "time.", all that two recordings of one deterministic script differ in.
-- Ids are dense, begin with 1 and are given in the order of events. NULL means "none".
-- Whatever reads SQLite answers by plain values; texts, their lines and programs are all that is packed: v_line, artifact,
-- text_line and instruction need sqlar_uncompress(X, size), every other view needs nothing. Views with the names of tables of
-- older versions (decline, matcher_rule, artifact ...) let one query read old and new files; older.sql has those that differ.
PRAGMA application_id = 0x554f5053; -- "UOPS"

-- What was recorded, how, and how it ended.
CREATE TABLE meta (
  key TEXT NOT NULL PRIMARY KEY, -- "status", "tier", "script", "command", "version", "env", "git.commit", "time.began" ...
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Names and messages, each stored once.
CREATE TABLE string (
  id INTEGER PRIMARY KEY,
  value TEXT NOT NULL
) STRICT;

-- Source files that scopes, passes, rules and origins point into.
CREATE TABLE file (
  id INTEGER PRIMARY KEY,
  path TEXT NOT NULL, -- as compiled, or as Python names it
  text TEXT           -- content at the time of recording; the script has it
) STRICT;

-- Operations of the engine that recorded.
CREATE TABLE op (
  id INTEGER PRIMARY KEY, -- as in kind.op
  name TEXT NOT NULL      -- "ADD"
) STRICT;

-- Data types in use.
CREATE TABLE dtype (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL -- as printed: "dtypes.float.vec(4)"
) STRICT;

-- Arguments and tags in use.
CREATE TABLE arg (
  id INTEGER PRIMARY KEY,
  value TEXT NOT NULL -- one line, the form Arg::decode reads
) STRICT;

-- What a node is but for its sources. Few are different, so a node's row is short.
CREATE TABLE kind (
  id INTEGER PRIMARY KEY,
  op INTEGER NOT NULL,    -- op.id
  dtype INTEGER NOT NULL, -- dtype.id
  arg INTEGER,            -- arg.id
  tag INTEGER             -- arg.id
) STRICT;

-- Rewrite rules met.
CREATE TABLE rule (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  file INTEGER NOT NULL, -- file.id
  line INTEGER NOT NULL,
  text TEXT NOT NULL,    -- source text
  pattern TEXT NOT NULL  -- the pattern, printed from its data
) STRICT;

-- Phases of work: the script, a schedule, the lowering of a kernel.
CREATE TABLE scope (
  id INTEGER PRIMARY KEY,
  parent INTEGER,            -- scope.id
  kind TEXT NOT NULL,        -- "script", "schedule", "kernel" or "other"
  name INTEGER NOT NULL,     -- string.id
  file INTEGER,              -- file.id: line of the script that asked for it
  line INTEGER NOT NULL,
  root INTEGER,              -- node.id: what is scheduled or compiled; NULL: no pass ran in it
  begin_ns INTEGER NOT NULL,
  end_ns INTEGER             -- NULL: had not ended when the trace did
) STRICT;

-- One graph_rewrite. A pass that runs inside a rule of another one has a parent; of those, passes without a step are not stored.
CREATE TABLE pass (
  id INTEGER PRIMARY KEY,
  scope INTEGER,               -- scope.id
  parent INTEGER,              -- pass.id
  parent_steps INTEGER NOT NULL, -- steps the parent had made when this began
  name INTEGER NOT NULL,       -- string.id
  file INTEGER NOT NULL,       -- file.id: who called graph_rewrite
  line INTEGER NOT NULL,
  root INTEGER,                -- node.id: the graph it began with
  end_root INTEGER,            -- node.id: the graph it ended with; NULL: failed, or not ended
  first_step INTEGER NOT NULL, -- its steps have ids from here ...
  last_step INTEGER,           -- ... to here, with those of nested passes in between
  step_count INTEGER,          -- its own steps, without nested passes; NULL: not ended
  outcome TEXT,                -- "done", "failed" or "stopped"; NULL: not ended
  message INTEGER,             -- string.id: of the failure
  begin_ns INTEGER NOT NULL,
  end_ns INTEGER,
  matcher INTEGER, -- matcher.id of the way up
  matcher_down INTEGER -- matcher.id of the way down
) STRICT;

-- What a rule that failed said.
CREATE TABLE step_error (
  step INTEGER PRIMARY KEY, -- step.id
  message TEXT NOT NULL
) STRICT;

-- Nodes a bottom-up pass did not descend into because a rule said so.
CREATE TABLE gate (
  pass INTEGER NOT NULL, -- pass.id
  node INTEGER NOT NULL, -- node.id
  step INTEGER NOT NULL, -- step.id of the next step: the gate holds from there on
  PRIMARY KEY (pass, node)
) STRICT, WITHOUT ROWID;

-- Kernels run.
CREATE TABLE launch (
  id INTEGER PRIMARY KEY,
  scope INTEGER,            -- scope.id it happened in
  kernel INTEGER NOT NULL,  -- string.id
  device INTEGER NOT NULL,  -- string.id
  flops INTEGER NOT NULL,
  bytes INTEGER NOT NULL,
  begin_ns INTEGER NOT NULL,
  took_ns INTEGER NOT NULL,
  compiled INTEGER, -- scope.id of the kernel's lowering; NULL: a copy, or lowered before the recording
  accessed INTEGER, -- bytes of all loads and stores, those from caches too
  buffers TEXT -- JSON array of buffer.id, in order of the kernel's parameters
) STRICT;

-- Attempts to match in the whole trace, written when it ends: the sum of match_pass and packed_time, spelled out.
CREATE TABLE match_total (
  rule INTEGER NOT NULL,            -- rule.id
  op INTEGER NOT NULL,              -- op.id of the node tried
  rejected_early INTEGER NOT NULL,  -- its type, or the operations or number of its sources, rule the node out
  structure_differs INTEGER NOT NULL,
  declined INTEGER NOT NULL,        -- by the rule's function or condition
  applied INTEGER NOT NULL,
  unchanged INTEGER NOT NULL,       -- the rule answered with the node itself
  rejected_early_ns INTEGER NOT NULL,    -- estimated from a sample, as the next one
  structure_differs_ns INTEGER NOT NULL,
  declined_ns INTEGER NOT NULL,     -- of functions and what they called, as the next two
  applied_ns INTEGER NOT NULL,
  unchanged_ns INTEGER NOT NULL,
  PRIMARY KEY (rule, op)
) STRICT, WITHOUT ROWID;

-- The rules of a pass in the order they are tried; many passes share a matcher.
CREATE TABLE matcher (
  id INTEGER PRIMARY KEY, -- pass.matcher, pass.matcher_down
  rules TEXT NOT NULL     -- JSON array of rule.id
) STRICT;

-- Rules that matched and answered with the node itself: attempts without effect.
CREATE TABLE unchanged (
  pass INTEGER NOT NULL, -- pass.id
  rule INTEGER NOT NULL, -- rule.id
  node INTEGER NOT NULL, -- node.id
  step INTEGER NOT NULL, -- step.id of the next step
  PRIMARY KEY (pass, rule, node)
) STRICT, WITHOUT ROWID;

-- What is known of a kernel besides its texts; sizes are numbers, or expressions where they depend on variables.
CREATE TABLE kernel (
  scope INTEGER PRIMARY KEY, -- scope.id
  device TEXT NOT NULL,
  opts TEXT NOT NULL,        -- JSON array of the optimisations applied
  global_size TEXT NOT NULL, -- JSON array: launch sizes
  local_size TEXT NOT NULL,
  ops ANY,                   -- arithmetic operations of a launch
  bytes ANY,                 -- of the buffers touched
  accessed ANY,              -- bytes of all loads and stores
  registers INTEGER          -- of a thread; NULL: not known
) STRICT;

-- Parts of a scope that took time: "lower", "render", "compile", "disassemble".
CREATE TABLE phase (
  id INTEGER PRIMARY KEY,
  scope INTEGER,         -- scope.id
  name INTEGER NOT NULL, -- string.id
  begin_ns INTEGER NOT NULL,
  took_ns INTEGER NOT NULL
) STRICT;

-- Memory of tensors. What the memory planner lets share an arena are views of one buffer.
CREATE TABLE buffer (
  id INTEGER PRIMARY KEY,
  device INTEGER NOT NULL,  -- string.id
  dtype INTEGER NOT NULL,   -- string.id
  bytes INTEGER NOT NULL,
  base INTEGER,             -- buffer.id of what it is a view of; NULL: memory of its own
  offset INTEGER NOT NULL,  -- bytes into the base
  begin_ns INTEGER NOT NULL, -- when it was allocated
  end_ns INTEGER             -- when it was freed; NULL: not before the end, or a view
) STRICT;

-- Ways of optimising a kernel that a search tried.
CREATE TABLE candidate (
  id INTEGER PRIMARY KEY,
  scope INTEGER,       -- scope.id of the kernel
  opts TEXT NOT NULL,  -- JSON array
  message TEXT,        -- why it was not timed
  took_ns INTEGER      -- NULL: did not run
) STRICT;

-- What the script wrote.
CREATE TABLE output (
  id INTEGER PRIMARY KEY,
  scope INTEGER,         -- scope.id it happened in
  stream TEXT NOT NULL,  -- "stdout" or "stderr"
  text TEXT NOT NULL,
  at_ns INTEGER NOT NULL
) STRICT;

-- Tensor operations of the script and the nodes they made.
CREATE TABLE origin (
  id INTEGER NOT NULL,        -- in order of events
  node INTEGER NOT NULL,      -- node.id
  operation INTEGER NOT NULL, -- string.id: "conv2d"
  file INTEGER,               -- file.id
  line INTEGER NOT NULL,
  PRIMARY KEY (node, id)
) STRICT, WITHOUT ROWID;

-- Reasons of steps: what the compiler decided, in words; for a choice its price, and what else there was. Most steps need
-- none: their rule says it all.
CREATE TABLE decision (
  id INTEGER PRIMARY KEY,
  step INTEGER NOT NULL, -- step.id of the rewrite it explains
  reason TEXT NOT NULL,  -- "cut at 1024: four operations hang on it"
  price REAL,            -- of what was chosen; NULL: not a matter of price
  unit TEXT,             -- of the prices: "cycles a result"
  others TEXT            -- JSON array of {"what", "price"}: the best of what was not chosen, cheapest first
) STRICT;

-- Reasons that rules gave for declining a node whose structure they match, each different set once.
CREATE TABLE decline_set (
  id INTEGER PRIMARY KEY,
  cells TEXT NOT NULL -- JSON array: for each reason its cause.id less the one before, alone where it was given once, else in an array with the number of times
) STRICT;

-- Causes of declining.
CREATE TABLE cause (
  id INTEGER PRIMARY KEY,
  rule INTEGER NOT NULL,  -- rule.id
  reason INTEGER NOT NULL -- string.id: "y is a constant"
) STRICT;

-- What rules declined in a pass that is not nested, and in those nested in it.
CREATE TABLE decline_pass (
  pass INTEGER PRIMARY KEY, -- pass.id of the outermost pass
  declines INTEGER NOT NULL -- decline_set.id
) STRICT;

-- One applied rewrite. Ids are the order in which the engine made them.
CREATE TABLE step (
  id INTEGER PRIMARY KEY,
  pass INTEGER NOT NULL,   -- pass.id
  rule INTEGER NOT NULL,   -- rule.id
  before INTEGER NOT NULL, -- node.id
  gain INTEGER,            -- after less before, which is shorter; NULL: the rule failed
  kind INTEGER NOT NULL,   -- 0 on the way up, 1 on the way down (before the sources were rewritten), 2 REWRITE_ERROR
  took_ns INTEGER NOT NULL,
  after INTEGER AS (before + gain) -- node.id; equal to before: the rule answered with the node itself; NULL: the rule failed
) STRICT;

-- Every node that is part of a recorded graph, once, however many passes and kernels made it; ids without gaps, sources
-- before users. One that was not met for millions of nodes may be there again. v_node and v_edge spell it out.
CREATE TABLE node_block (
  first INTEGER PRIMARY KEY, -- node.id of the first one; the others follow, up to the next multiple of 1024
  count INTEGER NOT NULL,    -- of nodes
  width INTEGER NOT NULL,    -- bytes of a number in used: two or three
  used BLOB NOT NULL,        -- kind.id of the kinds in this block, lowest byte first
  kinds BLOB NOT NULL,       -- for each node the place of its kind in used, from 0, lowest byte first: length(kinds) / count bytes, one or two
  src BLOB NOT NULL          -- for each node its sources in order: (id - source) * 2, plus 1 if more follow, as LEB128 (7 bits a byte, low first, high bit: more); 0: no sources
) STRICT;

-- Rules that nodes of an operation are tried with.
CREATE TABLE match_tried (
  id INTEGER PRIMARY KEY,
  rules TEXT NOT NULL -- JSON array of rule.id
) STRICT;

-- Attempts at nodes of one operation in one pass; passes that came to the same share it.
CREATE TABLE match_group (
  id INTEGER PRIMARY KEY,
  op INTEGER NOT NULL,    -- op.id of the nodes tried
  tried INTEGER NOT NULL, -- match_tried.id
  times INTEGER NOT NULL, -- attempts rejected early of each rule that is not in cells
  cells TEXT NOT NULL     -- JSON array, for each other rule: [its place in rules from 0, rejected early, structure differs, declined, applied, unchanged], zeros at the end left out
) STRICT;

-- Attempts in one pass at all operations.
CREATE TABLE match_set (
  id INTEGER PRIMARY KEY,
  groups TEXT NOT NULL -- JSON array of match_group.id
) STRICT;

-- Attempts to match in passes that are not nested, and in the passes nested in them, summed per name.
CREATE TABLE match_pass (
  pass INTEGER NOT NULL,     -- pass.id of the outermost pass
  nested INTEGER NOT NULL,   -- string.id of the nested pass's name; 0: the pass itself
  attempts INTEGER NOT NULL, -- match_set.id
  PRIMARY KEY (pass, nested)
) STRICT, WITHOUT ROWID;

-- What attempts of passes took; match_total has the sums.
CREATE TABLE packed_time (
  first INTEGER PRIMARY KEY, -- pass.id of the first pass in it
  last INTEGER NOT NULL,     -- and of the last
  size INTEGER NOT NULL,     -- bytes of times
  times BLOB NOT NULL        -- packed LEB128, for each row of match_pass in these: pass less the last one's (the first: less 0), nested, bytes that follow; for each rule and operation that took time its place in the row's groups, from 1, less the last one's, a mask of the values that are not 0, those values in units of 32 ns, in the order of rules
) STRICT;

-- Texts that belong to scopes, with the instructions their lines are made of: where they lie in their block.
CREATE TABLE text (
  id INTEGER PRIMARY KEY,
  scope INTEGER,               -- scope.id
  kind INTEGER NOT NULL,       -- string.id
  block INTEGER NOT NULL,      -- text_block.id
  at INTEGER NOT NULL,         -- byte of the block's texts it begins with, from 0
  size INTEGER NOT NULL,       -- bytes
  lines_at INTEGER NOT NULL,   -- likewise, in the block's lines
  lines_size INTEGER NOT NULL  -- bytes of JSON: for each line an array of positions in the kernel's program, each less the one before; 0: nothing is known of the lines
) STRICT;

-- Texts of one kind, one after the other.
CREATE TABLE text_block (
  id INTEGER PRIMARY KEY,
  size INTEGER NOT NULL,       -- bytes of texts
  texts BLOB NOT NULL,         -- packed
  lines_size INTEGER NOT NULL, -- bytes of lines
  lines BLOB NOT NULL          -- packed
) STRICT;

-- The linear program of a kernel: what renderers write down.
CREATE TABLE packed_program (
  kernel INTEGER PRIMARY KEY, -- scope.id
  count INTEGER NOT NULL,     -- of instructions
  size INTEGER NOT NULL,      -- bytes of nodes
  nodes BLOB NOT NULL         -- packed JSON: an array of node.id, each but the first as the difference to the one before
) STRICT;

-- The rules of a pass in the order they are tried, a rule a row: matcher (matcher.id), position (from 1), rule.
CREATE VIEW matcher_rule AS
  SELECT matcher.id AS matcher, item.key + 1 AS position, item.value AS rule FROM matcher, json_each(matcher.rules) AS item;

-- Reasons of rules for declining a node whose structure they match, with the number of times, per outermost pass (what is nested in it counts with it): pass, rule, reason (string.id), count.
CREATE VIEW decline AS
  WITH cell(id, cause, count) AS MATERIALIZED (
    SELECT decline_set.id, sum(iif(item.type = 'array', json_extract(item.value, '$[0]'), item.value)) OVER (PARTITION BY decline_set.id ORDER BY item.key),
           iif(item.type = 'array', json_extract(item.value, '$[1]'), 1) FROM decline_set, json_each(decline_set.cells) AS item)
  SELECT decline_pass.pass, cause.rule, cause.reason, cell.count
  FROM decline_pass JOIN cell ON cell.id = decline_pass.declines JOIN cause ON cause.id = cell.cause;

-- Steps of a pass in order, found by its range of ids: SELECT * FROM pass_step WHERE pass = 7.
CREATE VIEW pass_step AS
  SELECT step.id, pass.id AS pass, row_number() OVER (PARTITION BY pass.id ORDER BY step.id) AS k,
         step.rule, step.before, step.after, step.kind, step.took_ns
  FROM pass JOIN step ON step.id BETWEEN pass.first_step AND coalesce(pass.last_step, 9223372036854775807) AND step.pass = pass.id;

-- Steps with the names of what they belong to: SELECT rule, count(*) FROM v_rewrite WHERE kernel = 'r_16_16' GROUP BY 1.
CREATE VIEW v_rewrite AS
  SELECT step.id, scope.id AS scope, kernel.value AS kernel, pass.id AS pass, name.value AS pass_name, rule.name AS rule,
         file.path AS file, rule.line, step.before, step.after,
         CASE step.kind WHEN 0 THEN 'up' WHEN 1 THEN 'down' ELSE 'error' END AS way, step_error.message, step.took_ns
  FROM step JOIN pass ON pass.id = step.pass JOIN string AS name ON name.id = pass.name JOIN rule ON rule.id = step.rule
  JOIN file ON file.id = rule.file LEFT JOIN scope ON scope.id = pass.scope LEFT JOIN string AS kernel ON kernel.id = scope.name
  LEFT JOIN step_error ON step_error.step = step.id;

-- Passes with names, places, and why they ended.
CREATE VIEW v_pass AS
  SELECT pass.id, pass.parent, pass.scope, owner.value AS scope_name, name.value AS name, file.path AS file, pass.line,
         pass.root, pass.end_root, pass.step_count AS steps, coalesce(pass.outcome, 'not ended') AS outcome, message.value AS message,
         pass.begin_ns, pass.end_ns - pass.begin_ns AS took_ns
  FROM pass JOIN string AS name ON name.id = pass.name JOIN file ON file.id = pass.file
  LEFT JOIN scope ON scope.id = pass.scope LEFT JOIN string AS owner ON owner.id = scope.name
  LEFT JOIN string AS message ON message.id = pass.message;

-- Runs of kernels and copies with what they achieved.
CREATE VIEW v_launch AS
  SELECT launch.id, kernel.value AS kernel, launch.compiled, device.value AS device, launch.flops, launch.bytes, launch.accessed, launch.buffers,
         launch.begin_ns, launch.took_ns, round(1.0 * launch.flops / nullif(launch.took_ns, 0), 3) AS gflops,
         round(1.0 * launch.bytes / nullif(launch.took_ns, 0), 3) AS gb_per_s
  FROM launch JOIN string AS kernel ON kernel.id = launch.kernel JOIN string AS device ON device.id = launch.device;

-- Match statistics of the whole trace by rule and operation.
CREATE VIEW v_match AS
  SELECT rule.id AS rule, rule.name, file.path AS file, rule.line, op.name AS op, applied + unchanged AS matches,
         rejected_early + structure_differs + declined + applied + unchanged AS attempts,
         rejected_early, structure_differs, declined, applied, unchanged, applied_ns + unchanged_ns AS match_ns,
         rejected_early_ns + structure_differs_ns + declined_ns + applied_ns + unchanged_ns AS total_ns
  FROM match_total JOIN rule ON rule.id = match_total.rule JOIN file ON file.id = rule.file JOIN op ON op.id = match_total.op;

-- Which instruction, and which node, a line of a kernel's text is made of.
CREATE VIEW v_line AS
  SELECT artifact.scope AS kernel, kind.value AS text, text_line.line, text_line.instruction, instruction.node
  FROM text_line JOIN artifact ON artifact.id = text_line.artifact JOIN string AS kind ON kind.id = artifact.kind
  JOIN instruction ON instruction.kernel = artifact.scope AND instruction.position = text_line.instruction;

-- Tensor operations of the script and the nodes they made.
CREATE VIEW v_origin AS
  SELECT origin.node, operation.value AS operation, file.path AS file, origin.line
  FROM origin JOIN string AS operation ON operation.id = origin.operation LEFT JOIN file ON file.id = origin.file;

-- Memory of tensors with the names of devices.
CREATE VIEW v_buffer AS
  SELECT buffer.id, device.value AS device, dtype.value AS dtype, buffer.bytes, buffer.base, buffer.offset, buffer.begin_ns, buffer.end_ns
  FROM buffer JOIN string AS device ON device.id = buffer.device JOIN string AS dtype ON dtype.id = buffer.dtype;

-- Where the time went: schedules, phases of kernels, launches.
CREATE VIEW v_phase AS
  SELECT 'schedule' AS phase, count(*) AS times, sum(end_ns - begin_ns) AS took_ns FROM scope WHERE kind = 'schedule'
  UNION ALL SELECT name.value, count(*), sum(took_ns) FROM phase JOIN string AS name ON name.id = phase.name GROUP BY name.value
  UNION ALL SELECT 'run', count(*), sum(took_ns) FROM launch;

-- Decisions with the pass and the kernel they were made in.
CREATE VIEW v_decision AS
  SELECT decision.id, decision.step, scope.id AS scope, kernel.value AS kernel, name.value AS pass_name, rule.name AS rule,
         decision.reason, decision.price, decision.unit, decision.others
  FROM decision JOIN step ON step.id = decision.step JOIN pass ON pass.id = step.pass JOIN string AS name ON name.id = pass.name
  JOIN rule ON rule.id = step.rule LEFT JOIN scope ON scope.id = pass.scope LEFT JOIN string AS kernel ON kernel.id = scope.name;

-- Reasons with the names of kernel, pass and rule.
CREATE VIEW v_decline AS
  SELECT decline.pass, scope.id AS scope, kernel.value AS kernel, name.value AS pass_name, rule.name AS rule,
         reason.value AS reason, decline.count
  FROM decline JOIN pass ON pass.id = decline.pass JOIN string AS name ON name.id = pass.name JOIN rule ON rule.id = decline.rule
  JOIN string AS reason ON reason.id = decline.reason LEFT JOIN scope ON scope.id = pass.scope
  LEFT JOIN string AS kernel ON kernel.id = scope.name;

-- Text that belongs to a scope: "source", "ir", "asm", "uops", "opts", "launch" (JSON): id, scope, kind (string.id), text.
CREATE VIEW artifact AS
  WITH whole AS MATERIALIZED (SELECT id, sqlar_uncompress(texts, size) AS texts FROM text_block)
  SELECT text.id, text.scope, text.kind, CAST(substr(whole.texts, text.at + 1, text.size) AS TEXT) AS text
  FROM text JOIN whole ON whole.id = text.block;

-- Which instructions a line of a kernel's source, IR or assembly is made of: artifact (artifact.id), line (from 1), instruction (instruction.position in the same kernel).
CREATE VIEW text_line AS
  WITH whole AS MATERIALIZED (SELECT id, sqlar_uncompress(lines, lines_size) AS lines FROM text_block WHERE lines_size > 0)
  SELECT text.id AS artifact, line.key + 1 AS line,
         sum(item.value) OVER (PARTITION BY text.id ORDER BY line.key, item.key) AS instruction
  FROM text JOIN whole ON whole.id = text.block, json_each(CAST(substr(whole.lines, text.lines_at + 1, text.lines_size) AS TEXT)) AS line,
       json_each(line.value) AS item
  WHERE text.lines_size > 0;

-- Linear programs, an instruction a row: kernel (scope.id), position (from 0), node (node.id).
CREATE VIEW instruction AS
  SELECT kernel, item.key AS position, sum(item.value) OVER (PARTITION BY kernel ORDER BY item.key) AS node
  FROM packed_program, json_each(CAST(sqlar_uncompress(nodes, size) AS TEXT)) AS item;

-- Every byte once, in order: instr(all_of, b) - 1 is the number of a byte.
CREATE VIEW byte AS SELECT X'000102030405060708090A0B0C0D0E0F101112131415161718191A1B1C1D1E1F202122232425262728292A2B2C2D2E2F303132333435363738393A3B3C3D3E3F404142434445464748494A4B4C4D4E4F505152535455565758595A5B5C5D5E5F606162636465666768696A6B6C6D6E6F707172737475767778797A7B7C7D7E7F808182838485868788898A8B8C8D8E8F909192939495969798999A9B9C9D9E9FA0A1A2A3A4A5A6A7A8A9AAABACADAEAFB0B1B2B3B4B5B6B7B8B9BABBBCBDBEBFC0C1C2C3C4C5C6C7C8C9CACBCCCDCECFD0D1D2D3D4D5D6D7D8D9DADBDCDDDEDFE0E1E2E3E4E5E6E7E8E9EAEBECEDEEEFF0F1F2F3F4F5F6F7F8F9FAFBFCFDFEFF' AS all_of;

-- Nodes by what they are: SELECT op, count(*) FROM v_node GROUP BY op.
CREATE VIEW v_node AS
  WITH RECURSIVE at(k) AS (SELECT 0 UNION ALL SELECT k + 1 FROM at WHERE k < 1023),
  place(id, at, width, used, all_of) AS (
    SELECT first + k, width * CASE length(kinds) WHEN count THEN instr(all_of, substr(kinds, k + 1, 1)) - 1
           ELSE instr(all_of, substr(kinds, 2 * k + 1, 1)) - 1 + 256 * (instr(all_of, substr(kinds, 2 * k + 2, 1)) - 1) END, width, used, all_of
    FROM node_block CROSS JOIN byte CROSS JOIN at ON k < count),
  numbered(id, kind) AS (
    SELECT id, instr(all_of, substr(used, at + 1, 1)) - 1 + 256 * (instr(all_of, substr(used, at + 2, 1)) - 1)
           + CASE width WHEN 3 THEN 65536 * (instr(all_of, substr(used, at + 3, 1)) - 1) ELSE 0 END FROM place)
  SELECT numbered.id, op.name AS op, dtype.name AS dtype, arg.value AS arg, tag.value AS tag, numbered.kind
  FROM numbered CROSS JOIN kind ON kind.id = numbered.kind CROSS JOIN op ON op.id = kind.op CROSS JOIN dtype ON dtype.id = kind.dtype
  LEFT JOIN arg ON arg.id = kind.arg LEFT JOIN arg AS tag ON tag.id = kind.tag;

-- Edges of all graphs: node, position of the source (from 0), source. A graph is what can be reached from its root.
CREATE VIEW v_edge AS
  WITH RECURSIVE walk(rest, node, position, number, scale) AS ( -- scale 0: the number is complete
    SELECT src, first, 0, 0, 1 FROM node_block
    UNION ALL
    SELECT substr(rest, 2), node + (scale = 0 AND number & 1 = 0),
           CASE WHEN scale > 0 THEN position WHEN number & 1 THEN position + 1 ELSE 0 END,
           CASE scale WHEN 0 THEN 0 ELSE number END + max(scale, 1) * ((instr(all_of, substr(rest, 1, 1)) - 1) & 127),
           CASE WHEN substr(rest, 1, 1) < X'80' THEN 0 ELSE max(scale, 1) * 128 END
    FROM walk JOIN byte WHERE length(rest) > 0)
  SELECT node, position, node - (number >> 1) AS source FROM walk WHERE scale = 0 AND number > 1;

-- Arguments by part, "Range(0;REDUCE)" is 0 and REDUCE of a Range: arg (arg.id), head, position of the part (from 0), part. An argument without parts has one.
CREATE VIEW v_arg_part AS
  WITH RECURSIVE split(arg, head, rest, position, part, depth, quoted) AS ( -- a character a row
    SELECT id, CASE WHEN value GLOB '[A-Za-z(]*)' THEN substr(value, 1, instr(value, '(') - 1) END,
           CASE WHEN value GLOB '[A-Za-z(]*)' THEN substr(value, instr(value, '(') + 1, length(value) - instr(value, '(') - 1) ELSE value END,
           0, '', 0, 0 FROM arg WHERE length(value) < 5000
    UNION ALL
    SELECT arg, head, substr(rest, 2), position + (depth = 0 AND NOT quoted AND substr(rest, 1, 1) IN (',', char(59))),
           CASE WHEN depth = 0 AND NOT quoted AND substr(rest, 1, 1) IN (',', char(59)) THEN '' ELSE part || substr(rest, 1, 1) END,
           depth + CASE WHEN quoted THEN 0 WHEN substr(rest, 1, 1) IN ('(', '[', '{') THEN 1 WHEN substr(rest, 1, 1) IN (')', ']', '}') THEN -1 ELSE 0 END,
           CASE substr(rest, 1, 1) WHEN '''' THEN NOT quoted ELSE quoted END
    FROM split WHERE rest <> '')
  SELECT arg, head, position, part FROM split
  WHERE rest = '' OR (depth = 0 AND NOT quoted AND substr(rest, 1, 1) IN (',', char(59)));

-- Kernels: where they come from, what became of them, what they cost.
CREATE VIEW v_kernel AS
  SELECT scope.id, name.value AS name, file.path AS file, scope.line, scope.root,
         (SELECT sum(step_count) FROM pass WHERE pass.scope = scope.id) AS steps,
         kernel.opts, kernel.device, kernel.global_size, kernel.local_size, kernel.registers, kernel.ops, kernel.bytes,
         coalesce(packed_program.count, 0) AS instructions,
         scope.end_ns - scope.begin_ns AS took_ns
  FROM scope JOIN string AS name ON name.id = scope.name LEFT JOIN file ON file.id = scope.file
  LEFT JOIN kernel ON kernel.scope = scope.id LEFT JOIN packed_program ON packed_program.kernel = scope.id
  WHERE scope.kind = 'kernel';

-- Attempts by pass, kernel, rule, operation and outcome: SELECT rule, sum(count) FROM v_match_pass WHERE kernel = 'r_16_16' AND outcome = 'applied' GROUP BY rule.
CREATE VIEW v_match_pass AS
  WITH exception(attempts, place, early, differs, declined, applied, unchanged) AS MATERIALIZED (
    SELECT match_group.id, json_extract(item.value, '$[0]'), json_extract(item.value, '$[1]'), json_extract(item.value, '$[2]'),
           json_extract(item.value, '$[3]'), json_extract(item.value, '$[4]'), json_extract(item.value, '$[5]')
    FROM match_group, json_each(match_group.cells) AS item),
  cell(attempts, op, rule, early, differs, declined, applied, unchanged) AS MATERIALIZED (
    SELECT match_group.id, match_group.op, tried.value, iif(exception.place IS NULL, match_group.times, exception.early),
           exception.differs, exception.declined, exception.applied, exception.unchanged
    FROM match_group JOIN match_tried ON match_tried.id = match_group.tried JOIN json_each(match_tried.rules) AS tried
    LEFT JOIN exception ON exception.attempts = match_group.id AND exception.place = tried.key),
  attempt(attempts, op, rule, outcome, count) AS MATERIALIZED (
    SELECT attempts, op, rule, 'rejected_early', early FROM cell WHERE early > 0
    UNION ALL SELECT attempts, op, rule, 'structure_differs', differs FROM cell WHERE differs > 0
    UNION ALL SELECT attempts, op, rule, 'declined', declined FROM cell WHERE declined > 0
    UNION ALL SELECT attempts, op, rule, 'applied', applied FROM cell WHERE applied > 0
    UNION ALL SELECT attempts, op, rule, 'unchanged', unchanged FROM cell WHERE unchanged > 0)
  SELECT match_pass.pass, coalesce(nested.value, name.value) AS pass_name, scope.id AS scope, kernel.value AS kernel,
         rule.name AS rule, rule.id AS rule_id, op.name AS op, attempt.outcome, attempt.count
  FROM match_pass CROSS JOIN match_set ON match_set.id = match_pass.attempts CROSS JOIN json_each(match_set.groups) AS part
  CROSS JOIN attempt ON attempt.attempts = part.value
  CROSS JOIN pass ON pass.id = match_pass.pass CROSS JOIN string AS name ON name.id = pass.name
  CROSS JOIN rule ON rule.id = attempt.rule CROSS JOIN op ON op.id = attempt.op
  LEFT JOIN string AS nested ON nested.id = match_pass.nested
  LEFT JOIN scope ON scope.id = pass.scope LEFT JOIN string AS kernel ON kernel.id = scope.name;

-- What a decision did not choose, cheapest first: decision (decision.id), position, what, price.
CREATE VIEW v_alternative AS
  SELECT decision.id AS decision, decision.step, decision.reason, decision.price AS chosen_price, decision.unit, other.key AS position,
         json_extract(other.value, '$.what') AS what, json_extract(other.value, '$.price') AS price
  FROM decision, json_each(decision.others) AS other;

-- Runs of each kernel on each device: how many, and what the fastest, the mean and the slowest took.
CREATE VIEW v_launch_time AS
  SELECT kernel.value AS kernel, device.value AS device, count(*) AS launches, min(launch.took_ns) AS least_ns,
         CAST(avg(launch.took_ns) AS INTEGER) AS mean_ns, max(launch.took_ns) AS most_ns, sum(launch.took_ns) AS total_ns,
         round(1.0 * sum(launch.flops) / nullif(sum(launch.took_ns), 0), 3) AS gflops,
         round(1.0 * sum(launch.bytes) / nullif(sum(launch.took_ns), 0), 3) AS gb_per_s
  FROM launch JOIN string AS kernel ON kernel.id = launch.kernel JOIN string AS device ON device.id = launch.device
  GROUP BY launch.kernel, launch.device;
"""
# --- end of the schema

TIME_UNIT = 32  # nanoseconds, of packed_time
APPLICATION, VERSION = 0x554f5053, 6
KNOWN_SETTINGS = ("DEV", "CPU", "CLANG", "LLVM", "CUDA", "NULL", "NOOPT", "BEAM", "TRANSCENDENTAL", "DEVECTORIZE", "SPEC",
                  "DEFAULT_FLOAT", "PCONTIG", "SPLIT_REDUCEOP", "TC", "JIT", "SEED")


def packed(value):
    """(size, packed bytes), as docs/guide/trace-format.md has it."""
    value = value.encode(errors="replace") if isinstance(value, str) else bytes(value)
    small = zlib.compress(value) if len(value) >= 32 else value
    return len(value), small if len(small) < len(value) else value


def leb128(number):
    out = bytearray()
    while number >= 128:
        out.append(number & 127 | 128)
        number >>= 7
    out.append(number)
    return bytes(out)


def text_of_arg(arg):
    """One line that uopscope reads back; what it has no form for is shown as a string."""
    name = type(arg).__name__
    if arg is None: return ""
    if isinstance(arg, bool): return "true" if arg else "false"
    if type(arg) is int: return str(arg) if -2**63 <= arg < 2**63 else ascii(str(arg))
    if isinstance(arg, float): return repr(arg) if arg == arg else "nan(7ff8000000000000)"
    if isinstance(arg, str): return ascii(arg)
    if name in ("InvalidType", "Invalid"): return "Invalid"
    if name == "Ops": return "@" + arg.name
    if name == "KernelInfo":
        opts = lambda some: "[" + ",".join(text_of_opt(o) for o in some) + "]"
        try:
            return "Kernel(%s;%s;%d;%s;%s)" % (ascii(arg.name), ",".join(a.name for a in arg.axis_types), bool(arg.dont_use_locals),
                                               opts(arg.applied_opts), "-" if arg.opts_to_apply is None else opts(arg.opts_to_apply))
        except Exception: return ascii(str(arg))
    if name == "BufferizeOpts":
        device = arg.device if isinstance(arg.device, str) else "" if arg.device is None else str(arg.device)
        return "Bufferize(%s;%s;%d)" % (ascii(device), arg.addrspace.name, bool(arg.removable))
    if name == "Kernel": return ascii("a kernel of " + ", ".join(str(m) for m in arg.metadata))
    if isinstance(arg, tuple):
        ints = lambda some: ",".join(str(i) for i in some)
        plain = lambda some: all(type(i) is int and -2**63 <= i < 2**63 for i in some)
        if plain(arg): return "(" + ints(arg) + ")"
        if all(isinstance(i, bool) for i in arg): return "(" + ints(map(int, arg)) + ")"
        if all(isinstance(i, str) for i in arg): return "{" + ",".join(ascii(i) for i in arg) + "}"
        if type(arg[-1]).__name__ == "AxisType" and plain(arg[:-1]): return "Range(%s;%s)" % (ints(arg[:-1]), arg[-1].name)
        if len(arg) == 2 and type(arg[0]).__name__ == "Ops" and isinstance(arg[1], tuple) and plain(arg[1]):
            return "Reduce(%s;%s)" % (arg[0].name, ints(arg[1]))
        if len(arg) == 3 and isinstance(arg[0], str) and plain(arg[1:]): return "Var(%s;%d;%d)" % (ascii(arg[0]), arg[1], arg[2])
        if all(isinstance(i, tuple) and len(i) == 2 and plain(i) for i in arg):
            return "(" + ints(x for pair in arg for x in pair) + ")"
        if all(isinstance(i, (int, float)) for i in arg): return "Consts(" + ",".join(text_of_arg(i) for i in arg) + ")"
    return ascii(str(arg)[:2000])


def text_of_dtype(dtype):
    """The shape of a scalar is a vector of no indexes: a type that nothing has a value of."""
    return str(dtype) if getattr(dtype, "count", 1) else "dtypes.void"


def text_of_opt(opt):
    parts = [opt.op.name, "-1" if opt.axis is None else str(opt.axis)]
    parts += [str(a) for a in (opt.arg if isinstance(opt.arg, tuple) else () if opt.arg is None else (opt.arg,))]
    return ":".join(parts)


class Trace:
    """The file: gives ids in the order of events and writes rows in large transactions."""

    def __init__(self, path, script, tier="full"):
        for ending in ("", "-wal", "-shm", "-journal"):
            pathlib.Path(path + ending).unlink(missing_ok=True)
        try:
            self.db = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
            self.db.executescript("PRAGMA page_size = 512; PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF;" + SCHEMA +
                                  f"PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {VERSION};")
        except sqlite3.Error as e: raise SystemExit(f"tinygrad_trace: {path}: cannot be written: {e}")
        self.path, self.start, self.last_commit = path, time.perf_counter_ns(), time.monotonic()
        self.strings, self.files, self.dtypes, self.args, self.kinds, self.ops, self.nodes, self.rules = {}, {}, {}, {}, {}, {}, {}, {}
        self.block, self.count, self.counts = [], 0, {}
        self.steps = self.passes = self.scopes = self.matchers = self.artifacts = 0
        self.origins, self.matcher_ids = set(), {}
        self.shared_rows = {}
        self.db.execute("BEGIN")
        self.meta("status", "recording")
        self.meta("tier", tier)
        self.meta("script", os.path.abspath(script) if script else "")
        self.meta("cwd", os.getcwd())
        self.meta("command", json.dumps(sys.argv))
        self.meta("machine", platform.platform())
        self.meta("env", json.dumps({k: os.environ[k] for k in sorted(KNOWN_SETTINGS) if k in os.environ}))
        self.meta("time.began", time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()))
        self.meta("time.pid", str(os.getpid()))
        self.commit()

    def row(self, table, *values):
        self.db.execute(f"INSERT INTO {table} VALUES ({','.join('?' * len(values))})", values)

    def meta(self, key, value): self.db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, value))
    def now(self): return time.perf_counter_ns() - self.start

    def numbered(self, table, known, value, *more):
        if value not in known:
            known[value] = len(known) + 1
            self.row(table, known[value], value, *more)
        return known[value]

    def string(self, text): return self.numbered("string", self.strings, str(text))

    def file(self, path):
        path = str(path)
        if path in self.files: return self.files[path]
        text = None
        if path.endswith(".py"):
            try: text = pathlib.Path(path).read_text()[:1 << 20]
            except (OSError, UnicodeDecodeError): pass
        return self.numbered("file", self.files, path, text)

    def rule(self, location, source, pattern=""):
        key = (str(location[0]), int(location[1]), pattern)
        if key not in self.rules:
            self.rules[key] = len(self.rules) + 1
            name = f"{os.path.basename(key[0])}:{key[1]}"
            self.row("rule", self.rules[key], name, self.file(key[0]), key[1], source, pattern)
        return self.rules[key]

    def node(self, op, dtype, arg, tag, sources):
        """Number of a node with sources that have numbers."""
        if op not in self.ops:
            self.ops[op] = len(self.ops)
            self.row("op", self.ops[op], op)
        arg, tag = text_of_arg(arg), text_of_arg(tag)
        kind = (self.ops[op], self.numbered("dtype", self.dtypes, text_of_dtype(dtype)), self.numbered("arg", self.args, arg) if arg else None,
                self.numbered("arg", self.args, tag) if tag else None)
        if kind not in self.kinds:
            self.kinds[kind] = len(self.kinds) + 1
            self.row("kind", self.kinds[kind], *kind)
        key = (self.kinds[kind], sources)
        if key not in self.nodes:
            self.count += 1
            self.nodes[key] = self.count
            self.block.append(key)
            if (self.count + 1) % 1024 == 0: self.flush(full=True)
        return self.nodes[key]

    def flush(self, full=False):
        if not self.block: return
        first, kinds, src = self.count - len(self.block) + 1, bytearray(), bytearray()
        used = sorted({kind for kind, _ in self.block})
        place, width = {kind: k for k, kind in enumerate(used)}, 2 if used[-1] < 1 << 16 else 3
        for k, (kind, sources) in enumerate(self.block):
            kinds += place[kind].to_bytes(1 if len(used) <= 256 else 2, "little")
            for j, s in enumerate(sources): src += leb128((first + k - s) * 2 + (j + 1 < len(sources)))
            if not sources: src.append(0)
        self.db.execute("INSERT OR REPLACE INTO node_block VALUES (?, ?, ?, ?, ?, ?)",
                        (first, len(self.block), width, b"".join(kind.to_bytes(width, "little") for kind in used), bytes(kinds), bytes(src)))
        if full: self.block = []

    def commit(self):
        self.flush()
        self.db.execute("COMMIT")
        self.db.execute("BEGIN")
        self.last_commit = time.monotonic()

    def commit_now_and_then(self):
        if time.monotonic() - self.last_commit > 0.2: self.commit()

    def begin_scope(self, kind, name, parent, file=None, line=0, root=None):
        self.scopes += 1
        self.row("scope", self.scopes, parent, kind, self.string(name), self.file(file) if file else None, line, root, self.now(), None)
        return self.scopes

    def end_scope(self, scope, name=None):
        if name: self.db.execute("UPDATE scope SET name = ? WHERE id = ?", (self.string(name), scope))
        self.db.execute("UPDATE scope SET end_ns = ? WHERE id = ?", (self.now(), scope))

    def begin_pass(self, scope, parent, parent_steps, name, location, root, matcher=None, matcher_down=None):
        self.passes += 1
        self.row("pass", self.passes, scope, parent, parent_steps, self.string(name), self.file(location[0]), location[1], root,
                 None, self.steps + 1, None, None, None, None, self.now(), None, matcher, matcher_down)
        return self.passes

    def end_pass(self, number, end_root, own_steps, outcome="done", message=None):
        self.db.execute("UPDATE pass SET end_root = ?, last_step = ?, step_count = ?, outcome = ?, message = ?, end_ns = ? WHERE id = ?",
                        (end_root, self.steps, own_steps, outcome, self.string(message) if message else None, self.now(), number))
        self.commit_now_and_then()

    def step(self, number, rule, before, after, kind, took):
        self.steps += 1
        self.row("step", self.steps, number, rule, before, None if after is None else after - before, kind, int(took))

    def artifact(self, scope, kind, text):
        self.artifacts += 1
        size, blob = packed(text)
        self.row("text", self.artifacts, scope, self.string(kind), self.artifacts, 0, size, 0, 0)
        self.row("text_block", self.artifacts, size, blob, 0, b"")

    def program(self, scope, nodes):
        if not nodes: return
        differences = [node - last for last, node in zip([0] + nodes, nodes)]
        self.row("packed_program", scope, len(nodes), *packed(compact(differences)))

    def matcher(self, rules):
        rules = tuple(rules)
        if rules not in self.matcher_ids:
            self.matcher_ids[rules] = len(self.matcher_ids) + 1
            self.row("matcher", self.matcher_ids[rules], compact(rules))
        return self.matcher_ids[rules]

    def count_blocks(self, number, counts):
        """counts: {nested name or 0: {(op, rule): [early, structure, declined, applied, unchanged, ns of failed, ns of applied]}}"""
        all_times, last = bytearray(), 0
        for nested, cells in counts.items():
            groups, times, last_timed = {}, bytearray(), 0
            for index, ((op, rule), values) in enumerate(sorted(cells.items()), 1):
                tried, exceptions = groups.setdefault(op, ([], []))
                exceptions.append([len(tried), *values[:5]])
                tried.append(rule)
                took = [0, int(values[5]) // TIME_UNIT, 0, int(values[6]) // TIME_UNIT, 0]
                if any(took):
                    times += leb128(index - last_timed) + masked(took)
                    last_timed = index
                total = self.counts.setdefault((rule, op), [0] * 7)
                for k, v in enumerate(values): total[k] += v
            name = self.string(nested) if nested else 0
            ids = [self.shared("match_group", op, self.shared("match_tried", compact(tried)), 0, compact(cells)) for op, (tried, cells) in groups.items()]
            self.row("match_pass", number, name, self.shared("match_set", compact(ids)))
            all_times += leb128(number - last) + leb128(name) + leb128(len(times)) + times
            last = number
        if all_times: self.row("packed_time", number, number, *packed(all_times))

    def shared(self, table, *values):
        """Number of a row that is stored once."""
        known = self.shared_rows.setdefault(table, {})
        if values not in known:
            known[values] = len(known) + 1
            self.row(table, known[values], *values)
        return known[values]

    def finish(self, status="complete", message=""):
        for (rule, op), (early, structure, declined, applied, unchanged, failed, took) in sorted(self.counts.items()):
            self.row("match_total", rule, op, early, structure, declined, applied, unchanged, 0, int(failed), 0, int(took), 0)
        self.meta("status", status)
        if message: self.meta("message", message)
        self.meta("steps", str(self.steps))
        self.meta("nodes", str(self.count))
        self.meta("time.took_ns", str(self.now()))
        self.commit()
        self.db.execute("COMMIT")
        for column in ("pass (scope)", "text (scope)", "phase (scope)"):
            self.db.execute(f"CREATE INDEX IF NOT EXISTS {column.split()[0]}_by_scope ON {column}")
        self.db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        self.db.execute("PRAGMA journal_mode = DELETE")
        self.db.close()


def compact(value): return json.dumps(value, separators=(",", ":"))


def masked(values):
    return leb128(sum(1 << k for k, v in enumerate(values) if v)) + b"".join(leb128(v) for v in values if v)


@functools.cache
def source_of(path, line):
    """The statement of a file that begins on a line, on one line."""
    try: lines = pathlib.Path(path).read_text().splitlines()
    except (OSError, UnicodeDecodeError): return ""
    for end in range(line, min(line + 30, len(lines)) + 1):
        text = "\n".join(lines[line - 1:end]).strip().rstrip(",")
        try: ast.parse(text)
        except SyntaxError: continue
        return " ".join(text.split())
    return lines[line - 1].strip() if 0 < line <= len(lines) else ""


class Recorder:
    """Hooks of a running tinygrad."""

    def __init__(self, path, script):
        import tinygrad, tinygrad.uop.ops as ops
        self.ops, self.trace = ops, Trace(path, script)
        self.trace.meta("version", "tinygrad " + version_of(tinygrad))
        self.trace.meta("foreign", "recorded by hooks in the original tinygrad: failed matches are not told apart (their pattern "
                                   "and their function refuse alike), lines of kernels and buffers are not known")
        self.known, self.open, self.scope, self.script = weakref.WeakKeyDictionary(), [], [], os.path.abspath(script)
        self.rule_ids, self.matcher_ids, self.made_for = {}, weakref.WeakKeyDictionary(), ()
        self.install()
        self.scope.append(self.trace.begin_scope("script", os.path.basename(script), None, script))

    def node(self, u):
        found = self.known.get(u)
        if found: return found
        stack = [u]
        while stack:
            top = stack[-1]
            missing = [s for s in top.src if s not in self.known] if top not in self.known else []
            if missing:
                stack.extend(reversed(missing))
                continue
            stack.pop()
            if top in self.known: continue
            number = self.trace.node(top.op.name, top.dtype, top.arg, top.tag, tuple(self.known[s] for s in top.src))
            self.known[top] = number
            for m in (top.metadata or ()): self.origin(number, m)
        return self.known[u]

    def origin(self, number, metadata):
        file, line = None, 0
        caller = getattr(metadata, "caller", "") or ""
        for part in caller.replace(" - ", "\n").splitlines():  # "module:line::function" for each frame
            place = part.split("::")[0].rsplit(":", 1)
            if len(place) == 2 and place[1].isdigit():
                module = getattr(sys.modules.get(place[0]), "__file__", None) or place[0]
                file, line = self.script if place[0] == "__main__" else module, int(place[1])
        key = (number, str(metadata), file, line)
        if key in self.trace.origins: return
        self.trace.origins.add(key)
        self.trace.db.execute("INSERT INTO origin (id, node, operation, file, line) VALUES (?, ?, ?, ?, ?)",
                              (len(self.trace.origins), number, self.trace.string(str(metadata)), self.trace.file(file) if file else None, line))

    def rule(self, pattern):
        found = self.rule_ids.get(pattern)
        if found is None:
            location = getattr(pattern, "location", ("?", 0))
            found = self.rule_ids[pattern] = self.trace.rule(location, source_of(location[0], location[1]), str(pattern)[:500])
        return found

    def matcher(self, matcher):
        if matcher is None: return None
        if matcher not in self.matcher_ids:
            self.matcher_ids[matcher] = self.trace.matcher(self.rule(p[0]) for p in matcher.patterns)
        return self.matcher_ids[matcher]

    def install(self):
        ops = self.ops
        for name in ("graph_rewrite", "graph_rewrite_map"):
            self.replace(getattr(ops, name), lambda function, name=name: self.observed_pass(function, name))
        for module in [m for n, m in list(sys.modules.items()) if n.startswith("tinygrad") and m]:
            for function in list(vars(module).values()):
                if getattr(function, "__qualname__", "").startswith("track_rewrites.<locals>"):
                    if not hasattr(function, "_uoptrace"): self.replace(function, self.observed_scope)
        ops.PatternMatcher.rewrite = self.observed_rewrite(ops.BottomUpGate)
        try:
            from tinygrad.engine.realize import ExecItem
            ExecItem.run = self.observed_run(ExecItem.run)
            ExecItem.lower = self.observed_lower(ExecItem.lower)
        except ImportError: pass  # newer versions may run kernels elsewhere

    @staticmethod
    def replace(function, wrap):
        """A function under every name it was imported as."""
        wrapped = wrap(function)
        wrapped._uoptrace = True
        for module in [m for n, m in list(sys.modules.items()) if n.startswith("tinygrad") and m]:
            for name, value in list(vars(module).items()):
                if value is function: setattr(module, name, wrapped)

    def observed_scope(self, function):
        inner = function.__closure__ and next((c.cell_contents for c in function.__closure__
                                               if callable(c.cell_contents) and hasattr(c.cell_contents, "__code__")
                                               and c.cell_contents.__code__.co_filename != self.ops.__file__), None)
        kernel = "program" in getattr(inner, "__name__", "") or "codegen" in getattr(inner, "__module__", "")

        def observed(*args, **kwargs):
            trace, line = self.trace, script_line(self.script)
            root = self.node(args[0]) if args and isinstance(args[0], self.ops.UOp) else None
            if kernel and root: self.kernel_origins(args[0])
            number = trace.scopes
            scope = trace.begin_scope("kernel" if kernel else "schedule", "kernel" if kernel else f"schedule {number}",
                                      self.scope[-1] if self.scope else None, self.script if line else None, line, root)
            self.scope.append(scope)
            open_passes, self.open = self.open, []
            name = None
            try:
                ret = function(*args, **kwargs)
                if kernel and hasattr(ret, "src"):
                    name = ret.name
                    self.kernel(scope, ret)
                return ret
            finally:
                self.open = open_passes
                self.scope.pop()
                trace.end_scope(scope, plain(name) if name else None)
                trace.commit_now_and_then()
        return observed

    def observed_lower(self, function):
        """Which operations a kernel is for the original keeps beside its graph, not in it."""
        @functools.wraps(function)
        def observed(item, *args, **kwargs):
            before, self.made_for = self.made_for, tuple(getattr(item, "metadata", None) or ())
            try: return function(item, *args, **kwargs)
            finally: self.made_for = before
        return observed

    def kernel_origins(self, ast):
        if not self.made_for: return
        for u in ast.toposort():
            if u.op.name == "STORE" and len(u.src) > 1:
                for node in (u, u.src[1]):
                    for m in self.made_for: self.origin(self.node(node), m)

    def kernel(self, scope, program):
        trace = self.trace
        if program.src: trace.artifact(scope, "source", program.src)
        estimates = getattr(program, "estimates", None)
        number = lambda x: x if x is None or isinstance(x, int) else str(x)
        sizes = [json.dumps([number(x) for x in some or []]) for some in (program.global_size, program.local_size)]
        opts = getattr(program, "applied_opts", None) or ()
        trace.row("kernel", scope, program.device, json.dumps([str(o) for o in opts]), *sizes,
                  *(number(getattr(estimates, k, None)) if estimates else None for k in ("ops", "mem", "lds")), None)
        trace.program(scope, [self.node(u) for u in program.uops or ()])

    def observed_pass(self, function, default_name):
        def observed(sink, pm, ctx=None, bottom_up=False, name=None, bpm=None, **more):
            trace, parent = self.trace, self.open[-1] if self.open else None
            frame = sys._getframe(1)
            up, down = (None, pm) if bottom_up else (pm, bpm)
            number = trace.begin_pass(self.scope[-1] if self.scope else None, parent and parent["id"], parent["steps"] if parent else 0,
                                      name or default_name, (frame.f_code.co_filename, frame.f_lineno), self.node(sink),
                                      self.matcher(up), self.matcher(down))
            this = {"id": number, "steps": 0, "down": down, "name": name or default_name, "counts": {}}
            self.open.append(this)
            try: ret = function(sink, pm, ctx=ctx, bottom_up=bottom_up, name=name, bpm=bpm, **more)
            except BaseException as e:
                self.close(this, None, "failed", f"{type(e).__name__}: {e}")
                raise
            result = ret if isinstance(ret, self.ops.UOp) else ret.get(sink) if isinstance(ret, dict) else None
            self.close(this, self.node(result) if result is not None else None, "done", None)
            return ret
        return observed

    def close(self, this, end_root, outcome, message):
        self.open.remove(this)
        self.trace.end_pass(this["id"], end_root, this["steps"], outcome, message)
        outer = self.open[0] if self.open else None
        if outer:
            for nested, cells in this["counts"].items():
                sums = outer["counts"].setdefault(nested or this["name"], {})
                for key, values in cells.items():
                    into = sums.setdefault(key, [0] * 7)
                    for k, v in enumerate(values): into[k] += v
        else: self.trace.count_blocks(this["id"], this["counts"])

    def observed_rewrite(self, gate):
        recorder = self

        def rewrite(matcher, uop, ctx=None):
            candidates = matcher.pdict.get(uop.op, ())
            if not candidates: return None
            here = recorder.open[-1] if recorder.open else None
            cells = here["counts"].setdefault(0, {}) if here else {}
            op, present = None, {s.op for s in uop.src}
            trace = recorder.trace
            for pattern, match, required in candidates:
                if op is None:
                    if uop.op.name not in trace.ops: recorder.node(uop)
                    op = trace.ops[uop.op.name]
                rule = recorder.rule(pattern)
                cell = cells.get((op, rule))
                if cell is None: cell = cells[(op, rule)] = [0] * 7
                if not required <= present:
                    cell[0] += 1
                    continue
                began = time.perf_counter_ns()
                try: result = match(uop, ctx)
                except gate:
                    if here: trace.db.execute("INSERT OR IGNORE INTO gate VALUES (?, ?, ?)", (here["id"], recorder.node(uop), trace.steps + 1))
                    raise
                except Exception as e:
                    if here:
                        here["steps"] += 1
                        trace.step(here["id"], rule, recorder.node(uop), None, 2, 0)
                        trace.row("step_error", trace.steps, str(e))
                    raise
                took = time.perf_counter_ns() - began
                if result is None:
                    cell[1] += 1
                    cell[5] += took
                elif result is uop:
                    cell[4] += 1
                    if here: trace.db.execute("INSERT OR IGNORE INTO unchanged VALUES (?, ?, ?, ?)",
                                              (here["id"], rule, recorder.node(uop), trace.steps + 1))
                else:
                    cell[3] += 1
                    cell[6] += took
                    if here and isinstance(result, recorder.ops.UOp):
                        here["steps"] += 1
                        trace.step(here["id"], rule, recorder.node(uop), recorder.node(result), int(matcher is here["down"]), took)
                    return result
            return None
        return rewrite

    def observed_run(self, function):
        def run(item, *args, **kwargs):
            began = self.trace.now()
            took = function(item, *args, **kwargs)
            runner = item.prg
            estimates = getattr(runner, "estimates", None)
            flops, size = getattr(estimates, "ops", 0), getattr(estimates, "mem", 0)
            self.trace.db.execute(
                "INSERT INTO launch (scope, kernel, device, flops, bytes, begin_ns, took_ns, buffers) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (self.scope[-1] if self.scope else None, self.trace.string(plain(getattr(runner, "display_name", "?"))),
                 self.trace.string(getattr(runner, "device", "?")), flops if isinstance(flops, int) else 0,
                 size if isinstance(size, int) else 0, began, int((took or 0) * 1e9), "[]"))
            self.trace.commit_now_and_then()
            return took
        return run

    def finish(self, status, message=""):
        try:  # what goes with the interpreter is called by nobody, whose line the original would ask for
            from tinygrad.helpers import TRACEMETA
            TRACEMETA.value = 0
        except (ImportError, AttributeError): pass
        for scope in reversed(self.scope): self.trace.end_scope(scope)
        self.scope = []
        self.trace.finish(status, message)


def plain(name):
    """Without the colours of a terminal."""
    out, inside = "", False
    for c in str(name):
        if c == "\x1b": inside = True
        elif inside: inside = c != "m"
        else: out += c
    return out


def script_line(script):
    frame = sys._getframe(1)
    while frame:
        if frame.f_code.co_filename == script: return frame.f_lineno
        frame = frame.f_back
    return 0


def version_of(tinygrad):
    try:
        from importlib.metadata import version
        return version("tinygrad")
    except Exception: return getattr(tinygrad, "__version__", "unknown")


def record(script, output, arguments):
    if not os.path.isfile(script): raise SystemExit(f"tinygrad_trace: {script}: no such script")
    os.environ.setdefault("TRACEMETA", "2")  # lines of the script beside its operations; read when tinygrad is imported
    try: import tinygrad  # noqa: F401
    except ImportError as e: raise SystemExit(f"tinygrad_trace: {e}; run this file with the Python that has tinygrad")
    output = output or pathlib.Path(script).stem + ".uoptrace"
    sys.path.insert(0, os.path.dirname(os.path.abspath(script)))
    recorder = Recorder(output, os.path.abspath(script))
    sys.argv = [script, *arguments]
    status, message, code = "complete", "", 0
    try: runpy.run_path(os.path.abspath(script), run_name="__main__")
    except SystemExit as e:
        code = e.code if isinstance(e.code, int) else 0 if e.code is None else 1
        if code: status, message = "failed", f"the script ended with exit code {code}"
    except KeyboardInterrupt: status, message, code = "interrupted", "stopped by the user", 130
    except BaseException as e:
        import traceback
        traceback.print_exc()
        status, message, code = "failed", f"{type(e).__name__}: {e}", 1
    trace = recorder.trace
    recorder.finish(status, message)
    print(f"tinygrad_trace: {output}: {trace.steps} steps, {trace.count} nodes; uopscope open {output}", file=sys.stderr)
    return code


def convert(path, output):
    """A RewriteTrace as tinygrad saves it. Unpickling runs code of the file: convert only what you made yourself."""
    if path is None:
        from tinygrad.helpers import temp
        path = temp("rewrites.pkl", append_user=True)
    try:
        with open(path, "rb") as f: saved = pickle.load(f)
    except OSError as e: raise SystemExit(f"tinygrad_trace: {path}: {e.strerror}; run a script with TRACK_MATCH_STATS=2 first")
    except ImportError as e: raise SystemExit(f"tinygrad_trace: {path}: {e}; convert it in the Python that has the tinygrad which saved it")
    except Exception as e: raise SystemExit(f"tinygrad_trace: {path}: not a pickle that can be read ({e})")
    if not all(hasattr(saved, a) for a in ("keys", "rewrites", "uop_fields")):
        raise SystemExit(f"tinygrad_trace: {path}: not a trace that tinygrad saved")
    import tinygrad
    output = output or "rewrites.uoptrace"
    trace, known = Trace(output, ""), {}
    trace.meta("version", "tinygrad " + version_of(tinygrad))
    trace.meta("foreign", "converted from a pickle of the original tinygrad: counts of attempts, ends and times of passes, gates, "
                          "launches and lines of the script are not in it")

    def node(number):
        stack = [number]
        while stack:
            top = stack[-1]
            if top in known:
                stack.pop()
                continue
            op, dtype, sources, arg, tag, *_ = saved.uop_fields[top]
            missing = [s for s in sources if s not in known]
            if missing: stack.extend(reversed(missing))
            else: known[top] = trace.node(op.name, dtype, arg, tag, tuple(known[s] for s in sources))
        return known[number]

    for key, rewrites in zip(saved.keys, saved.rewrites):
        program = key.ret if hasattr(key.ret, "src") and hasattr(key.ret, "device") else None
        scope = trace.begin_scope("kernel" if program else "schedule", plain(key.display_name), None, root=node(rewrites[0].sink) if rewrites else None)
        if program:
            trace.artifact(scope, "source", program.src)
        open_passes, own = [], {}
        for rewrite in rewrites:
            while len(open_passes) > rewrite.depth: trace.end_pass(number := open_passes.pop(), None, own[number])
            # The pickle does not say at which step of its parent a pass began.
            parent = open_passes[-1] if open_passes else None
            number = trace.begin_pass(scope, parent, own.get(parent, 0), rewrite.name, rewrite.loc, node(rewrite.sink))
            open_passes.append(number)
            own[number] = len(rewrite.matches)
            for before, after, location, seconds in rewrite.matches:
                failed = saved.uop_fields[after][0].name == "REWRITE_ERROR"
                trace.step(number, trace.rule(location, source_of(location[0], location[1])), node(before),
                           None if failed else node(after), 2 if failed else int(rewrite.bottom_up), seconds * 1e9)
                if failed: trace.row("step_error", trace.steps, str(saved.uop_fields[after][3]))
        while open_passes: trace.end_pass(number := open_passes.pop(), None, own[number])
        trace.end_scope(scope)
    trace.finish()
    print(f"tinygrad_trace: {output}: {trace.steps} steps, {trace.count} nodes; uopscope open {output}", file=sys.stderr)
    return 0


def main():
    parser = argparse.ArgumentParser(prog="tinygrad_trace.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(dest="verb", required=True)
    one = verbs.add_parser("record", help="run a script under the recorder")
    one.add_argument("script")
    one.add_argument("-o", "--output")
    one.add_argument("arguments", nargs="*", help="of the script, after --")
    two = verbs.add_parser("convert", help="convert a saved rewrites.pkl")
    two.add_argument("pickle", nargs="?", help="default: where tinygrad saves it")
    two.add_argument("-o", "--output")
    options = parser.parse_args()
    if options.verb == "record": return record(options.script, options.output, options.arguments)
    return convert(options.pickle, options.output)


if __name__ == "__main__":
    sys.exit(main())
