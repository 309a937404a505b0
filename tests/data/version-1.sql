-- A trace of uopscope, schema version 1. docs/guide/trace-format.md explains it with example queries.
-- Times are integer nanoseconds since the recording began; every column that holds one ends in _ns, and they are, with
-- the keys of meta that begin with "time.", all that two recordings of one deterministic script differ in.
-- Ids are dense, begin with 1 and are given in the order of events. NULL means "none".
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

-- Every node that is part of a recorded graph, once, however many passes and kernels made it. Sources come before users.
CREATE TABLE node (
  id INTEGER PRIMARY KEY,
  kind INTEGER NOT NULL, -- kind.id
  src BLOB               -- sources in order: for each, node.id - source as LEB128 (7 bits a byte, low first, high bit: more)
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
  end_ns INTEGER
) STRICT;

-- One applied rewrite. Ids are the order in which the engine made them.
CREATE TABLE step (
  id INTEGER PRIMARY KEY,
  pass INTEGER NOT NULL,  -- pass.id
  rule INTEGER NOT NULL,  -- rule.id
  before INTEGER NOT NULL, -- node.id
  after INTEGER,          -- node.id; equal to before: the rule answered with the node itself; NULL: the rule failed
  kind INTEGER NOT NULL,  -- 0 on the way up, 1 on the way down (before the sources were rewritten), 2 REWRITE_ERROR
  took_ns INTEGER NOT NULL
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

-- Attempts to match, summed over a pass that is not nested; those of passes nested in it are summed per name.
CREATE TABLE match_count (
  pass INTEGER NOT NULL,    -- pass.id of the outermost pass
  nested INTEGER NOT NULL,  -- string.id of the nested pass's name; 0: the pass itself
  rule INTEGER NOT NULL,    -- rule.id
  op INTEGER NOT NULL,      -- op.id of the node tried
  outcome INTEGER NOT NULL, -- 0 rejected early, 1 structure differs, 2 function declined, 3 applied, 4 applied without change
  count INTEGER NOT NULL,
  took_ns INTEGER NOT NULL, -- 0 where not measured
  PRIMARY KEY (pass, nested, rule, op, outcome)
) STRICT, WITHOUT ROWID;

-- Text that belongs to a scope: "source", "ir", "asm", "uops", "opts", "launch" (JSON).
CREATE TABLE artifact (
  id INTEGER PRIMARY KEY,
  scope INTEGER,         -- scope.id
  kind INTEGER NOT NULL, -- string.id
  text TEXT NOT NULL
) STRICT;

-- Kernels run.
CREATE TABLE launch (
  id INTEGER PRIMARY KEY,
  scope INTEGER,            -- scope.id it happened in
  kernel INTEGER NOT NULL,  -- string.id
  device INTEGER NOT NULL,  -- string.id
  flops INTEGER NOT NULL,
  bytes INTEGER NOT NULL,
  begin_ns INTEGER NOT NULL,
  took_ns INTEGER NOT NULL
) STRICT;

-- Tensor operations of the script and the nodes they made.
CREATE TABLE origin (
  id INTEGER PRIMARY KEY,
  node INTEGER NOT NULL,      -- node.id
  operation INTEGER NOT NULL, -- string.id: "conv2d"
  file INTEGER,               -- file.id
  line INTEGER NOT NULL
) STRICT;

-- Steps of a pass in order, found by its range of ids: SELECT * FROM pass_step WHERE pass = 7.
CREATE VIEW pass_step AS
  SELECT step.id, pass.id AS pass, row_number() OVER (PARTITION BY pass.id ORDER BY step.id) AS k,
         step.rule, step.before, step.after, step.kind, step.took_ns
  FROM pass JOIN step ON step.id BETWEEN pass.first_step AND coalesce(pass.last_step, 9223372036854775807) AND step.pass = pass.id;
