-- Schema version 2: nodes and counts in blocks (a fifth of the size), the linear program of each kernel with the lines of
-- its texts, rules of each pass, rewrites without effect, phases, buffers, candidates of a search, output of the script;
-- and views for people. An older file has none of it; readers take it as empty.

DROP TABLE node;
DROP TABLE match_count;

-- Every node that is part of a recorded graph, once, however many passes and kernels made it; ids without gaps, sources
-- before users. One that was not met for millions of nodes may be there again. A block holds some hundred nodes: the view v_node spells out what they are, `uopscope query` their sources.
CREATE TABLE node_block (
  first INTEGER PRIMARY KEY, -- node.id of the first one; the others follow
  count INTEGER NOT NULL,    -- of nodes
  kinds BLOB NOT NULL,       -- kind.id of each, lowest byte first: length(kinds) / count bytes, two or three
  src BLOB NOT NULL          -- for each node its sources in order: (id - source) * 2, plus 1 if more follow, as LEB128 (7 bits a byte, low first, high bit: more); 0: no sources
) STRICT;

-- Attempts to match in a pass that is not nested, and in the passes nested in it, summed per name.
CREATE TABLE match_block (
  pass INTEGER NOT NULL,   -- pass.id of the outermost pass
  nested INTEGER NOT NULL, -- string.id of the nested pass's name; 0: the pass itself
  counts BLOB NOT NULL,    -- LEB128: for each op its number and how many rules follow; for each of them its id less the last one's, a mask of the values that are not 0, those values: attempts rejected early, structure differs, declined, applied, unchanged
  counts_ns BLOB NOT NULL, -- LEB128: for each rule and op that took time its place in counts less the last one's, and values likewise
  PRIMARY KEY (pass, nested)
) STRICT, WITHOUT ROWID;

-- Attempts to match in the whole trace, written when it ends: a match_block of everything, spelled out.
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
CREATE TABLE matcher_rule (
  matcher INTEGER NOT NULL,  -- pass.matcher, pass.matcher_down
  position INTEGER NOT NULL, -- from 1
  rule INTEGER NOT NULL,     -- rule.id
  PRIMARY KEY (matcher, position)
) STRICT, WITHOUT ROWID;
ALTER TABLE pass ADD COLUMN matcher INTEGER;      -- matcher_rule.matcher of the way up
ALTER TABLE pass ADD COLUMN matcher_down INTEGER; -- matcher_rule.matcher of the way down

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

-- The linear program of a kernel: what renderers write down.
CREATE TABLE instruction (
  kernel INTEGER NOT NULL,   -- scope.id
  position INTEGER NOT NULL, -- from 0
  node INTEGER NOT NULL,     -- node.id
  PRIMARY KEY (kernel, position)
) STRICT, WITHOUT ROWID;

-- Which instructions a line of a kernel's source, IR or assembly is made of.
CREATE TABLE text_line (
  artifact INTEGER NOT NULL,    -- artifact.id
  line INTEGER NOT NULL,        -- from 1
  instruction INTEGER NOT NULL, -- instruction.position in the same kernel
  PRIMARY KEY (artifact, line, instruction)
) STRICT, WITHOUT ROWID;

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

ALTER TABLE launch ADD COLUMN compiled INTEGER; -- scope.id of the kernel's lowering; NULL: a copy, or lowered before the recording
ALTER TABLE launch ADD COLUMN accessed INTEGER; -- bytes of all loads and stores, those from caches too
ALTER TABLE launch ADD COLUMN buffers TEXT;     -- JSON array of buffer.id, in order of the kernel's parameters

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

-- Nodes by what they are: SELECT op, count(*) FROM v_node GROUP BY op.
CREATE VIEW v_node AS
  WITH RECURSIVE digit(d, v) AS (VALUES ('0',0),('1',1),('2',2),('3',3),('4',4),('5',5),('6',6),('7',7),('8',8),('9',9),('A',10),('B',11),('C',12),('D',13),('E',14),('F',15)),
  byte(h, v) AS MATERIALIZED (SELECT a.d || b.d, a.v * 16 + b.v FROM digit a, digit b),
  at(k) AS (SELECT 0 UNION ALL SELECT k + 1 FROM at WHERE k < 511),
  spelled(id, kind) AS (
    SELECT first + k, l.v + 256 * m.v + 65536 * h.v
    FROM (SELECT first, count, kinds, length(kinds) / count AS w FROM node_block) JOIN at ON k < count
    JOIN byte l ON l.h = hex(substr(kinds, w * k + 1, 1))
    JOIN byte m ON m.h = hex(substr(kinds, w * k + 2, 1))
    JOIN byte h ON h.h = CASE w WHEN 3 THEN hex(substr(kinds, w * k + 3, 1)) ELSE '00' END)
  SELECT spelled.id, op.name AS op, dtype.name AS dtype, arg.value AS arg, tag.value AS tag, spelled.kind
  FROM spelled JOIN kind ON kind.id = spelled.kind JOIN op ON op.id = kind.op JOIN dtype ON dtype.id = kind.dtype
  LEFT JOIN arg ON arg.id = kind.arg LEFT JOIN arg AS tag ON tag.id = kind.tag;

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

-- Kernels: where they come from, what became of them, what they cost.
CREATE VIEW v_kernel AS
  SELECT scope.id, name.value AS name, file.path AS file, scope.line, scope.root,
         (SELECT sum(step_count) FROM pass WHERE pass.scope = scope.id) AS steps,
         kernel.opts, kernel.device, kernel.global_size, kernel.local_size, kernel.registers, kernel.ops, kernel.bytes,
         (SELECT count(*) FROM instruction WHERE kernel = scope.id) AS instructions,
         scope.end_ns - scope.begin_ns AS took_ns
  FROM scope JOIN string AS name ON name.id = scope.name LEFT JOIN file ON file.id = scope.file
  LEFT JOIN kernel ON kernel.scope = scope.id
  WHERE scope.kind = 'kernel';

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
