// Asks Z3 whether two expressions are equal.
#include "engine/prove/solver.h"

#include <algorithm>
#include <cstring>

#ifdef UOPSCOPE_HAVE_Z3
#include "engine/prove/process_copies.h"
#include "engine/prove/terms.h"

#include <fmt/format.h>
#endif

namespace uopscope::prove {

std::vector<UOp> leavesOf(UOp before, UOp after) {
  std::vector<UOp> out;
  for (UOp root : {before, after})
    for (UOp u : root.toposort())
      if (u.in(kLeaves) && std::find(out.begin(), out.end(), u) == out.end()) out.push_back(u);
  return out;
}

#ifdef UOPSCOPE_HAVE_Z3

namespace {
constexpr unsigned kStepsPerMillisecond = 2000;
constexpr const char* kNotInTime = "Z3 did not decide in time";
} // namespace

bool Solver::available() {
  return true;
}
std::string Solver::version() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  Z3_get_version(&a, &b, &c, &d);
  return fmt::format("{}.{}.{}", a, b, c);
}

namespace {

/// Whether an index is converted to or from a type with a width, or its bits are used.
bool needsBits(UOp root) {
  for (UOp u : root.toposort()) {
    bool converts =
        u.is(Op::CAST) && isIndex(u) != isIndex(u.src(0)) && u.dtype().isInt() && u.src(0).dtype().isInt();
    if (converts || (isIndex(u) && u.in({Op::AND, Op::OR, Op::XOR, Op::SHL, Op::SHR, Op::BITCAST})))
      return true;
  }
  return false;
}
/// Whether arithmetic on an index stays within 64 bits for all values of its variables.
bool fitsBits(UOp root) {
  constexpr OpSet kGrows{Op::ADD, Op::SUB, Op::MUL, Op::NEG, Op::SHL, Op::MULACC};
  for (UOp u : root.toposort())
    if (isIndex(u) && u.in(kGrows) && (u.vmin() == INT64_MIN || u.vmax() == INT64_MAX)) return false;
  return true;
}
/// Whether it contains a division, which is hard for bit-vectors and easy for numbers.
bool divides(UOp root) {
  for (UOp u : root.toposort())
    if (u.in({Op::IDIV, Op::MOD}) && u.dtype().itemsize() > 1) return true;
  return false;
}

ConstValue valueOf(UOp leaf, const z3::expr& v) {
  if (v.is_bool()) return ConstValue::ofBool(v.is_true());
  int64_t n = 0;
  uint64_t bits = 0;
  if (v.is_numeral_i64(n)) {
    unsigned width = v.is_bv() ? v.get_sort().bv_size() : 64;
    if (width < 64 && !leaf.dtype().isUnsigned() && n >> (width - 1) & 1) n -= int64_t{1} << width;
    return ConstValue::ofInt(n);
  }
  v.is_numeral_u64(bits);
  return ConstValue::ofInt(static_cast<int64_t>(bits));
}

/// A leaf and its value as a copy of the process tells them: nodes have the same addresses there.
using LeafValue = std::pair<UOp, ConstValue>;
struct ToldValue {
  const Node* leaf;
  ConstValue value;
};
std::string bytesOf(const LeafValue& v) {
  const ToldValue told{v.first.node(), v.second};
  return {reinterpret_cast<const char*>(&told), sizeof told};
}
std::vector<LeafValue> valuesOf(std::string_view bytes) {
  std::vector<LeafValue> values;
  for (; bytes.size() >= sizeof(ToldValue); bytes.remove_prefix(sizeof(ToldValue))) {
    ToldValue told{};
    std::memcpy(&told, bytes.data(), sizeof told);
    values.emplace_back(UOp(told.leaf), told.value);
  }
  return values;
}

} // namespace

Answer Solver::compare(UOp before, UOp after) {
  bool bits = needsBits(before) || needsBits(after), hard = divides(before) || divides(after);
  // With bit-vectors a division is decided quickly or not at all, so it gets a quarter of the time; then
  // numbers are tried.
  unsigned all = milliseconds_;
  auto ask = [&](Numbers numbers, unsigned milliseconds) {
    return hard ? compareApart(before, after, numbers, milliseconds)
                : compareAs(before, after, numbers, milliseconds);
  };
  Answer answer = ask(bits ? Numbers::Bits : Numbers::IndexUnbounded, hard ? all / 4 : all);
  if (answer.verdict != Verdict::Undecided) return answer;
  Answer other = ask(Numbers::Wrapped, all);
  return other.verdict == Verdict::Undecided ? answer : other;
}

/// The same in a copy of the process: divisions by unknown numbers may keep Z3 busy for ever, without a step that its limit counts.
Answer Solver::compareApart(UOp before, UOp after, Numbers numbers, unsigned milliseconds) {
  const unsigned seconds = 2 + milliseconds / 500;
  const std::optional<std::string> text = runLimited(seconds, [&] {
    const Answer answer = compareAs(before, after, numbers, milliseconds);
    std::string told(1, static_cast<char>(answer.verdict));
    if (answer.verdict == Verdict::Undecided) return told + answer.why;
    for (const auto& value : answer.values) told.append(bytesOf(value));
    return told;
  });
  if (!text || text->empty()) return {Verdict::Undecided, kNotInTime, {}};
  Answer answer{static_cast<Verdict>((*text)[0]), {}, {}};
  const std::string_view rest = std::string_view(*text).substr(1);
  if (answer.verdict == Verdict::Undecided)
    answer.why = rest;
  else
    answer.values = valuesOf(rest);
  return answer;
}

Answer Solver::compareAs(UOp before, UOp after, Numbers numbers, unsigned milliseconds) {
  Answer answer;
  // Each question has a context of its own: what Z3 does, and how long it takes, would else depend on the questions before.
  z3::context c;
  if (numbers == Numbers::Bits && (!fitsBits(before) || !fitsBits(after)))
    return {Verdict::Undecided, "an index may leave 64 bits", {}};
  try {
    Terms terms(c, numbers);
    const Lanes a = terms.of(before);
    const Lanes b = before.is(Op::STORE) && after.is(Op::NOOP) ? terms.memoryBefore(before) : terms.of(after);
    if (a.size() != b.size()) return {Verdict::Undecided, "another number of lanes", {}};
    bool decidesAccess = isIndex(before) || before.is(Op::INDEX);
    z3::expr same = c.bool_val(true);
    for (size_t l = 0; l < a.size(); ++l) {
      z3::expr gates = decidesAccess ? a[l].valid == b[l].valid : z3::implies(a[l].valid, b[l].valid);
      z3::expr equal = b[l].defined && gates && z3::implies(a[l].valid, a[l].value == b[l].value);
      same = same && z3::implies(a[l].defined, equal);
    }
    // Z3's default solver makes all of its tactics first, which takes 7 ms; the questions themselves need one or two.
    z3::solver solver(c, z3::solver::simple());
    z3::params limits(c);
    // The limit counts steps, so a loaded machine proves as much as an idle one. A limit of time would start a thread of
    // Z3's, whose timer can wait for a lock for ever (4.8.12).
    limits.set("rlimit", milliseconds * kStepsPerMillisecond);
    solver.set(limits);
    for (unsigned i = 0; i < terms.bounds().size(); ++i) solver.add(terms.bounds()[static_cast<int>(i)]);
    solver.add(!same);
    switch (solver.check()) {
    case z3::unsat: answer.verdict = Verdict::Equal; break;
    case z3::unknown: answer.why = kNotInTime; break;
    case z3::sat: {
      z3::model model = solver.get_model();
      answer.verdict = Verdict::Differs;
      for (const auto& [leaf, term] : terms.leaves())
        if (!leaf.dtype().isFloat()) answer.values.emplace_back(leaf, valueOf(leaf, model.eval(term, true)));
      break;
    }
    }
  } catch (const NoTerm& e) {
    answer.why = e.why;
  } catch (const z3::exception& e) {
    answer.why = e.msg();
  }
  return answer;
}

#else

bool Solver::available() {
  return false;
}
std::string Solver::version() {
  return {};
}
Answer Solver::compare(UOp, UOp) {
  return {Verdict::Undecided, "built without Z3", {}};
}

#endif

} // namespace uopscope::prove
