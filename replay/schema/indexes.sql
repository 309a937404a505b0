-- Built when a recording ends: rows append fastest without them. Nothing but speed depends on them.
CREATE INDEX IF NOT EXISTS pass_by_scope ON pass (scope);
CREATE INDEX IF NOT EXISTS pass_with_steps ON pass (scope, step_count) WHERE step_count > 0;
CREATE INDEX IF NOT EXISTS packed_text_by_scope ON packed_text (scope);
CREATE INDEX IF NOT EXISTS phase_by_scope ON phase (scope);
