// libFuzzer: the rules keep values. Bytes build an expression of integers and booleans on a stack; it is simplified by
// symbolic(), and both sides are evaluated on chosen values of the variables. Rules of int32 and uint8 hold with
// overflow; index numbers stay below 2**40, where theirs have to hold.
//
//   tests/fuzz/run rewrite 60
#include "engine/base/error.h"
#include "engine/prove/values.h"
#include "engine/rewrite/driver.h"
#include "engine/rules/rules.h"
#include "tests/fuzz/targets/finding.h"

#include <array>
#include <vector>

using namespace uopscope;

namespace {

constexpr std::array<DType, 4> kTypes = {dtypes::index, dtypes::int32, dtypes::uint8, dtypes::int64};
constexpr int64_t kMost = int64_t{1} << 40;
constexpr size_t kMaxNodes = 40;

class Builder {
public:
  explicit Builder(fuzz::Choices choose) : choose_(choose) {}

  UOp build() {
    while (!choose_.empty() && made_ < kMaxNodes) step();
    return stack_.empty() ? UOp{} : stack_.back();
  }

private:
  UOp variable() {
    const DType d = kTypes[choose_.below(kTypes.size())];
    int64_t low = 0, high = choose_.byte();
    if (choose_.below(2)) low = d.isUnsigned() ? 0 : -int64_t{choose_.below(20)};
    if (d != dtypes::index && choose_.below(3) == 0)
      low = dtypes::minInt(d), high = static_cast<int64_t>(dtypes::maxInt(d));
    return UOp::variable("v" + std::to_string(variables_++), low, std::max(low, high), d);
  }
  UOp constant(DType d) {
    int64_t value = choose_.byte();
    if (choose_.below(4) == 0) value = 4 * (value % 8);
    if (!d.isUnsigned() && choose_.below(2)) value = -value;
    return d.isBool() ? UOp::boolean(value & 1) : UOp::constant(d, value);
  }
  /// The top of the stack, or a variable.
  UOp pop() {
    if (stack_.empty()) return variable();
    UOp u = stack_.back();
    if (choose_.below(4)) stack_.pop_back(); // else shared
    return u;
  }
  UOp number() {
    UOp u = pop();
    return u.dtype().isBool() ? u.cast(kTypes[choose_.below(kTypes.size())]) : u;
  }
  UOp condition() {
    UOp u = pop();
    return u.dtype().isBool() ? u : UOp::make(Op::CMPLT, dtypes::bool_, std::array{u, constant(u.dtype())});
  }
  UOp like(UOp u) {
    if (choose_.below(2)) return constant(u.dtype());
    UOp other = pop();
    return other.dtype() == u.dtype() ? other : constant(u.dtype());
  }
  void push(UOp u) {
    ++made_;
    if (u.dtype() == dtypes::index) {
      const int64_t low = u.vmin(), high = u.vmax();
      if (low < -kMost || high > kMost) return;
    }
    stack_.push_back(u);
  }
  void step() {
    static constexpr std::array kNumbers = {Op::ADD, Op::MUL, Op::SUB, Op::MAX, Op::IDIV, Op::MOD,
                                            Op::ADD, Op::MUL, Op::AND, Op::OR,  Op::XOR};
    static constexpr std::array kBooleans = {Op::AND, Op::OR, Op::XOR, Op::CMPNE, Op::CMPEQ};
    switch (choose_.below(8)) {
    case 0: return push(variable());
    case 1: {
      UOp a = number(), b = like(a);
      return push(UOp::make(choose_.below(2) ? Op::CMPLT : Op::CMPNE, dtypes::bool_, std::array{a, b}));
    }
    case 2: {
      UOp c = condition(), a = pop(), b = like(a);
      return push(UOp::make(Op::WHERE, a.dtype(), std::array{c, a, b}));
    }
    case 3: {
      UOp a = number();
      const DType to = kTypes[choose_.below(kTypes.size())];
      return push(a.dtype() == to ? a : a.cast(to));
    }
    case 4: {
      UOp a = condition(), b = like(a);
      const Op op = kBooleans[choose_.below(kBooleans.size())];
      return push(UOp::make(op, dtypes::bool_, std::array{a, b}));
    }
    default: {
      UOp a = number(), b = like(a);
      Op op = kNumbers[choose_.below(kNumbers.size())];
      const bool divides = op == Op::IDIV || op == Op::MOD;
      if (divides && (!b.isConst() || b.constValue().i == 0)) b = UOp::constant(a.dtype(), int64_t{3});
      const bool bits = op == Op::AND || op == Op::OR || op == Op::XOR;
      if (bits && a.dtype() == dtypes::index) op = Op::ADD;
      return push(UOp::make(op, a.dtype(), std::array{a, b}));
    }
    }
  }

  fuzz::Choices choose_;
  std::vector<UOp> stack_;
  size_t made_ = 0;
  int variables_ = 0;
};

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Pool pool;
  PoolScope scope(pool);
  UOp before = Builder({data, size}).build();
  if (!before) return 0;
  UOp after;
  try {
    after = graphRewrite(before, symbolic(), {.name = "fuzz"});
  } catch (const Error& e) {
    fuzz::finding(e.what(), before.str());
  }
  if (after == before) return 0;
  if (after.dtype() != before.dtype()) fuzz::finding("another type", before.str() + "\n" + after.str());
  prove::Evaluator both(before, after);
  if (!both.ready()) fuzz::finding("a node without a value", after.str());
  const prove::Difference d =
      both.domain(512) <= 512 ? both.exhaustively(512) : both.sampled(64, static_cast<uint64_t>(size));
  if (!d.differs) return 0;
  std::string at;
  for (size_t i = 0; i < both.leaves().size(); ++i)
    at += both.leaves()[i].render() + " = " + std::to_string(d.at[i].i) + "\n";
  fuzz::finding("values differ: " + std::to_string(d.before.i) + " and " + std::to_string(d.after.i),
                before.render() + "\n" + after.render() + "\n" + at + before.str());
}
