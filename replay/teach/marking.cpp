// "nothing" is an answer too, since many a rule declines.
#include "replay/teach/marking.h"

#include "engine/base/error.h"
#include "engine/rewrite/matcher.h"
#include "engine/rewrite/rule.h"
#include "engine/uop/print.h"
#include "replay/read/cursor.h"
#include "replay/read/link.h"
#include "replay/read/print.h"
#include "replay/read/sql.h"
#include "replay/teach/formula.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

namespace uopscope {

namespace {

constexpr const char* kNothing = "nothing";

std::string folded(std::string_view s) { // to lower case, single blanks, no full stop
  std::string out;
  for (char c : s) {
    if (c == '\n' || c == '\t' || c == '`') c = ' ';
    if (c == ' ' && (out.empty() || out.back() == ' ')) continue;
    out += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  while (!out.empty() && (out.back() == ' ' || out.back() == '.')) out.pop_back();
  return out;
}

std::optional<double> numberOf(const std::string& s) {
  static constexpr std::string_view words[] = {"zero",  "one",   "two",  "three", "four",   "five",  "six",
                                               "seven", "eight", "nine", "ten",   "eleven", "twelve"};
  for (size_t n = 0; n < std::size(words); ++n)
    if (folded(s) == words[n]) return static_cast<double>(n);
  std::string digits;
  for (char c : s)
    if (c != ',' && c != ' ') digits += c;
  if (digits.empty()) return {};
  char* end = nullptr;
  const double x = std::strtod(digits.c_str(), &end);
  return *end ? std::nullopt : std::optional(x);
}

bool sameWord(const std::string& a, const std::string& b) {
  const auto x = numberOf(a), y = numberOf(b);
  if (x && y) return *x == *y;
  return folded(a) == folded(b);
}

bool saysNothing(const std::string& answer) {
  for (const char* word : {kNothing, "none", "it declines", "declines", "no change", "unchanged"})
    if (folded(answer) == word) return true;
  return false;
}

/// The engine's result of one rule on an expression; kNothing where the rule does not apply.
std::string ruleMakes(const Question& q) {
  const RuleDef* rule = nullptr;
  for (const RuleDef* def : knownRules())
    if (!rule && q.rule == def->name) rule = def;
  if (!rule) throw Error(ErrorKind::Key, fmt::format("there is no rule \"{}\" in this build", q.rule));
  Pool pool;
  PoolScope scope(pool);
  const auto type = q.dtype.empty() ? std::optional(dtypes::index) : dtypes::parse("dtypes." + q.dtype);
  if (!type) throw Error(ErrorKind::Value, fmt::format("\"{}\" is no type; write float or int", q.dtype));
  const UOp node = Formula::parse(q.on).build(*type);
  const PatternMatcher one(std::vector<std::shared_ptr<const Rule>>{std::make_shared<Rule>(*rule)});
  const UOp made = one.rewrite(node);
  return made ? expression(made) : kNothing;
}

std::string stepMakes(const Question& q, const std::string& path) {
  Trace trace(path);
  const ResolvedLink at = resolve(trace, Link::parse(q.step));
  for (const StepInfo& s : trace.steps(at.pass, at.step, 1))
    return s.after ? expression(trace.nodes().reader(), s.after, 12, 2000) : kNothing;
  throw Error(ErrorKind::Index, fmt::format("{}: there is no such step in {}", q.step, path));
}

std::string queryGives(const Question& q, const std::string& path) {
  Trace trace(path);
  addSqlFunctions(trace);
  const SqlResult result = query(trace, q.query, 1);
  if (result.rows.empty() || result.rows[0].empty())
    throw Error(ErrorKind::Value, fmt::format("{}: \"{}\" gives no row", path, q.query));
  const SqlValue& v = result.rows[0][0];
  if (const auto* n = std::get_if<int64_t>(&v)) return fmt::format("{}", *n);
  if (const auto* x = std::get_if<double>(&v)) return fmt::format("{}", *x);
  if (const auto* s = std::get_if<std::string>(&v)) return *s;
  return kNothing;
}

AnswerMark markFormula(const std::string& expected, const std::string& answer) {
  AnswerMark m{false, expected, {}};
  if (expected == kNothing || saysNothing(answer)) {
    m.right = saysNothing(answer) && expected == kNothing;
    if (!m.right) m.message = expected == kNothing ? "The rule does not apply here." : "It does apply.";
    return m;
  }
  std::optional<Formula> given;
  try {
    given = Formula::parse(answer);
  } catch (const Error& e) {
    m.message = e.what();
    return m;
  }
  const Formula right = Formula::parse(expected);
  m.right = given->canonical() == right.canonical();
  if (m.right) return m;
  const auto same = given->sameValueAs(right);
  m.message = same && *same ? "Equal in value, but not what the compiler writes: which form is it?"
              : same        ? "Another value: try numbers for the names."
                            : "Not that.";
  return m;
}

} // namespace

AnswerMark markAnswer(const Question& q, const std::string& answer, const std::string& trace) {
  if (!q.rule.empty()) return markFormula(ruleMakes(q), answer);
  if (!q.step.empty()) return markFormula(stepMakes(q, trace), answer);
  if (!q.query.empty()) {
    const std::string expected = queryGives(q, trace);
    const bool right = sameWord(expected, answer);
    return {right, expected, right ? "" : "The trace says something else."};
  }
  const bool right =
      std::ranges::any_of(q.answers, [&](const std::string& a) { return sameWord(a, answer); });
  return {right, q.answers.front(), right ? "" : "Not that."};
}

} // namespace uopscope
