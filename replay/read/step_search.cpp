// Conditions become SQL text. Words that a person typed reach it only as quoted literals; the exception is
// `where`, whose SQL runs on a read-only connection.
#include "replay/read/step_search.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <sstream>

namespace uopscope {
namespace {

// Two opposite rewrites at most this many steps apart count as taking each other back.
constexpr int64_t kNearby = 2000;
// Passes with more steps than this are never skipped as mere bookkeeping.
constexpr int64_t kShort = 500;

std::string quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("''") : std::string(1, c);
  return out + "'";
}
// "add-*" is used as a GLOB of SQLite; a name without a star must match as a whole.
std::string like(std::string_view column, std::string_view value) {
  return fmt::format("{} {} {}", column, value.find('*') != value.npos ? "GLOB" : "=", quoted(value));
}
std::string ofOperation(std::string_view column, std::string value) {
  std::ranges::transform(value, value.begin(),
                         [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return fmt::format("(SELECT kind.op FROM node JOIN kind ON kind.id = node.kind WHERE node.id = step.{}) IN "
                     "(SELECT id FROM op WHERE {})",
                     column, like("name", value));
}
int64_t number(const std::string& word, const std::string& value) {
  int64_t n = 0;
  const auto [end, problem] = std::from_chars(value.data(), value.data() + value.size(), n);
  if (problem != std::errc() || end != value.data() + value.size())
    throw Error(ErrorKind::Value, fmt::format("\"{}\": \"{}\" is no number", word, value));
  return n;
}

std::string termSql(const std::string& word, const std::string& field, char sign, const std::string& value) {
  if (field == "rule") return fmt::format("step.rule IN (SELECT id FROM rule WHERE {})", like("name", value));
  if (field == "op") return ofOperation("before", value);
  if (field == "into") return ofOperation("after", value);
  if (field == "node") return fmt::format("(step.before = {0} OR step.after = {0})", number(word, value));
  if (field == "pass")
    return fmt::format(
        "step.pass IN (SELECT pass.id FROM pass JOIN string ON string.id = pass.name WHERE {})",
        like("string.value", value));
  if (field == "kernel")
    return fmt::format(
        "step.pass IN (SELECT pass.id FROM pass JOIN scope ON scope.id = pass.scope JOIN string ON "
        "string.id = scope.name WHERE {})",
        like("string.value", value));
  if (field == "changed") return value == "no" ? "step.after = step.before" : "step.after <> step.before";
  if (field == "error") return value == "no" ? "step.kind <> 2" : "step.kind = 2";
  if (field == "took" && sign != ':') return fmt::format("step.took_ns {} {}", sign, number(word, value));
  throw Error(ErrorKind::Value,
              fmt::format("there is no field \"{}\": use rule, op, into, node, pass, kernel, "
                          "changed, error, took> or where SQL",
                          field));
}

std::string orTrue(const std::string& condition) {
  return condition.empty() ? "1" : condition;
}

} // namespace

std::string stepCondition(const std::string& text) {
  const size_t first = text.find_first_not_of(" \t\n");
  if (first == text.npos) return {};
  const std::string wanted = text.substr(first, text.find_last_not_of(" \t\n") - first + 1);
  if (wanted.size() > 6 && (wanted.starts_with("where ") || wanted.starts_with("WHERE ")))
    return "(" + wanted.substr(6) + ")";
  std::string out;
  std::istringstream words(wanted);
  for (std::string word; words >> word;) {
    const bool negated = word.starts_with('-');
    const std::string bare = word.substr(negated);
    const size_t at = bare.find_first_of(":<>");
    const bool named = at != bare.npos && at > 0 && at + 1 < bare.size() &&
                       std::all_of(bare.begin(), bare.begin() + static_cast<std::ptrdiff_t>(at),
                                   [](unsigned char c) { return std::islower(c) != 0; });
    const std::string sql = named ? termSql(word, bare.substr(0, at), bare[at], bare.substr(at + 1))
                                  : termSql(word, "rule", ':', word);
    out += (out.empty() ? "" : " AND ") + (named && negated ? "NOT (" + sql + ")" : sql);
  }
  return out;
}

std::optional<StepPlace> placeOfStep(Trace& trace, StepId id) {
  Statement find = trace.database().prepare("SELECT pass FROM step WHERE id = ?1");
  find.bind(1, id);
  if (!find.step()) return std::nullopt;
  const PassId pass = find.integer(0);
  const auto steps = trace.steps(pass);
  const auto at = std::ranges::lower_bound(steps, id, {}, &StepInfo::id);
  if (at == steps.end() || at->id != id) return std::nullopt;
  return StepPlace{pass, *at};
}

StepId nextStep(Trace& trace, StepId from, const std::string& condition, int direction) {
  Statement s = trace.database().prepare(
      fmt::format("SELECT step.id FROM step WHERE step.id {} ?1 AND {} ORDER BY step.id {} LIMIT 1",
                  direction > 0 ? ">" : "<", orTrue(condition), direction > 0 ? "ASC" : "DESC"));
  if (!s.readOnly()) throw Error(ErrorKind::Value, "a condition only reads");
  s.bind(1, from);
  return s.step() ? s.integer(0) : 0;
}

StepId nextByRule(Trace& trace, RuleId rule, StepId after) {
  return nextStep(trace, after, fmt::format("step.rule = {}", rule), 1);
}

int64_t countSteps(Trace& trace, const std::string& condition) {
  Statement s =
      trace.database().prepare(fmt::format("SELECT count(*) FROM step WHERE {}", orTrue(condition)));
  if (!s.readOnly()) throw Error(ErrorKind::Value, "a condition only reads");
  return s.step() ? s.integer(0) : 0;
}

std::vector<int64_t> stepsOfPass(Trace& trace, PassId pass, const std::string& condition) {
  const PassInfo info = trace.pass(pass);
  Statement s = trace.database().prepare(fmt::format(
      "SELECT step.id FROM step WHERE step.pass = ?1 AND step.id BETWEEN ?2 AND ?3 AND {} ORDER BY "
      "step.id",
      orTrue(condition)));
  if (!s.readOnly()) throw Error(ErrorKind::Value, "a condition only reads");
  s.bind(1, pass).bind(2, info.firstStep).bind(3, info.endNs ? info.lastStep : INT64_MAX);
  std::vector<int64_t> out;
  const auto steps = trace.steps(pass);
  auto at = steps.begin();
  while (s.step()) {
    at = std::ranges::lower_bound(at, steps.end(), s.integer(0), {}, &StepInfo::id);
    if (at == steps.end()) break;
    if (at->id == s.integer(0)) out.push_back(at->k);
  }
  return out;
}

bool onlyRetags(Trace& trace, const PassInfo& pass) {
  if (pass.steps == 0 || pass.steps > kShort) return false;
  return std::ranges::all_of(trace.steps(pass.id), [&](const StepInfo& s) {
    if (s.kind == StepKind::RewriteError || s.after == kNoNode || s.after == s.before) return false;
    const RawNode a = trace.nodes().raw(s.before), b = trace.nodes().raw(s.after);
    return a.op == b.op && a.dtype == b.dtype && a.arg == b.arg && std::ranges::equal(a.src, b.src);
  });
}

PassId lastPass(Trace& trace) {
  Statement s = trace.database().prepare("SELECT max(id) FROM pass");
  return s.step() ? s.integer(0) : 0;
}

std::vector<TakenBack> stepsTakenBack(Trace& trace, int64_t most) {
  Statement s = trace.database().prepare(
      "SELECT a.id, b.id, a.rule, b.rule FROM step a JOIN step b ON b.pass = a.pass AND b.id > a.id AND b.id "
      "< "
      "a.id + ?1 AND b.before = a.after AND b.after = a.before WHERE a.after <> a.before LIMIT ?2");
  std::vector<TakenBack> out;
  for (s.bind(1, kNearby).bind(2, most); s.step();)
    out.push_back({s.integer(0), s.integer(1), s.integer(2), s.integer(3)});
  return out;
}

} // namespace uopscope
