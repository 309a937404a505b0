-- Built when a recording ends: rows append fastest without them. Nothing but speed depends on them.
CREATE INDEX IF NOT EXISTS pass_by_scope ON pass (scope);
CREATE INDEX IF NOT EXISTS artifact_by_scope ON artifact (scope);
CREATE INDEX IF NOT EXISTS origin_by_node ON origin (node);
CREATE INDEX IF NOT EXISTS origin_by_line ON origin (file, line);
CREATE INDEX IF NOT EXISTS phase_by_scope ON phase (scope);
