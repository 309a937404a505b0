// Measures of graphs, and the order in which they remove rules from a set.
#include "engine/prove/termination.h"

#include "engine/prove/solver.h"
#include "engine/uop/linear.h"

#include <algorithm>
#include <unordered_map>

namespace uopscope::prove {

namespace {

constexpr int64_t kMost = 1000000000;

constexpr std::string_view kNames[] = {"operations the target does not have",
                                       "operations on index",
                                       "what stands above a gate",
                                       "divisions and remainders",
                                       "operations below a division, comparison or choice",
                                       "nodes written out as a tree",
                                       "nodes",
                                       "operations without constants",
                                       "sums and products out of order",
                                       "operands of conversions",
                                       "lanes of operations",
                                       "constants on the left"};
static_assert(std::size(kNames) == kMeasures);

constexpr OpSet kSeldom{Op::THREEFRY, Op::POW, Op::EXP2, Op::LOG2, Op::SIN, Op::CMPEQ,     Op::SUB,
                        Op::NEG,      Op::MAX, Op::MOD,  Op::IDIV, Op::XOR, Op::RECIPROCAL};

} // namespace

std::string_view measureName(size_t measure) {
  return measure < kMeasures ? kNames[measure] : std::string_view();
}

Sizes sizesOf(UOp root) {
  Sizes s{};
  std::unordered_map<uint32_t, int64_t> tree, gates;
  for (UOp u : root.toposort()) {
    int64_t size = 1, below = 0;
    for (UOp x : u.src()) {
      size = std::min(kMost, size + tree[x.id()]);
      below += gates[x.id()];
    }
    tree[u.id()] = size;
    bool isGate = u.is(Op::WHERE) && u.src(2).isInvalidConst();
    gates[u.id()] = isGate || u.isInvalidConst() ? 1 : std::min(kMost, below);
    bool computes = u.in(group::kElementwise);
    s[0] += u.in(kSeldom);
    s[1] += computes && isIndex(u);
    s[2] += computes && !isGate && below > 0 ? 1 : 0;
    s[3] += u.in({Op::IDIV, Op::MOD, Op::FDIV, Op::RECIPROCAL});
    s[4] += u.in({Op::IDIV, Op::MOD, Op::CMPLT, Op::CMPNE, Op::CMPEQ, Op::WHERE, Op::MAX}) ? size : 0;
    s[6] += 1;
    s[7] += computes && !std::all_of(u.src().begin(), u.src().end(), [](UOp x) { return x.isConst(); });
    s[8] +=
        isIndex(u) && u.in({Op::ADD, Op::MUL, Op::SUB, Op::NEG}) && u.dtype().count() == 1 && !isNormalSum(u);
    s[9] += u.in({Op::CAST, Op::BITCAST}) ? size : 0;
    s[10] +=
        computes || u.in({Op::GEP, Op::VECTORIZE, Op::CAT}) ? u.dtype().isPtr() ? 1 : u.dtype().count() : 0;
    s[11] += u.in(group::kBinary) && u.src(0).isConst() && !u.src(1).isConst();
  }
  s[5] = tree[root.id()];
  return s;
}

void Measures::add(UOp before, UOp after) {
  Sizes a = sizesOf(before), b = sizesOf(after);
  ++count_;
  for (size_t m = 0; m < kMeasures; ++m) {
    raises_[m] |= b[m] > a[m];
    keeps_[m] |= b[m] == a[m];
  }
}

std::string Measures::text() const {
  std::string out;
  for (size_t m = 0; m < kMeasures; ++m) out += static_cast<char>('0' + raises_[m] + 2 * keeps_[m]);
  return out + std::to_string(count_);
}

Measures Measures::of(const std::string& text) {
  Measures out;
  for (size_t m = 0; m < kMeasures; ++m) {
    out.raises_[m] = (text.at(m) - '0') & 1;
    out.keeps_[m] = (text.at(m) - '0') & 2;
  }
  out.count_ = std::stoi(text.substr(kMeasures));
  return out;
}

std::vector<size_t> terminationOrder(const std::vector<const Measures*>& set) {
  std::vector<size_t> by(set.size(), kMeasures);
  for (bool progress = true; progress;) {
    progress = false;
    for (size_t m = 0; m < kMeasures; ++m) {
      bool kept = true;
      for (size_t i = 0; i < set.size(); ++i)
        kept &= by[i] != kMeasures || !set[i]->count() || set[i]->neverRaises(m);
      if (!kept) continue;
      for (size_t i = 0; i < set.size(); ++i)
        if (by[i] == kMeasures && set[i]->alwaysLowers(m)) {
          by[i] = m;
          progress = true;
        }
    }
  }
  return by;
}

} // namespace uopscope::prove
