// Writes the results of proofs as text, JSON and Markdown.
#include "engine/prove/report.h"

#include "engine/prove/solver.h"
#include "engine/rules/rounding.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

namespace uopscope::prove {

namespace {

constexpr ProofStatus kStatuses[] = {ProofStatus::Proved,  ProofStatus::Exhaustive,
                                     ProofStatus::Checked, ProofStatus::ChangesRounding,
                                     ProofStatus::Assumed, ProofStatus::Refuted};

size_t countOf(const std::vector<RuleProof>& proofs, ProofStatus s) {
  return static_cast<size_t>(
      std::count_if(proofs.begin(), proofs.end(), [&](const RuleProof& p) { return p.status == s; }));
}

std::string summary(const std::vector<RuleProof>& proofs) {
  std::string text = fmt::format("{} rules:", proofs.size());
  for (ProofStatus s : kStatuses)
    if (size_t n = countOf(proofs, s)) text += fmt::format(" {} {},", n, statusName(s));
  size_t integers = 0, proved = 0;
  for (const RuleProof& p : proofs) {
    integers += p.isInteger;
    proved += p.integersProved;
  }
  text.back() = '.';
  if (integers)
    text +=
        fmt::format(" Of {} that rewrite integers or booleans {} are proved for these ({:.0f} %).", integers,
                    proved, 100.0 * static_cast<double>(proved) / static_cast<double>(integers));
  return text;
}

/// The text as a cell of a table, without bars and line ends.
std::string cell(std::string text) {
  for (size_t at = 0; (at = text.find('|', at)) != std::string::npos; at += 2) text.replace(at, 1, "\\|");
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

} // namespace

bool allHold(const std::vector<RuleProof>& proofs) {
  return countOf(proofs, ProofStatus::Refuted) == 0;
}

std::string reportText(const std::vector<RuleProof>& proofs) {
  std::string out;
  for (const RuleProof& p : proofs) {
    out += fmt::format("{:<16} {:<26} {}\n", statusName(p.status), p.rule, p.scope);
    if (!p.reason.empty()) out += fmt::format("{:<43} {}\n", "", p.reason);
    if (p.status == ProofStatus::Refuted) out += p.counterexample + "\n";
  }
  return out + summary(proofs) + "\n";
}

std::string reportJson(const std::vector<RuleProof>& proofs) {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const RuleProof& p : proofs)
    all.push_back({{"rule", p.rule},
                   {"file", p.file},
                   {"line", p.line},
                   {"status", statusName(p.status)},
                   {"integer", p.isInteger},
                   {"integers_proved", p.integersProved},
                   {"scope", p.scope},
                   {"reason", p.reason},
                   {"counterexample", p.counterexample},
                   {"measure", p.measure},
                   {"instances", p.instances},
                   {"programs", p.programs}});
  return all.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

std::string reportMarkdown(const std::vector<RuleProof>& proofs) {
  std::string out = R"(# Rules and their proofs

Made by `uopscope prove --markdown`; a test holds it against the tables. `uopscope prove RULE` says it of one rule,
`uopscope prove --rules FILE.py` of the rules of a script.

| status | what it says |
|---|---|
| proved | Z3 found no values on which both sides differ. *For all values, constants too* means the rule's expression with every variable and every constant unknown, for the types named. *N graphs* means that the rule itself, with its conditions, rewrote N generated graphs, each of which is proved for all values of its variables; its constants, extents and shape are those of the graph. Where Z3 did not decide in time, and the variables have at most 70,000 values together, all of them were computed. |
| exhaustive | both sides were computed on every half-precision float, or on every pair of 8-bit floats |
| checked | both sides were computed on special and random values, or programs in which the rule applied gave the values of their tensor graph, on six targets by the reference interpreter |
| changes-rounding | a float may come out with other bits; the reason says why that is allowed |
| assumed | the reason says what stands in for a proof |
| refuted | there are values on which the sides differ: a bug |

What proofs take for granted: integers are bits of their width that wrap; an index is an integer without bounds but
those of its variables (64 bits that do not overflow, where it is converted); a division by zero, and Invalid, have no
value, so a rule may make anything of them, but where an index is Invalid stays as it is; lanes are computed one by one.
Floats are compared as values: any NaN is like any other, and *a zero may change its sign* is said where it may.
A node that only says where or when a value is stored (CONTIGUOUS, COPY, AFTER, DETACH) has the value of its source.

)";
  out += summary(proofs) + "\n\n## Floats\n\nRules that change the bits of a float. `STRICT_FLOAT=1` "
                           "switches off those marked yes.\n\n";
  out += "| rule | switched off | why it is allowed |\n|---|---|---|\n";
  for (const RoundingRule& r : roundingRules())
    out += fmt::format("| {} | {} | {} |\n", r.name, r.optional ? "yes" : "no", cell(std::string(r.reason)));
  out += R"(
## Ends

A set of rules that is applied to a fixed point ends where every rewrite lowers some measure that no later rule raises
again. Measures are taken in turn for each set: one that no remaining rule raises removes the rules that always lower it.
The last column names the measure that removed the rule from the largest set it is in, on the graphs of its proof; *none*
is a rule that no measure removes: it looks for a normal form, and the driver stops a node that comes back. Rules without
a word are of no such set: their passes replace each node once.

## Rules
)";
  std::map<std::string, std::vector<const RuleProof*>> byFile;
  for (const RuleProof& p : proofs) byFile[p.file].push_back(&p);
  for (const auto& [file, rules] : byFile) {
    out += fmt::format("\n### {}\n\n| rule | status | for | ends by |\n|---|---|---|---|\n", file);
    for (const RuleProof* p : rules)
      out += fmt::format("| {} | {} | {} | {} |\n", p->rule, statusName(p->status),
                         cell(p->reason.empty() || p->status == ProofStatus::ChangesRounding ? p->scope
                              : p->scope.empty()                                             ? p->reason
                                                 : p->scope + "; " + p->reason),
                         p->measure);
  }
  return out;
}

} // namespace uopscope::prove
