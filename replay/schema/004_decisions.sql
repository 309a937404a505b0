-- Schema version 4: why a rewrite was made, and why another was not.

-- Reasons of steps: what the compiler decided, in words; for a choice its price, and what else there was. Most steps need
-- none: their rule says it all.
CREATE TABLE decision (
  id INTEGER PRIMARY KEY,
  step INTEGER NOT NULL, -- step.id of the rewrite it explains
  reason TEXT NOT NULL,  -- "cut at 1024: four operations hang on it"
  price REAL,            -- of what was chosen; NULL: not a matter of price
  unit TEXT,             -- of the prices: "cycles a result"
  others TEXT            -- JSON array of {"what", "price"}: the best of what was not chosen, cheapest first
) STRICT;

-- Decisions with the pass and the kernel they were made in.
CREATE VIEW v_decision AS
  SELECT decision.id, decision.step, scope.id AS scope, kernel.value AS kernel, name.value AS pass_name, rule.name AS rule,
         decision.reason, decision.price, decision.unit, decision.others
  FROM decision JOIN step ON step.id = decision.step JOIN pass ON pass.id = step.pass JOIN string AS name ON name.id = pass.name
  JOIN rule ON rule.id = step.rule LEFT JOIN scope ON scope.id = pass.scope LEFT JOIN string AS kernel ON kernel.id = scope.name;

-- Reasons of rules for declining a node whose structure they match, with the number of times, per outermost pass (what
-- is nested in it counts with it).
CREATE TABLE decline (
  pass INTEGER NOT NULL,   -- pass.id
  rule INTEGER NOT NULL,   -- rule.id
  reason INTEGER NOT NULL, -- string.id: "y is a constant"
  count INTEGER NOT NULL,
  PRIMARY KEY (pass, rule, reason)
) STRICT, WITHOUT ROWID;

-- Reasons with the names of kernel, pass and rule.
CREATE VIEW v_decline AS
  SELECT decline.pass, scope.id AS scope, kernel.value AS kernel, name.value AS pass_name, rule.name AS rule,
         reason.value AS reason, decline.count
  FROM decline JOIN pass ON pass.id = decline.pass JOIN string AS name ON name.id = pass.name JOIN rule ON rule.id = decline.rule
  JOIN string AS reason ON reason.id = decline.reason LEFT JOIN scope ON scope.id = pass.scope
  LEFT JOIN string AS kernel ON kernel.id = scope.name;
