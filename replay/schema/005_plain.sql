-- Schema version 5: nodes, edges and attempts are plain values, so that whatever reads SQLite answers with them; texts share
-- blocks, which pays for it. Texts, their lines and programs are all that is still packed: v_line, artifact, text_line and
-- instruction need sqlar_uncompress(X, size), every other view needs nothing.

DROP VIEW artifact;
DROP VIEW text_line;
DROP VIEW instruction;
DROP VIEW node_block;
DROP VIEW v_node;
DROP VIEW v_kernel;
DROP TABLE packed_text;
DROP TABLE packed_program;
DROP TABLE packed_node;
DROP TABLE packed_match;
DROP TABLE step;

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

-- Attempts at nodes of one operation in one pass; passes that came to the same share it.
CREATE TABLE match_group (
  id INTEGER PRIMARY KEY,
  op INTEGER NOT NULL, -- op.id of the nodes tried
  cells TEXT NOT NULL  -- JSON array: first a number n; then for each rule tried its rule.id less the one before, alone where it was rejected early n times, else in an array with the attempts rejected early, structure differs, declined, applied, unchanged (zeros at the end left out)
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
  times BLOB NOT NULL        -- packed LEB128, for each row of match_pass in these: pass less the last one's (the first: less 0), nested, bytes that follow; for each rule and operation that took time its place in the row's groups, from 1, less the last one's, a mask of the values that are not 0, those values in nanoseconds, in the order of cells
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

-- Nodes by what they are: SELECT op, count(*) FROM v_node GROUP BY op.
CREATE VIEW v_node AS
  WITH RECURSIVE byte(all_of) AS (VALUES (X'000102030405060708090A0B0C0D0E0F101112131415161718191A1B1C1D1E1F202122232425262728292A2B2C2D2E2F303132333435363738393A3B3C3D3E3F404142434445464748494A4B4C4D4E4F505152535455565758595A5B5C5D5E5F606162636465666768696A6B6C6D6E6F707172737475767778797A7B7C7D7E7F808182838485868788898A8B8C8D8E8F909192939495969798999A9B9C9D9E9FA0A1A2A3A4A5A6A7A8A9AAABACADAEAFB0B1B2B3B4B5B6B7B8B9BABBBCBDBEBFC0C1C2C3C4C5C6C7C8C9CACBCCCDCECFD0D1D2D3D4D5D6D7D8D9DADBDCDDDEDFE0E1E2E3E4E5E6E7E8E9EAEBECEDEEEFF0F1F2F3F4F5F6F7F8F9FAFBFCFDFEFF')),
  at(k) AS (SELECT 0 UNION ALL SELECT k + 1 FROM at WHERE k < 1023),
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
  WITH RECURSIVE byte(all_of) AS (VALUES (X'000102030405060708090A0B0C0D0E0F101112131415161718191A1B1C1D1E1F202122232425262728292A2B2C2D2E2F303132333435363738393A3B3C3D3E3F404142434445464748494A4B4C4D4E4F505152535455565758595A5B5C5D5E5F606162636465666768696A6B6C6D6E6F707172737475767778797A7B7C7D7E7F808182838485868788898A8B8C8D8E8F909192939495969798999A9B9C9D9E9FA0A1A2A3A4A5A6A7A8A9AAABACADAEAFB0B1B2B3B4B5B6B7B8B9BABBBCBDBEBFC0C1C2C3C4C5C6C7C8C9CACBCCCDCECFD0D1D2D3D4D5D6D7D8D9DADBDCDDDEDFE0E1E2E3E4E5E6E7E8E9EAEBECEDEEEFF0F1F2F3F4F5F6F7F8F9FAFBFCFDFEFF')),
  walk(rest, node, position, number, scale) AS ( -- scale 0: the number is complete
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
  WITH item(attempts, op, at, value, tried) AS MATERIALIZED (
    SELECT match_group.id, match_group.op, cell.key, cell.value, json_extract(match_group.cells, '$[0]')
    FROM match_group, json_each(match_group.cells) AS cell WHERE cell.key > 0),
  cell(attempts, op, rule, early, differs, declined, applied, unchanged) AS MATERIALIZED (
    SELECT attempts, op, sum(iif(json_type(value) = 'array', json_extract(value, '$[0]'), value)) OVER (PARTITION BY attempts ORDER BY at),
           iif(json_type(value) = 'array', json_extract(value, '$[1]'), tried), json_extract(value, '$[2]'),
           json_extract(value, '$[3]'), json_extract(value, '$[4]'), json_extract(value, '$[5]') FROM item),
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
