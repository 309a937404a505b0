-- What readers find in traces of older versions under today's names: each part is run when such a trace is opened. Tables of
-- trace.sql that came later are made empty besides. tests/data has a trace of each version.

--: versions before 2
CREATE TEMP TABLE node_block (first INTEGER, count INTEGER, kinds BLOB, src BLOB);
CREATE TEMP TABLE match_block (pass INTEGER, nested INTEGER, counts BLOB, counts_ns BLOB);
CREATE TEMP TABLE matcher_rule (matcher INTEGER, position INTEGER, rule INTEGER);
CREATE TEMP TABLE instruction (kernel INTEGER, position INTEGER, node INTEGER);
CREATE TEMP TABLE text_line (artifact INTEGER, line INTEGER, instruction INTEGER);

--: versions before 4
CREATE TEMP TABLE decline (pass INTEGER, rule INTEGER, reason INTEGER, count INTEGER);

--: versions before 5
-- Nodes by what they are: SELECT op, count(*) FROM v_node GROUP BY op.
CREATE TEMP VIEW v_node AS
  WITH RECURSIVE digit(d, v) AS (VALUES ('0',0),('1',1),('2',2),('3',3),('4',4),('5',5),('6',6),('7',7),('8',8),('9',9),('A',10),('B',11),('C',12),('D',13),('E',14),('F',15)),
  byte(h, v) AS MATERIALIZED (SELECT a.d || b.d, a.v * 16 + b.v FROM digit a, digit b),
  at(k) AS (SELECT 0 UNION ALL SELECT k + 1 FROM at WHERE k < 1023),
  whole(first, count, kinds) AS MATERIALIZED (SELECT first, count, kinds FROM node_block),
  spelled(id, kind) AS (
    SELECT first + k, l.v + 256 * m.v + 65536 * h.v
    FROM (SELECT first, count, kinds, length(kinds) / count AS w FROM whole) JOIN at ON k < count
    JOIN byte l ON l.h = hex(substr(kinds, w * k + 1, 1))
    JOIN byte m ON m.h = hex(substr(kinds, w * k + 2, 1))
    JOIN byte h ON h.h = CASE w WHEN 3 THEN hex(substr(kinds, w * k + 3, 1)) ELSE '00' END)
  SELECT spelled.id, op.name AS op, dtype.name AS dtype, arg.value AS arg, tag.value AS tag, spelled.kind
  FROM spelled JOIN kind ON kind.id = spelled.kind JOIN op ON op.id = kind.op JOIN dtype ON dtype.id = kind.dtype
  LEFT JOIN arg ON arg.id = kind.arg LEFT JOIN arg AS tag ON tag.id = kind.tag;

--: versions 3 and 4
-- Text that belongs to a scope: "source", "ir", "asm", "uops", "opts", "launch" (JSON): id, scope, kind (string.id), text.
CREATE TEMP VIEW artifact AS
  SELECT id, scope, kind, CAST(sqlar_uncompress(text, size) AS TEXT) AS text FROM packed_text;

-- Which instructions a line of a kernel's source, IR or assembly is made of: artifact (artifact.id), line (from 1), instruction (instruction.position in the same kernel).
CREATE TEMP VIEW text_line AS
  SELECT packed_text.id AS artifact, line.key + 1 AS line, item.value AS instruction
  FROM packed_text, json_each(sqlar_uncompress(lines, lines_size)) AS line, json_each(line.value) AS item
  WHERE lines_size > 0;

-- Linear programs, an instruction a row: kernel (scope.id), position (from 0), node (node.id).
CREATE TEMP VIEW instruction AS
  SELECT kernel, item.key AS position, sum(item.value) OVER (PARTITION BY kernel ORDER BY item.key) AS node
  FROM packed_program, json_each(sqlar_uncompress(nodes, size)) AS item;

-- Nodes in blocks as they are before they are packed: first, count, kinds, src.
CREATE TEMP VIEW node_block AS
  SELECT first, count, sqlar_uncompress(kinds, width * count) AS kinds, sqlar_uncompress(src, src_size) AS src FROM packed_node;

--: versions 5 and 6
-- Text that belongs to a scope: "source", "ir", "asm", "uops", "opts", "launch" (JSON): id, scope, kind (string.id), text.
CREATE TEMP VIEW artifact AS
  SELECT id, scope, kind, CAST(substr((SELECT sqlar_uncompress(texts, size) FROM text_block WHERE id = text.block), text.at + 1, text.size) AS TEXT) AS text FROM text;

-- Which instructions a line of a kernel's source, IR or assembly is made of: artifact (artifact.id), line (from 1), instruction (instruction.position in the same kernel).
CREATE TEMP VIEW text_line AS
  SELECT text.id AS artifact, line.key + 1 AS line, sum(item.value) OVER (PARTITION BY text.id ORDER BY line.key, item.key) AS instruction
  FROM text, json_each(CAST(substr((SELECT sqlar_uncompress(lines, lines_size) FROM text_block WHERE id = text.block), lines_at + 1, text.lines_size) AS TEXT)) AS line,
       json_each(line.value) AS item
  WHERE text.lines_size > 0;

-- Linear programs, an instruction a row: kernel (scope.id), position (from 0), node (node.id).
CREATE TEMP VIEW instruction AS
  SELECT kernel, item.key AS position, sum(item.value) OVER (PARTITION BY kernel ORDER BY item.key) AS node
  FROM packed_program, json_each(CAST(sqlar_uncompress(nodes, size) AS TEXT)) AS item;

--: version 5
-- Attempts by pass, kernel, rule, operation and outcome: SELECT rule, sum(count) FROM v_match_pass WHERE kernel = 'r_16_16' AND outcome = 'applied' GROUP BY rule.
CREATE TEMP VIEW v_match_pass AS
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

--: versions before 7
-- Which instruction, and which node, a line of a kernel's text is made of.
CREATE TEMP VIEW v_line AS
  SELECT artifact.scope AS kernel, kind.value AS text, text_line.line, text_line.instruction, instruction.node
  FROM text_line JOIN artifact ON artifact.id = text_line.artifact JOIN string AS kind ON kind.id = artifact.kind
  JOIN instruction ON instruction.kernel = artifact.scope AND instruction.position = text_line.instruction;

-- Kernels: their origin, their sizes, and the cost of compiling them.
CREATE TEMP VIEW v_kernel AS
  SELECT scope.id, name.value AS name, file.path AS file, scope.line, scope.root,
         (SELECT sum(step_count) FROM pass WHERE pass.scope = scope.id) AS steps,
         kernel.opts, kernel.device, kernel.global_size, kernel.local_size, kernel.registers, kernel.ops, kernel.bytes,
         (SELECT count(*) FROM instruction WHERE kernel = scope.id) AS instructions,
         scope.end_ns - scope.begin_ns AS took_ns
  FROM scope JOIN string AS name ON name.id = scope.name LEFT JOIN file ON file.id = scope.file
  LEFT JOIN kernel ON kernel.scope = scope.id
  WHERE scope.kind = 'kernel';
