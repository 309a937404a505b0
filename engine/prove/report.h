// Reports on proofs: as text, as JSON, and as the page docs/design/rules.md.
#pragma once
#include "engine/prove/prove.h"

namespace uopscope::prove {

/// A line per rule, with its counterexample below it, and a line of totals.
std::string reportText(const std::vector<RuleProof>& proofs);
/// A list of objects with rule, file, line, status, integer, scope, reason, counterexample, measure,
/// instances, programs.
std::string reportJson(const std::vector<RuleProof>& proofs);
std::string reportMarkdown(const std::vector<RuleProof>& proofs);
/// Whether no rule is refuted.
bool allHold(const std::vector<RuleProof>& proofs);

} // namespace uopscope::prove
