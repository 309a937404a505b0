-- An experiment (.uopbench): one script under a matrix of settings, each cell run several times in turn.
PRAGMA application_id = 0x554f4245;
PRAGMA user_version = 2;

CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID; -- script, machine, build, seed, times

-- A point of the matrix.
CREATE TABLE cell (
  id INTEGER PRIMARY KEY,
  settings TEXT NOT NULL -- JSON object: {"NOOPT": "1", "program": "..."}; equal settings are one cell when files are compared
) STRICT;

-- One run of the script. Times in nanoseconds; NULL: the program does not say.
CREATE TABLE run (
  id INTEGER PRIMARY KEY,
  cell INTEGER NOT NULL,
  round INTEGER NOT NULL,     -- 0 and below: warm-up, not counted
  place INTEGER NOT NULL,     -- in the order of all runs
  exit_code INTEGER NOT NULL, -- 0 fine; below 0: the number of the signal that ended it
  wall_ns INTEGER NOT NULL,
  cpu_ns INTEGER NOT NULL,    -- user and system time
  peak_bytes INTEGER NOT NULL,-- resident set
  schedule_ns INTEGER, compile_ns INTEGER, search_ns INTEGER, kernel_ns INTEGER,
  kernels INTEGER, launches INTEGER, device_bytes INTEGER, -- peak of buffers
  output TEXT NOT NULL        -- the end of stdout and stderr
) STRICT;

-- Every compilation of a cell, of its first warm-up run: stories, IR, sources. New in version 2.
CREATE TABLE compilations (
  cell INTEGER PRIMARY KEY,
  corpus BLOB NOT NULL -- a .uopcorpus file, as `bench kernels` writes it
) STRICT;

-- Kernels of a cell, from its first counted run.
CREATE TABLE kernel (
  cell INTEGER NOT NULL,
  name TEXT NOT NULL,
  launches INTEGER NOT NULL,
  median_ns INTEGER NOT NULL,
  source TEXT NOT NULL
) STRICT;
