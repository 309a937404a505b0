// Rules that push movement operations into INDEX and make kernels well formed.
#include "engine/codegen/well_formed.h"

#include "engine/base/error.h"
#include "engine/codegen/reduce.h"
#include "engine/rules/movement_index.h"
#include "engine/rules/variables.h"

#include <fmt/format.h>

namespace uopscope {

namespace {

using namespace pat;
using rules::inner;
constexpr PatVar moved{"moved"}, bound{"bound"};

UOp throughMovement(Match& m) {
  UOp root = m.root(), mop = m[moved], base = mop.src(0);
  std::vector<UOp> index(root.src().begin() + 1, root.src().end());
  Shape shape = mop.shape();
  if (index.size() < shape.size()) {
    if (root.dtype().isPtr()) return m.decline("a part of an address: more indices follow");
    if (index.size() == 1 && mop.is(Op::RESHAPE)) return base.indexed(index, root.dtype());
    throw Error(ErrorKind::Spec, fmt::format("INDEX gives {} indices to {} of shape {}", index.size(),
                                             opName(mop.op()), shapeStr(shape)));
  }
  UOp gate;
  if (index.size() == shape.size() + 1) {
    gate = index.back();
    index.pop_back();
  }
  if (index.size() != shape.size())
    throw Error(ErrorKind::Spec, fmt::format("INDEX gives {} indices to {} of shape {}", index.size(),
                                             opName(mop.op()), shapeStr(shape)));
  index = movementIndices(mop, index);
  if (gate) index.push_back(gate);
  return base.indexed(index, root.dtype());
}

/// One index into a RESHAPE of memory counts its elements. Of an address this is known where it is loaded or stored,
/// since no more indices follow there.
UOp elementByOneIndex(Match& m) {
  UOp root = m.root(), at = root.src(0);
  if (!at.is(Op::INDEX) || at.srcCount() != 2 || !at.src(0).is(Op::RESHAPE) || at.src(0).shape().size() < 2)
    return m.decline("its address is no RESHAPE with one index");
  std::vector<UOp> src(root.src().begin(), root.src().end());
  src[0] = at.src(0).src(0).indexed({at.src(1)}, at.dtype());
  return root.withSrc(src);
}

/// INDEX of an INDEX with fewer axes than its memory: the lists of indices are joined.
UOp joinIndices(Match& m) {
  UOp root = m.root();
  if (!m[inner].dtype().isPtr() || root.dtype().isPtr())
    return m.decline("the inner INDEX is no address, or the outer one is");
  std::vector<UOp> index(m[inner].src().begin() + 1, m[inner].src().end());
  index.insert(index.end(), root.src().begin() + 1, root.src().end());
  return m[inner].src(0).indexed(index, root.dtype());
}

UOp movementAfterOrder(Match& m) {
  UOp root = m.root(), mop = m[moved];
  std::vector<UOp> src(mop.src().begin(), mop.src().end());
  src[0] = src[0].after(root.src().subspan(1));
  return UOp::make(mop.op(), root.dtype(), src, mop.arg());
}

/// Memory used as an effect, as `C.set(...).end(i)` produces it: it stands for the effects that its AFTER
/// waits for.
UOp effectsOfOrder(Match& m) {
  UOp root = m.root();
  std::vector<UOp> src;
  bool any = false;
  for (size_t k = 0; k < root.srcCount(); ++k) {
    UOp s = root.src(k);
    while (s.in(group::kMovement)) s = s.src(0);
    bool waits = s.is(Op::AFTER) && (k == 0 || !root.is(Op::END));
    any = any || waits;
    if (!waits)
      src.push_back(root.src(k));
    else if (root.is(Op::END) && s.srcCount() != 2)
      src.push_back(UOp::groupOf(s.src().subspan(1)));
    else
      src.insert(src.end(), s.src().begin() + 1, s.src().end());
  }
  return any ? root.withSrc(src) : m.decline("no source waits for effects");
}

bool isEmpty(UOp range) {
  return range.is(Op::RANGE) && range.src(0).isConst() && range.src(0).arg().i() <= 0;
}

UOp emptyLoop(Match& m) {
  UOp root = m.root();
  for (UOp r : root.src().subspan(1)) {
    if (!isEmpty(r)) continue;
    if (root.is(Op::REDUCE)) return identityElement(root.arg().op(), root.dtype());
    return UOp::make(Op::GROUP, dtypes::void_, std::initializer_list<UOp>{});
  }
  return m.decline("no loop is empty");
}

/// A kernel given by hand may store a number of another type, such as a loop's index into float memory: it is
/// converted as an assignment converts it.
UOp convertStored(Match& m) {
  UOp store = m.root(), value = store.src(1);
  if (!store.src(0).is(Op::INDEX)) return m.decline("it stores through no INDEX");
  DType to = store.src(0).dtype().base().scalar();
  if (value.dtype().scalar() == to || value.dtype().isPtr())
    return m.decline("the memory has the value's type");
  std::vector<UOp> src(store.src().begin(), store.src().end());
  src[1] = value.cast(to.vec(value.dtype().count()));
  return store.withSrc(src);
}

constexpr RuleDef kWellFormed[] = {
    RULE("movement-into-index", op(Op::INDEX, any(group::kMovement).named(moved)).more(), throughMovement),
    RULE("index-of-index", op(Op::INDEX, any(Op::INDEX).named(inner)).more(), joinIndices),
    RULE("element-by-one-index", any({Op::LOAD, Op::STORE}), elementByOneIndex),
    RULE("movement-after-order", op(Op::AFTER, any(group::kMovement).named(moved)).more(),
         movementAfterOrder),
    RULE("effects-of-order", any({Op::END, Op::GROUP, Op::SINK}), effectsOfOrder),
    RULE("convert-stored-value", any(Op::STORE), convertStored),
    RULE("empty-loop", any({Op::END, Op::REDUCE}), emptyLoop),
    RULE("unbind", op(Op::BIND, bound).more(), bound),
};
const KnownRules kWellFormedKnown(kWellFormed);

} // namespace

std::span<const RuleDef> wellFormedRules() {
  return kWellFormed;
}

} // namespace uopscope
