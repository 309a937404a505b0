-- A trace of uopscope. docs/guide/trace-format.md explains it with example queries.
-- Times are integer nanoseconds since the recording began; every column that holds one ends in _ns, and they are, with
-- the keys of meta that begin with "time.", all that two recordings of one deterministic script differ in.
-- Ids are dense, begin with 1 and are given in the order of events. NULL means "none".
-- Any program that reads SQLite gets plain values, and no view needs a function of ours. Only the times of attempts are
-- packed, which no view shows. Views with the names of older versions' tables (decline, matcher_rule, artifact ...) let one
-- query read old and new files; older.sql has those that differ.
PRAGMA application_id = 0x554f5053; -- "UOPS"

-- Facts about the recording: its subject, its settings, and how it ended.
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

-- A node without its sources. Few kinds are different, so a node's row is short.
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
  root INTEGER,              -- node.id of the graph to schedule or compile; NULL: no pass ran in it
  begin_ns INTEGER NOT NULL,
  end_ns INTEGER             -- NULL: had not ended when the trace did
) STRICT;

-- One graph_rewrite. A pass that runs inside a rule of a second pass has that one as its parent; without a step, such a pass is not stored.
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

-- The messages of rules that failed.
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
  declined_ns INTEGER NOT NULL,     -- of functions and their callees, as the next two
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

-- Facts about a kernel besides its texts; sizes are numbers, or expressions where they depend on variables.
CREATE TABLE kernel (
  scope INTEGER PRIMARY KEY, -- scope.id
  device TEXT NOT NULL,
  opts TEXT NOT NULL,        -- JSON array of the optimisations applied
  global_size TEXT NOT NULL, -- JSON array: launch sizes
  local_size TEXT NOT NULL,
  ops ANY,                   -- arithmetic operations of a launch
  bytes ANY,                 -- of the buffers touched
  accessed ANY,              -- bytes of all loads and stores
  registers INTEGER          -- that the code names: of vectors on a processor, of a thread on a GPU; NULL: not known
) STRICT;

-- Parts of a scope that took time: "lower", "render", "compile", "disassemble".
CREATE TABLE phase (
  id INTEGER PRIMARY KEY,
  scope INTEGER,         -- scope.id
  name INTEGER NOT NULL, -- string.id
  begin_ns INTEGER NOT NULL,
  took_ns INTEGER NOT NULL
) STRICT;

-- Memory of tensors. Buffers that the memory planner puts into one arena are views of one buffer.
CREATE TABLE buffer (
  id INTEGER PRIMARY KEY,
  device INTEGER NOT NULL,  -- string.id
  dtype INTEGER NOT NULL,   -- string.id
  bytes INTEGER NOT NULL,
  base INTEGER,             -- buffer.id that it is a view of; NULL: memory of its own
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

-- The output of the script.
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

-- The calls of the script around the tensor operation that made a node: modules by the names of their attributes, functions by
-- their own.
CREATE TABLE origin_calls (
  node INTEGER PRIMARY KEY, -- node.id
  calls INTEGER NOT NULL    -- string.id: "model/blocks.3/narrow", outermost first
) STRICT;

-- Reasons of steps: the decision of the compiler in words, and for a choice its price and the alternatives. Most steps need
-- none, since their rule explains them.
CREATE TABLE decision (
  id INTEGER PRIMARY KEY,
  step INTEGER NOT NULL, -- step.id of the rewrite it explains
  reason TEXT NOT NULL,  -- "cut at 1024: four operations hang on it"
  price REAL,            -- of the chosen way; NULL: a decision without prices
  unit TEXT,             -- of the prices: "cycles a result"
  others TEXT            -- JSON array of {"what", "price"}: the best alternatives, cheapest first
) STRICT;

-- Reasons that rules gave for declining a node whose structure they match, each different set once.
CREATE TABLE decline_set (
  id INTEGER PRIMARY KEY,
  cells TEXT NOT NULL -- JSON array: for each reason the difference of its cause.id to the one before; where it was given several times, an array of that difference and the number of times
) STRICT;

-- Causes of declining.
CREATE TABLE cause (
  id INTEGER PRIMARY KEY,
  rule INTEGER NOT NULL,  -- rule.id
  reason INTEGER NOT NULL -- string.id: "y is a constant"
) STRICT;

-- Declines of rules in a pass that is not nested, and in the passes nested in it.
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

-- Every node of a recorded graph, once, however many passes and kernels made it; ids have no gaps, sources come before
-- users. A node that was not met for millions of nodes may have a second id. v_node and v_edge unpack the blocks.
CREATE TABLE node_block (
  first INTEGER PRIMARY KEY, -- node.id of the first node; the next ones follow, up to a multiple of 1024
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

-- Times of the attempts of passes; match_total has the sums.
CREATE TABLE packed_time (
  first INTEGER PRIMARY KEY, -- pass.id of the first pass in it
  last INTEGER NOT NULL,     -- and of the last
  size INTEGER NOT NULL,     -- bytes of times
  times BLOB NOT NULL        -- packed LEB128, for each row of match_pass in these: pass less the last one's (the first: less 0), nested, bytes that follow; for each rule and operation that took time its place in the row's groups, from 1, less the last one's, a mask of the values that are not 0, those values in units of 32 ns, in the order of rules
) STRICT;

-- Texts that belong to scopes, with the instructions their lines are made of. The views artifact and text_line spell them out.
CREATE TABLE text (
  id INTEGER PRIMARY KEY,
  scope INTEGER,         -- scope.id
  kind INTEGER NOT NULL, -- string.id
  size INTEGER NOT NULL, -- bytes of the text
  content BLOB NOT NULL, -- a group of numbers for each line, as LEB128, each doubled, plus 1 if more follow: line_repeat.id * 2 + 1, or line_form.id * 2 and a difference for each of its numbers to the one in the same place of the form's last line in this text
  lines BLOB             -- the pairs of lines (from 1) and instructions in order of instructions: for each run of equal differences to the pair before (the first: line 0, instruction -1) a group: difference of lines * 4 plus that of instructions up to 3, repetitions, the rest of the difference; zeros at the end left out; NULL: the lines are unknown
) STRICT;

-- Lines without their numbers. Signed differences, here and in the tables that follow, are numbered 0, -1, 1, -2, 2 ...
CREATE TABLE line_form (
  id INTEGER PRIMARY KEY,
  parts TEXT NOT NULL -- JSON array of the texts before, between and after the numbers
) STRICT;

-- Lines whose numbers differ from those of the form's last line in the same way as twice before.
CREATE TABLE line_repeat (
  id INTEGER PRIMARY KEY,
  form INTEGER NOT NULL, -- line_form.id
  numbers TEXT NOT NULL  -- JSON array of the differences
) STRICT;

-- The linear program of a kernel, which renderers print. The view instruction spells it out.
CREATE TABLE program (
  kernel INTEGER PRIMARY KEY, -- scope.id
  count INTEGER NOT NULL,     -- of instructions
  nodes BLOB NOT NULL         -- for each run of equal differences of node.id to the one before a group as in text: the difference, repetitions
) STRICT;

-- The rules of a pass in the order they are tried, a rule a row: matcher (matcher.id), position (from 1), rule.
CREATE VIEW matcher_rule AS
  SELECT matcher.id AS matcher, item.key + 1 AS position, item.value AS rule FROM matcher, json_each(matcher.rules) AS item;

-- Reasons of rules for declining a node whose structure they match, with the number of times, per outermost pass (nested passes included): pass, rule, reason (string.id), count.
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

-- Steps with the names of their rules, passes and kernels: SELECT rule, count(*) FROM v_rewrite WHERE kernel = 'r_16_16' GROUP BY 1.
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

-- Runs of kernels and copies with their GFLOPS and GB/s.
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

-- Texts with the names of their scopes and kinds: SELECT text FROM v_text WHERE name = 'r_16_16' AND kind = 'ir'.
CREATE VIEW v_text AS
  SELECT artifact.id, artifact.scope, name.value AS name, kind.value AS kind, artifact.text
  FROM artifact JOIN string AS kind ON kind.id = artifact.kind LEFT JOIN scope ON scope.id = artifact.scope LEFT JOIN string AS name ON name.id = scope.name;

-- Which instruction, and which node, a line of a kernel's text is made of.
CREATE VIEW v_line AS
  WITH node AS MATERIALIZED (SELECT kernel, position, node FROM instruction)
  SELECT text.scope AS kernel, kind.value AS text, text_line.line, text_line.instruction, node.node
  FROM text JOIN string AS kind ON kind.id = text.kind CROSS JOIN text_line ON text_line.artifact = text.id
  CROSS JOIN node ON node.kernel = text.scope AND node.position = text_line.instruction;

-- Tensor operations of the script and the nodes they made.
CREATE VIEW v_origin AS
  SELECT origin.node, operation.value AS operation, file.path AS file, origin.line, calls.value AS calls
  FROM origin JOIN string AS operation ON operation.id = origin.operation LEFT JOIN file ON file.id = origin.file
  LEFT JOIN origin_calls ON origin_calls.node = origin.node LEFT JOIN string AS calls ON calls.id = origin_calls.calls;

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

-- Text that belongs to a scope: "source", "ir", "asm", "uops", "opts", "launch", "registers" (JSON); of a schedule "held" (a JSON list of the places, in the topological order of its graph, of the values that tensors hold): id, scope, kind (string.id), text.
CREATE VIEW artifact AS
  SELECT text.id, text.scope, text.kind, (
    WITH RECURSIVE walk(rest, line, position, number, scale) AS ( -- scale 0: the number is complete
      SELECT text.content, 0, 0, 0, 1
      UNION ALL
      SELECT substr(rest, 2), line + (scale = 0 AND number & 1 = 0),
             CASE WHEN scale > 0 THEN position WHEN number & 1 THEN position + 1 ELSE 0 END,
             CASE scale WHEN 0 THEN 0 ELSE number END + max(scale, 1) * ((instr(all_of, substr(rest, 1, 1)) - 1) & 127),
             CASE WHEN substr(rest, 1, 1) < X'80' THEN 0 ELSE max(scale, 1) * 128 END
      FROM walk JOIN byte WHERE length(rest) > 0),
    word(line, position, value) AS MATERIALIZED (SELECT line, position, number >> 1 FROM walk WHERE scale = 0),
    head(line, form, again) AS MATERIALIZED (
      SELECT line, iif(value & 1, line_repeat.form, value >> 1), line_repeat.numbers
      FROM word LEFT JOIN line_repeat ON value & 1 AND line_repeat.id = value >> 1 WHERE position = 0),
    change(line, form, position, difference) AS (
      SELECT line, form, position, iif(value & 1, -(value >> 1) - 1, value >> 1)
      FROM (SELECT line, position, value, first_value(value) OVER (PARTITION BY line ORDER BY position) >> 1 AS form FROM word) WHERE position > 0
      UNION ALL SELECT line, form, item.key + 1, item.value FROM head CROSS JOIN json_each(head.again) AS item),
    piece(line, position, piece) AS (
      SELECT line, position, sum(difference) OVER (PARTITION BY form, position ORDER BY line) FROM change
      UNION ALL SELECT line, part.key + 0.5, iif(part.key = 0 AND line > 0, char(10), '') || part.value
      FROM head CROSS JOIN line_form ON line_form.id = head.form CROSS JOIN json_each(line_form.parts) AS part)
    SELECT group_concat(piece, '') FROM (SELECT piece FROM piece ORDER BY line, position)) AS text
  FROM text;

-- Which instructions a line of a kernel's source, IR or assembly is made of: artifact (artifact.id), line (from 1), instruction (instruction.position in the same kernel). At most 262,144 pairs of a text, whatever a file claims.
CREATE VIEW text_line AS
  SELECT text.id AS artifact, json_extract(pair.value, '$[0]') AS line, json_extract(pair.value, '$[1]') AS instruction
  FROM text, json_each((
    WITH RECURSIVE walk(rest, item, position, number, scale) AS (
      SELECT text.lines, 0, 0, 0, 1
      UNION ALL
      SELECT substr(rest, 2), item + (scale = 0 AND number & 1 = 0),
             CASE WHEN scale > 0 THEN position WHEN number & 1 THEN position + 1 ELSE 0 END,
             CASE scale WHEN 0 THEN 0 ELSE number END + max(scale, 1) * ((instr(all_of, substr(rest, 1, 1)) - 1) & 127),
             CASE WHEN substr(rest, 1, 1) < X'80' THEN 0 ELSE max(scale, 1) * 128 END
      FROM walk JOIN byte WHERE length(rest) > 0),
    run(item, lines, instructions, times) AS (
      SELECT item, max(iif(position, NULL, iif(number & 8, -(number >> 4) - 1, number >> 4))),
             max(iif(position, NULL, number >> 1 & 3)) + coalesce(max(iif(position = 2, number >> 1, NULL)), 0),
             1 + coalesce(max(iif(position = 1, number >> 1, NULL)), 0)
      FROM walk WHERE scale = 0 GROUP BY item),
    pair(line, instruction, lines, instructions, times) AS (
      SELECT coalesce(sum(lines * times) OVER before, 0) + lines, coalesce(sum(instructions * times) OVER before, 0) + instructions - 1, lines, instructions, times FROM run
        WINDOW before AS (ORDER BY item ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
      UNION ALL SELECT line + lines, instruction + instructions, lines, instructions, times - 1 FROM pair WHERE times > 1 LIMIT 262144)
    SELECT json_group_array(json_array(line, instruction)) FROM pair)) AS pair WHERE text.lines IS NOT NULL;

-- Linear programs, an instruction a row: kernel (scope.id), position (from 0), node (node.id). At most 262,144 of a kernel, whatever a file claims.
CREATE VIEW instruction AS
  SELECT program.kernel, item.key AS position, item.value AS node
  FROM program, json_each((
    WITH RECURSIVE walk(rest, item, position, number, scale) AS (
      SELECT program.nodes, 0, 0, 0, 1
      UNION ALL
      SELECT substr(rest, 2), item + (scale = 0 AND number & 1 = 0),
             CASE WHEN scale > 0 THEN position WHEN number & 1 THEN position + 1 ELSE 0 END,
             CASE scale WHEN 0 THEN 0 ELSE number END + max(scale, 1) * ((instr(all_of, substr(rest, 1, 1)) - 1) & 127),
             CASE WHEN substr(rest, 1, 1) < X'80' THEN 0 ELSE max(scale, 1) * 128 END
      FROM walk JOIN byte WHERE length(rest) > 0),
    run(item, difference, times) AS (
      SELECT item, max(iif(position, NULL, iif(number & 2, -(number >> 2) - 1, number >> 2))), 1 + coalesce(max(iif(position, number >> 1, NULL)), 0)
      FROM walk WHERE scale = 0 GROUP BY item),
    single(item, k, difference, times) AS (
      SELECT item, 0, difference, times FROM run UNION ALL SELECT item, k + 1, difference, times - 1 FROM single WHERE times > 1 LIMIT 262144)
    SELECT json_group_array(node) FROM (SELECT sum(difference) OVER (ORDER BY item, k) AS node FROM single ORDER BY item, k))) AS item;

-- Every byte once, in order: instr(all_of, b) - 1 is the number of a byte.
CREATE VIEW byte AS SELECT X'000102030405060708090A0B0C0D0E0F101112131415161718191A1B1C1D1E1F202122232425262728292A2B2C2D2E2F303132333435363738393A3B3C3D3E3F404142434445464748494A4B4C4D4E4F505152535455565758595A5B5C5D5E5F606162636465666768696A6B6C6D6E6F707172737475767778797A7B7C7D7E7F808182838485868788898A8B8C8D8E8F909192939495969798999A9B9C9D9E9FA0A1A2A3A4A5A6A7A8A9AAABACADAEAFB0B1B2B3B4B5B6B7B8B9BABBBCBDBEBFC0C1C2C3C4C5C6C7C8C9CACBCCCDCECFD0D1D2D3D4D5D6D7D8D9DADBDCDDDEDFE0E1E2E3E4E5E6E7E8E9EAEBECEDEEEFF0F1F2F3F4F5F6F7F8F9FAFBFCFDFEFF' AS all_of;

-- Nodes with the names of their operations, types and arguments: SELECT op, count(*) FROM v_node GROUP BY op.
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

-- Edges of all graphs: node, position of the source (from 0), source. A graph consists of all nodes that can be reached from its root.
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

-- Kernels: their origin, their sizes, and the cost of compiling them.
CREATE VIEW v_kernel AS
  SELECT scope.id, name.value AS name, file.path AS file, scope.line, scope.root,
         (SELECT sum(step_count) FROM pass WHERE pass.scope = scope.id) AS steps,
         kernel.opts, kernel.device, kernel.global_size, kernel.local_size, kernel.registers, kernel.ops, kernel.bytes,
         coalesce(program.count, 0) AS instructions,
         scope.end_ns - scope.begin_ns AS took_ns
  FROM scope JOIN string AS name ON name.id = scope.name LEFT JOIN file ON file.id = scope.file
  LEFT JOIN kernel ON kernel.scope = scope.id LEFT JOIN program ON program.kernel = scope.id
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

-- The alternatives of a decision, cheapest first: decision (decision.id), position, what, price.
CREATE VIEW v_alternative AS
  SELECT decision.id AS decision, decision.step, decision.reason, decision.price AS chosen_price, decision.unit, other.key AS position,
         json_extract(other.value, '$.what') AS what, json_extract(other.value, '$.price') AS price
  FROM decision, json_each(decision.others) AS other;

-- Runs of each kernel on each device: their number, and the fastest, the mean and the slowest time.
CREATE VIEW v_launch_time AS
  SELECT kernel.value AS kernel, device.value AS device, count(*) AS launches, min(launch.took_ns) AS least_ns,
         CAST(avg(launch.took_ns) AS INTEGER) AS mean_ns, max(launch.took_ns) AS most_ns, sum(launch.took_ns) AS total_ns,
         round(1.0 * sum(launch.flops) / nullif(sum(launch.took_ns), 0), 3) AS gflops,
         round(1.0 * sum(launch.bytes) / nullif(sum(launch.took_ns), 0), 3) AS gb_per_s
  FROM launch JOIN string AS kernel ON kernel.id = launch.kernel JOIN string AS device ON device.id = launch.device
  GROUP BY launch.kernel, launch.device;
