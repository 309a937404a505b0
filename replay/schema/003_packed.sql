-- Schema version 3: texts, their lines, programs, nodes and counts are packed (a third of the size). What is packed is
-- unpacked by sqlar_uncompress(X, size), which the sqlite3 program and `uopscope query` have; in Python it is
-- zlib.decompress(x) where len(x) < size, else x. The views artifact, text_line, instruction and node_block are what had
-- been tables, so a query for an older file answers here.

DROP TABLE artifact;
DROP TABLE text_line;
DROP TABLE instruction;
DROP TABLE node_block;
DROP TABLE match_block;
DROP TABLE origin;

-- Texts that belong to scopes, with the instructions their lines are made of.
CREATE TABLE packed_text (
  id INTEGER PRIMARY KEY,
  scope INTEGER,               -- scope.id
  kind INTEGER NOT NULL,       -- string.id
  size INTEGER NOT NULL,       -- bytes of the text
  text BLOB NOT NULL,          -- packed
  lines_size INTEGER NOT NULL, -- bytes of lines; 0: nothing is known of the lines
  lines BLOB NOT NULL          -- packed JSON: for each line an array of positions in the kernel's program
) STRICT;

-- The linear program of a kernel: what renderers write down.
CREATE TABLE packed_program (
  kernel INTEGER PRIMARY KEY, -- scope.id
  size INTEGER NOT NULL,      -- bytes of nodes
  nodes BLOB NOT NULL         -- packed JSON: an array of node.id, each but the first as the difference to the one before
) STRICT;

-- Every node that is part of a recorded graph, once, however many passes and kernels made it; ids without gaps, sources
-- before users. One that was not met for millions of nodes may be there again. The view v_node spells out what they are,
-- `uopscope query` their sources.
CREATE TABLE packed_node (
  first INTEGER PRIMARY KEY, -- node.id of the first one; the others follow, up to the next multiple of 1024
  count INTEGER NOT NULL,    -- of nodes
  width INTEGER NOT NULL,    -- bytes of a kind's number: two or three
  kinds BLOB NOT NULL,       -- packed, size is width * count: kind.id of each, lowest byte first
  src_size INTEGER NOT NULL, -- bytes of src
  src BLOB NOT NULL          -- packed: for each node its sources in order: (id - source) * 2, plus 1 if more follow, as LEB128 (7 bits a byte, low first, high bit: more); 0: no sources
) STRICT;

-- Attempts to match in passes that are not nested, and in the passes nested in them, summed per name.
CREATE TABLE packed_match (
  first INTEGER PRIMARY KEY, -- pass.id of the first pass in it
  last INTEGER NOT NULL,     -- and of the last
  size INTEGER NOT NULL,     -- bytes of counts
  counts BLOB NOT NULL,      -- packed LEB128, for each sum: pass.id less the last one's (the first: less 0), string.id of the nested pass's name (0: the pass itself), bytes that follow; for each op its number and how many rules follow; for each of them its id less the last one's, a mask of the values that are not 0, those values: attempts rejected early, structure differs, declined, applied, unchanged
  size_ns INTEGER NOT NULL,  -- bytes of counts_ns
  counts_ns BLOB NOT NULL    -- packed LEB128, for each sum: bytes that follow; for each rule and op that took time its place in counts less the last one's, and values likewise
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

-- Text that belongs to a scope: "source", "ir", "asm", "uops", "opts", "launch" (JSON): id, scope, kind (string.id), text.
CREATE VIEW artifact AS
  SELECT id, scope, kind, CAST(sqlar_uncompress(text, size) AS TEXT) AS text FROM packed_text;

-- Which instructions a line of a kernel's source, IR or assembly is made of: artifact (artifact.id), line (from 1), instruction (instruction.position in the same kernel).
CREATE VIEW text_line AS
  SELECT packed_text.id AS artifact, line.key + 1 AS line, item.value AS instruction
  FROM packed_text, json_each(sqlar_uncompress(lines, lines_size)) AS line, json_each(line.value) AS item
  WHERE lines_size > 0;

-- Linear programs, an instruction a row: kernel (scope.id), position (from 0), node (node.id).
CREATE VIEW instruction AS
  SELECT kernel, item.key AS position, sum(item.value) OVER (PARTITION BY kernel ORDER BY item.key) AS node
  FROM packed_program, json_each(sqlar_uncompress(nodes, size)) AS item;

-- Nodes in blocks as they are before they are packed: first, count, kinds, src.
CREATE VIEW node_block AS
  SELECT first, count, sqlar_uncompress(kinds, width * count) AS kinds, sqlar_uncompress(src, src_size) AS src FROM packed_node;

-- Nodes by what they are: SELECT op, count(*) FROM v_node GROUP BY op.
DROP VIEW v_node;
CREATE VIEW v_node AS
  WITH RECURSIVE digit(d, v) AS (VALUES ('0',0),('1',1),('2',2),('3',3),('4',4),('5',5),('6',6),('7',7),('8',8),('9',9),('A',10),('B',11),('C',12),('D',13),('E',14),('F',15)),
  byte(h, v) AS MATERIALIZED (SELECT a.d || b.d, a.v * 16 + b.v FROM digit a, digit b),
  at(k) AS (SELECT 0 UNION ALL SELECT k + 1 FROM at WHERE k < 1023),
  spelled(id, kind) AS (
    SELECT first + k, l.v + 256 * m.v + 65536 * h.v
    FROM (SELECT first, count, kinds, length(kinds) / count AS w FROM node_block) JOIN at ON k < count
    JOIN byte l ON l.h = hex(substr(kinds, w * k + 1, 1))
    JOIN byte m ON m.h = hex(substr(kinds, w * k + 2, 1))
    JOIN byte h ON h.h = CASE w WHEN 3 THEN hex(substr(kinds, w * k + 3, 1)) ELSE '00' END)
  SELECT spelled.id, op.name AS op, dtype.name AS dtype, arg.value AS arg, tag.value AS tag, spelled.kind
  FROM spelled JOIN kind ON kind.id = spelled.kind JOIN op ON op.id = kind.op JOIN dtype ON dtype.id = kind.dtype
  LEFT JOIN arg ON arg.id = kind.arg LEFT JOIN arg AS tag ON tag.id = kind.tag;
