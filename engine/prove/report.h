// What proofs say, as text, JSON and as the page docs/design/rules.md.
#pragma once
#include "engine/prove/prove.h"

namespace uopscope::prove {

/// A line for each rule, counterexamples below it, and a line of counts.
std::string reportText(const std::vector<RuleProof>& proofs);
/// A list of objects: rule, file, line, status, integer, scope, reason, counterexample, measure, instances,
/// programs.
std::string reportJson(const std::vector<RuleProof>& proofs);
std::string reportMarkdown(const std::vector<RuleProof>& proofs);
/// Whether none is refuted.
bool allHold(const std::vector<RuleProof>& proofs);

} // namespace uopscope::prove
