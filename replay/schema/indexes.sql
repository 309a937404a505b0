-- Built when a recording ends: rows append fastest without them. Nothing but speed depends on them.
CREATE INDEX IF NOT EXISTS pass_by_scope ON pass (scope, step_count);
CREATE INDEX IF NOT EXISTS text_by_scope ON text (scope);
CREATE INDEX IF NOT EXISTS phase_by_scope ON phase (scope);
