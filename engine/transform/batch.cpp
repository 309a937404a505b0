// The batching rules. Axes move over by one. A value without a batch axis is broadcast when it meets a value
// with one.
#include "engine/transform/batch.h"

#include "engine/base/engine_session.h"
#include "engine/base/id_map.h"
#include "engine/tensor/gradient.h"
#include "engine/tensor/operation_scope.h"
#include "engine/tensor/placeholder.h"
#include "engine/tensor/tensor.h"
#include "engine/tensor/value_pass.h"
#include "engine/uop/unique.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace uopscope {

namespace {

using namespace pat;

struct BatchContext {
  UOpMap<UOp> made; ///< value -> the same value with a batch axis; values that depend on an argument
  Sint length;

  UOp find(UOp u) const {
    auto found = made.find(u);
    return found == made.end() ? UOp() : found->second;
  }
  Shape shape(const Shape& of) const {
    Shape all{length};
    all.insert(all.end(), of.begin(), of.end());
    return all;
  }
  /// The value with a batch axis, broadcast if it depends on no argument.
  UOp spread(UOp u) const {
    if (UOp with = find(u)) return with;
    return graph::broadcastTo(u, shape(u.shape()));
  }
};

const BatchContext& context(Match& m) {
  return m.ctx<BatchContext>();
}
UOp first(Match& m) {
  return context(m).spread(m.root().src(0));
}
Ints movedOver(const Ints& axes, bool withFirst) {
  Ints out;
  if (withFirst) out.push_back(0);
  for (int64_t a : axes) out.push_back(a + 1);
  return out;
}
Bounds bounds(Match& m, const Sint& firstBegin, const Sint& firstEnd) {
  Shape a = uopToShape(m.root().src(1)), b = uopToShape(m.root().src(2));
  Bounds out{{firstBegin, firstEnd}};
  for (size_t i = 0; i < a.size(); ++i) out.push_back({a[i], b[i]});
  return out;
}

/// A constant without a device fits any shape, so it is not broadcast.
bool fitsAnyShape(UOp u) {
  return u.in({Op::CONST, Op::VCONST, Op::DEFINE_VAR, Op::BIND}) &&
         (!u.srcCount() || !u.src(0).is(Op::DEVICE));
}
UOp elementwise(Match& m) {
  std::vector<UOp> src;
  for (UOp s : m.root().src()) src.push_back(fitsAnyShape(s) ? s : context(m).spread(s));
  return m.root().withSrc(src);
}
/// Batches the first source. Further sources (a device) stay as they are.
UOp firstAlone(Match& m) {
  std::vector<UOp> src(m.root().src().begin(), m.root().src().end());
  src[0] = first(m);
  return m.root().withSrc(src);
}
UOp batchReshape(Match& m) {
  UOp x = first(m);
  while (x.is(Op::RESHAPE)) x = x.src(0);
  return graph::reshape(x, context(m).shape(m.root().shape()));
}
UOp batchExpand(Match& m) {
  return graph::expand(first(m), context(m).shape(m.root().shape()));
}
UOp batchPermute(Match& m) {
  return graph::permute(first(m), movedOver(m.root().arg().ints(), true));
}
UOp batchPad(Match& m) {
  return graph::pad(first(m), bounds(m, 0, 0));
}
UOp batchShrink(Match& m) {
  return graph::shrink(first(m), bounds(m, 0, context(m).length));
}
UOp batchFlip(Match& m) {
  Ints flags{0};
  for (int64_t flag : m.root().arg().ints()) flags.push_back(flag);
  return UOp::make(Op::FLIP, m.root().dtype(), {first(m)}, Arg::of(flags));
}
UOp batchReduce(Match& m) {
  const auto& arg = m.root().arg().as<ReduceArg>();
  return UOp::make(Op::REDUCE_AXIS, m.root().dtype(), {first(m)},
                   Arg::of(ReduceArg{arg.op, movedOver(arg.axes, false)}));
}
/// A bitcast that changes the size divides or multiplies the last axis, which is never the batch axis.
UOp batchBitcast(Match& m) {
  UOp u = m.root();
  if (u.shape().empty() && u.dtype().itemsize() != u.src(0).dtype().itemsize())
    fail(ErrorKind::Unsupported, "a bitcast of a single element to another size cannot be batched");
  return u.withSrc({first(m)});
}
UOp batchAssign(Match& m) {
  UOp target = m.root().src(0);
  while (target.in(group::kMovement) || target.in({Op::DETACH, Op::ASSIGN})) target = target.src(0);
  if (target.in({Op::BUFFER, Op::BUFFER_VIEW, Op::AFTER, Op::MULTI}))
    fail(ErrorKind::Unsupported,
         fmt::format(
             "the function assigns to a tensor of shape {} that is not its own, which has no place for the "
             "values of all {} calls: return the new value instead",
             shapeStr(m.root().shape()), context(m).length.str()));
  return m.root().withSrc({context(m).spread(m.root().src(0)), context(m).spread(m.root().src(1))});
}
UOp batchKernel(Match&) {
  fail(ErrorKind::Unsupported, "a kernel given by hand works on the shapes it was written for and cannot be "
                               "batched: call it outside of vmap, with the batch as an axis of its own");
}
UOp batchShards(Match&) {
  fail(ErrorKind::Unsupported,
       "a function cannot share its argument out among devices under vmap: shard the batch instead "
       "(xs.shard_(devices, axis=0)) and map over that");
}
UOp batchMarked(Match& m);
UOp batchArgument(Match& m) {
  UOp with = context(m).find(m.root());
  return with ? with : m.decline("no argument of the function");
}

constexpr RuleDef kBatch[] = {
    RULE("batch-argument", any(Op::BUFFER), batchArgument),
    RULE("batch-elementwise", any(group::kAlu | OpSet{Op::CAST}), elementwise),
    RULE("batch-bitcast", any(Op::BITCAST), batchBitcast),
    RULE("batch-reduce", any(Op::REDUCE_AXIS), batchReduce),
    RULE("batch-reshape", any(Op::RESHAPE), batchReshape),
    RULE("batch-expand", any(Op::EXPAND), batchExpand),
    RULE("batch-permute", any(Op::PERMUTE), batchPermute),
    RULE("batch-pad", any(Op::PAD), batchPad),
    RULE("batch-shrink", any(Op::SHRINK), batchShrink),
    RULE("batch-flip", any(Op::FLIP), batchFlip),
    RULE("batch-marked", any(Op::DETACH), batchMarked),
    RULE("batch-storage", any({Op::CONTIGUOUS, Op::CONTIGUOUS_BACKWARD, Op::COPY}), firstAlone),
    RULE("batch-assign", any(Op::ASSIGN), batchAssign),
    RULE("batch-kernel", any({Op::AFTER, Op::CUSTOM_KERNEL}), batchKernel),
    RULE("batch-shards", any({Op::MULTI, Op::MSTACK, Op::MSELECT, Op::ALLREDUCE}), batchShards),
};
const KnownRules kBatchKnown(kBatch);

// --- values with custom derivatives ---

/// Calls the derivative functions of a marked value for one element of the batch, as they were written.
/// Placeholders stand for one element of batched values; the result is then batched over these placeholders.
struct OneOfBatch {
  UOpMap<UOp> arguments;
  Sint length;

  UOp stand(UOp batched) {
    Shape one(batched.shape().begin() + 1, batched.shape().end());
    UOp p = newPlaceholder(one, batched.dtype(), batched.device());
    arguments[p] = graph::reshape(batched, {length, prod(one)});
    return graph::reshape(p, one);
  }
  UOp batched(UOp one) const { return batch(std::vector<UOp>{one}, arguments, length)[0]; }
};

/// The marked value for one element of the batch, with its original UNIQUE.
UOp oneOf(OneOfBatch& of, UOp node, UOp key, const std::vector<bool>& isBatched) {
  std::vector<UOp> inputs;
  for (size_t i = 0; i < isBatched.size(); ++i)
    inputs.push_back(isBatched[i] ? of.stand(node.src(i + 1)) : node.src(i + 1));
  return withDerivative(of.stand(node.src(0)), inputs, key);
}

/// The derivatives of a batch from those of one element. The gradient of an input without a batch axis is the
/// sum over the batch.
CustomDerivative batchedDerivative(UOp key, const CustomDerivative& one, const std::vector<bool>& isBatched) {
  CustomDerivative all;
  UOpRef held(key);
  if (one.reverse)
    all.reverse = [=](UOp g, UOp node) {
      OneOfBatch of{{}, node.shape()[0]};
      UOp single = oneOf(of, node, held, isBatched);
      std::vector<UOp> each = one.reverse(of.stand(g), single);
      for (size_t i = 0; i < each.size() && i < isBatched.size(); ++i) {
        if (!each[i]) continue;
        each[i] = of.batched(each[i]);
        if (!isBatched[i])
          each[i] = graph::reshape(graph::reduceAxis(each[i], Op::ADD, {0}), node.src(i + 1).shape());
      }
      return each;
    };
  if (one.forward)
    all.forward = [=](const std::vector<UOp>& tangents, UOp node) {
      OneOfBatch of{{}, node.shape()[0]};
      UOp single = oneOf(of, node, held, isBatched);
      std::vector<UOp> each;
      for (size_t i = 0; i < tangents.size(); ++i)
        each.push_back(tangents[i] && isBatched[i] ? of.stand(tangents[i]) : tangents[i]);
      UOp out = one.forward(each, single);
      return out ? of.batched(out) : out;
    };
  return all;
}

/// Keys of batched functions, by the key of the function and the flags of batched inputs.
struct BatchedKeys {
  BatchedKeys() { tensorPool(); } // makes the pool of these nodes first, so it outlives them
  std::map<std::pair<uint32_t, std::vector<bool>>, UOpRef> of;
};

UOp batchMarked(Match& m) {
  UOp u = m.root();
  const CustomDerivative* derivative = derivativeOf(u);
  if (!derivative) return firstAlone(m);
  std::vector<UOp> inputs;
  std::vector<bool> isBatched;
  for (UOp s : u.src().subspan(1, u.srcCount() - 2)) {
    UOp with = context(m).find(s);
    isBatched.push_back(with != UOp());
    inputs.push_back(with ? with : s);
  }
  // A function batched twice in the same way gets the same key, so graphs stay equal from call to call.
  UOpRef& key = EngineSession::current().part<BatchedKeys>().of[{u.src().back().id(), isBatched}];
  if (!key.get()) {
    key = newUnique();
    setCustomDerivative(key, batchedDerivative(u.src().back(), *derivative, isBatched));
  }
  return withDerivative(first(m), inputs, key);
}

} // namespace

const PatternMatcher& batchRules() {
  static const PatternMatcher rules({kBatch});
  return rules;
}

std::vector<UOp> dependents(std::span<const UOp> values, const std::function<bool(UOp)>& isKey) {
  IdMap<bool> depends;
  std::vector<UOp> out;
  UOp root = UOp::sink(values);
  for (UOp u : root.toposort()) {
    bool key = isKey(u), any = false;
    for (UOp s : u.src()) any = any || *depends.find(s.slot());
    depends.set(u.slot(), any || key);
    if (any && !key && u != root) out.push_back(u);
  }
  return out;
}

std::vector<UOp> inOrder(const UOpMap<UOp>& arguments) {
  std::vector<UOp> keys;
  for (const auto& [key, value] : arguments)
    if (key != value) keys.push_back(key);
  std::sort(keys.begin(), keys.end(), [](UOp a, UOp b) { return a.id() < b.id(); });
  return keys;
}

std::vector<UOp> batch(std::span<const UOp> values, const UOpMap<UOp>& arguments, const Sint& length) {
  BatchContext with{arguments, length};
  std::vector<UOp> path = inOrder(arguments);
  size_t first = path.size();
  for (UOp u : dependents(values, [&](UOp u) { return arguments.contains(u); })) path.push_back(u);
  ValuePass pass("vmap", "vmap", batchRules(), path);
  for (size_t k = 0; k < first; ++k) pass.step(k, with);
  for (size_t k = first; k < path.size(); ++k) {
    uint32_t firstNewId = Pool::current().nextId();
    UOp made = pass.step(k, with);
    if (!made)
      fail(ErrorKind::Unsupported, fmt::format("there is no batching rule for {}", opName(path[k].op())));
    inheritOrigin(made, path[k], firstNewId);
    with.made[path[k]] = made;
  }
  std::vector<UOp> out;
  for (UOp u : values) out.push_back(with.spread(u));
  return out;
}

} // namespace uopscope
