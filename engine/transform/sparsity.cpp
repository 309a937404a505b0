// Computes the pattern of a derivative, node by node.
#include "engine/transform/sparsity.h"

#include "engine/rewrite/driver.h"
#include "engine/tensor/gradient.h"
#include "engine/tensor/placeholder.h"
#include "engine/tensor/tensor.h"
#include "engine/tensor/tensor_memory.h"
#include "engine/transform/batch.h"
#include "engine/transform/index_sets.h"

#include <fmt/format.h>

#include <optional>

namespace uopscope {

namespace {

Extents numbers(const Shape& shape, UOp at) {
  Extents out;
  for (const Sint& s : shape) {
    if (!s.isInt())
      fail(ErrorKind::Shape, fmt::format("a sparsity pattern needs shapes of numbers, {} has {}",
                                         opName(at.op()), shapeStr(shape)));
    out.push_back(s.i());
  }
  return out;
}

constexpr OpSet kJumps{Op::CMPLT, Op::CMPNE, Op::CMPEQ, Op::BITCAST, Op::TRUNC, Op::IDIV,    Op::MOD,
                       Op::AND,   Op::OR,    Op::XOR,   Op::SHL,     Op::SHR,   Op::THREEFRY};

struct Limits {
  bool byGraphAlone = false;
  size_t table = SIZE_MAX, pattern = INT32_MAX; ///< elements
};

class Analysis {
public:
  Analysis(UOp value, UOp placeholder, const Limits& limits)
      : placeholder_(placeholder), limits_(limits), table_(limits.table) {
    path_ = dependents(std::vector<UOp>{value}, [&](UOp u) { return u == placeholder; });
    for (UOp u : path_) {
      const CustomDerivative* derivative = derivativeOf(u);
      marked_ = marked_ || derivative;
      result.forward = result.forward && (!derivative || derivative->forward) && !u.is(Op::CUSTOM_KERNEL);
    }
    sets_.emplace(placeholder, IndexSets::identity(table_, numbers(placeholder.shape(), placeholder)));
    for (UOp u : path_)
      if (auto sets = of(u)) sets_.emplace(u, *sets);
    write(value);
  }
  Sparsity result;

private:
  const IndexSets* find(UOp u) const {
    auto found = sets_.find(u);
    return found == sets_.end() ? nullptr : &found->second;
  }
  std::optional<IndexSets> of(UOp u);
  std::optional<IndexSets> elementwise(UOp u, size_t firstSource);
  std::optional<IndexSets> masked(UOp condition, UOp u, const IndexSets* ifTrue, const IndexSets* ifFalse);
  IndexSets dense(UOp u);
  std::optional<std::vector<uint8_t>> truth(UOp condition);
  void write(UOp value);

  UOp placeholder_;
  Limits limits_;
  SetTable table_;
  std::vector<UOp> path_;
  UOpMap<IndexSets> sets_; ///< sets of all values that depend on an argument element
  bool marked_ = false;    ///< there are custom derivatives: a jump may have one, so jumps end no path
};

/// The values of a condition, if it depends on no argument.
std::optional<std::vector<uint8_t>> Analysis::truth(UOp condition) {
  if (limits_.byGraphAlone) return std::nullopt; // both sides count
  for (UOp u : condition.toposort()) {
    if (isPlaceholder(u)) return std::nullopt; // an argument of this or of an enclosing transform
    result.fromValues = result.fromValues || u.is(Op::BUFFER);
  }
  Tensor values =
      Tensor::fromUOp(condition.dtype().isBool()
                          ? condition
                          : condition.alu(Op::CMPNE, {constantLike(condition, condition.dtype().isFloat()
                                                                                  ? ConstValue::ofFloat(0)
                                                                                  : ConstValue::ofInt(0))}));
  return values.contiguous().values<uint8_t>();
}

std::optional<IndexSets> Analysis::masked(UOp condition, UOp u, const IndexSets* ifTrue,
                                          const IndexSets* ifFalse) {
  if (!ifTrue && !ifFalse) return std::nullopt;
  Extents shape = numbers(u.shape(), u);
  IndexSets nothing = IndexSets::uniform(0, shape);
  auto known = truth(condition);
  if (!known) return ifTrue && ifFalse ? ifTrue->with(table_, *ifFalse) : ifTrue ? *ifTrue : *ifFalse;
  return (ifTrue ? *ifTrue : nothing).chosen(*known, ifFalse ? *ifFalse : nothing);
}

std::optional<IndexSets> Analysis::elementwise(UOp u, size_t firstSource) {
  std::optional<IndexSets> all;
  for (size_t i = firstSource; i < u.srcCount(); ++i)
    if (const IndexSets* s = find(u.src(i))) all = all ? all->with(table_, *s) : *s;
  return all;
}

/// Every element of the sources may influence every element.
IndexSets Analysis::dense(UOp u) {
  std::vector<int32_t> all;
  for (UOp s : u.src())
    if (const IndexSets* sets = find(s)) {
      auto each = sets->flat();
      all.insert(all.end(), each.begin(), each.end());
    }
  return IndexSets::uniform(table_.unionOf(all), numbers(u.shape(), u));
}

/// The condition of a factor that is always 0 or 1; null for any other factor.
UOp maskOf(UOp factor) {
  UOp u = factor;
  while (u.in(group::kMovement)) u = u.src(0);
  bool isMask = u.is(Op::CAST) && u.src(0).dtype().isBool();
  return isMask || (u.is(Op::CONST) && u.isConst(0.0)) ? factor : UOp();
}

std::optional<IndexSets> Analysis::of(UOp u) {
  if (u.is(Op::SINK) || !u.hasShape()) return std::nullopt;
  if (u.is(Op::CUSTOM_KERNEL) || (u.is(Op::AFTER) && u.srcCount() > 1)) return dense(u);
  if (u.is(Op::DETACH) && !derivativeOf(u)) return std::nullopt;
  if (u.in(kJumps) && !marked_) return std::nullopt;
  if (u.is(Op::CAST) && !u.dtype().isFloat() && !marked_) return std::nullopt;
  if (u.is(Op::WHERE)) return masked(u.src(0), u, find(u.src(1)), find(u.src(2)));
  if (u.is(Op::MUL))
    for (size_t i : {size_t{0}, size_t{1}})
      if (UOp mask = find(u.src(i)) ? UOp() : maskOf(u.src(i)))
        return masked(mask.shape() == u.shape() ? mask : graph::broadcastTo(mask, u.shape()), u,
                      find(u.src(1 - i)), nullptr);
  if (u.in(group::kElementwise)) return elementwise(u, 0);
  const IndexSets* x = find(u.src(0));
  if (!x) return std::nullopt;
  auto shapeAt = [&](size_t k) { return numbers(uopToShape(u.src(k)), u); };
  switch (u.op()) {
  case Op::RESHAPE: return x->reshape(shapeAt(1));
  case Op::EXPAND: return x->expand(shapeAt(1));
  case Op::PERMUTE: return x->permute(u.arg().ints());
  case Op::PAD: return x->pad(shapeAt(1), shapeAt(2));
  case Op::SHRINK: return x->shrink(shapeAt(1), shapeAt(2));
  case Op::FLIP: return x->flip(u.arg().ints());
  case Op::REDUCE_AXIS: return x->reduce(table_, u.arg().as<ReduceArg>().axes);
  case Op::CONTIGUOUS:
  case Op::CONTIGUOUS_BACKWARD:
  case Op::COPY:
  case Op::DETACH: return *x;
  default:
    fail(ErrorKind::Unsupported, fmt::format("the sparsity of {} is not known: return new values instead of "
                                             "assigning, and shard outside of the function",
                                             opName(u.op())));
  }
}

void Analysis::write(UOp value) {
  Extents shape = numbers(value.shape(), value);
  result.rows = 1;
  for (int64_t n : shape) result.rows *= n;
  result.columns = numbers(placeholder_.shape(), placeholder_)[0];
  const IndexSets* sets = find(value);
  std::vector<int32_t> each = sets ? sets->flat() : std::vector<int32_t>(static_cast<size_t>(result.rows), 0);
  result.indptr.push_back(0);
  for (int32_t set : each) {
    auto elements = table_.elements(set);
    result.indices.insert(result.indices.end(), elements.begin(), elements.end());
    if (result.indices.size() > limits_.pattern && limits_.byGraphAlone) throw SetTable::Full{};
    if (result.indices.size() > limits_.pattern)
      fail(ErrorKind::Value, "the pattern has more than 2**31 elements: it is no sparse one");
    result.indptr.push_back(static_cast<int32_t>(result.indices.size()));
  }
}

} // namespace

Sparsity sparsityOf(UOp value, UOp placeholder) {
  ObservedScope scope({ScopeKind::Other, "sparsity", scriptLocation(), {}});
  Sparsity found = Analysis(value, placeholder, {}).result; // may compute conditions: a schedule beside it
  AnalysisPass pass("sparsity", value);
  return found;
}

std::optional<Sparsity> sparsityIfSparse(UOp value, UOp placeholder) {
  auto size = [](UOp u) {
    Sint n = prod(u.shape());
    return n.isInt() ? static_cast<size_t>(n.i()) : 0;
  };
  size_t rows = size(value), columns = size(placeholder), quarter = rows * columns / 4;
  ObservedScope scope({ScopeKind::Other, "sparsity", scriptLocation(), {}});
  std::optional<Sparsity> found;
  try {
    found = Analysis(value, placeholder, {true, quarter + 4 * (rows + columns), quarter}).result;
  } catch (const SetTable::Full&) { // the answer would be larger than a dense Jacobian is worth
  } catch (const Error& e) {
    if (e.kind() != ErrorKind::Unsupported && e.kind() != ErrorKind::Shape) throw;
  }
  AnalysisPass pass("sparsity", value);
  return found;
}

} // namespace uopscope
