-- A corpus of compilations (.uopcorpus): inputs of the compiler, and what one build made of them.
-- Described in docs/guide/replay.md. Texts and stories are kept in blocks of many compilations; a word is a text that many
-- rows share. A running capture writes blocks of form 0 and rows of word and match_count; its end packs them.
CREATE TABLE meta (
  key TEXT PRIMARY KEY,        -- "status", "commit", "dirty", "program_version", "made_at", "machine", "command"
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE word (
  id INTEGER PRIMARY KEY,
  value TEXT NOT NULL
) STRICT;

CREATE TABLE block (
  id INTEGER PRIMARY KEY,
  raw_size INTEGER NOT NULL,   -- bytes once decompressed
  data BLOB NOT NULL,
  form INTEGER NOT NULL        -- 0: one zstd frame; 1: lines, line_codec.h; 2: stories, story_codec.h; columns.h packs both
) STRICT;

-- Words that were packed. The next words have rows.
CREATE TABLE word_block (
  first INTEGER PRIMARY KEY,   -- word.id of the first; the next ones follow
  count INTEGER NOT NULL,
  block INTEGER NOT NULL       -- block.id: a line with the size of each, then all of them
) STRICT;

-- Rows of match_count that were packed.
CREATE TABLE match_block (
  block INTEGER PRIMARY KEY    -- block.id: a row a line, its columns with spaces between
) STRICT;

CREATE TABLE compilation (
  id INTEGER PRIMARY KEY,
  kind TEXT NOT NULL,          -- "kernel" or "schedule"
  input_hash INTEGER NOT NULL UNIQUE, -- of graph, device and settings
  output_hash INTEGER NOT NULL, -- of status, source, IR and launch sizes
  story_hash INTEGER NOT NULL, -- of all passes and rewrites
  name INTEGER NOT NULL,       -- word.id
  device INTEGER NOT NULL,     -- word.id
  settings INTEGER NOT NULL,   -- word.id: JSON
  file INTEGER NOT NULL,       -- word.id: script that asked for it first
  line INTEGER NOT NULL,
  uses INTEGER NOT NULL,       -- how often it was asked for
  status TEXT NOT NULL,        -- "ok", "failed", "crashed" or "timeout"
  message INTEGER NOT NULL,    -- word.id: of a failure
  compile_ns INTEGER NOT NULL, -- from the graph to source
  flops INTEGER,               -- NULL: unknown or symbolic
  bytes INTEGER,
  block INTEGER NOT NULL,      -- block.id of the texts: graph, source, IR, launch, options
  offset INTEGER NOT NULL,
  size INTEGER NOT NULL,
  asm_block INTEGER,           -- the same of the assembly; NULL: none
  asm_offset INTEGER,
  asm_size INTEGER,
  story_block INTEGER,         -- the same of the story
  story_offset INTEGER,
  story_size INTEGER,
  parts BLOB                   -- LEB128: the size of each text but the last, the story's hash of applied rules. NULL: of version 1, with the story between the texts
) STRICT;

CREATE TABLE match_count (
  pass INTEGER NOT NULL,       -- word.id
  rule INTEGER NOT NULL,       -- word.id
  file INTEGER NOT NULL,       -- word.id: where the rule stands
  line INTEGER NOT NULL,
  rejected_early INTEGER NOT NULL,
  structure_differs INTEGER NOT NULL,
  declined INTEGER NOT NULL,
  applied INTEGER NOT NULL,
  unchanged INTEGER NOT NULL,
  took_ns INTEGER NOT NULL,
  PRIMARY KEY (pass, rule, file, line)
) STRICT, WITHOUT ROWID;
