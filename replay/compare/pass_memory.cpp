// Derives the state of a pass from its rewrites: the loops in which the pass that assigns ranges computes a
// tensor, and the memory layout of stored values.
#include "replay/compare/pass_memory.h"

#include "engine/base/error.h"
#include "engine/rules/movement_index.h"
#include "engine/uop/sint.h"

namespace uopscope {
namespace {

constexpr OpSet kLeaves{Op::BUFFER, Op::BUFFER_VIEW, Op::CONST,   Op::VCONST,        Op::DEFINE_VAR, Op::BIND,
                        Op::DEVICE, Op::UNIQUE,      Op::LUNIQUE, Op::CUSTOM_KERNEL, Op::AFTER};
constexpr int kNear = 6;

/// Learns BUFFERIZEs that a rewrite made: their ranges are the indices of the stored value.
void learnStored(UOp u, int depth, PassMemory& pass) {
  if (u.is(Op::BUFFERIZE)) {
    pass.indices.try_emplace(u.src(0), std::vector<UOp>(u.src().begin() + 1, u.src().end()));
    return;
  }
  if (depth == 0 || u.in(kLeaves)) return;
  for (const UOp s : u.src())
    if (s.below().has(Op::BUFFERIZE)) learnStored(s, depth - 1, pass);
}

/// Learns tensors that the rewritten node reads without an INDEX: their indices follow through movement
/// operations.
void learnRead(UOp source, std::vector<UOp> at, PassMemory& pass) {
  for (; source.in(group::kMovement); source = source.src(0)) at = movementIndices(source, at);
  if (!source.in(kLeaves)) pass.indices.try_emplace(source, std::move(at));
}

} // namespace

void learnBefore(UOp before, UOp after, PassMemory& pass) {
  if (after.below().has(Op::BUFFERIZE) || after.is(Op::BUFFERIZE)) learnStored(after, kNear, pass);
  const auto known = pass.indices.find(before);
  if (known == pass.indices.end()) return;
  std::vector<UOp> at = known->second;
  try {
    if (before.is(Op::REDUCE_AXIS)) {
      const auto& axes = before.arg().as<ReduceArg>().axes;
      const Shape& shape = before.src(0).shape();
      size_t next = 1;
      for (const int64_t axis : axes) {
        const auto k = static_cast<size_t>(axis);
        const bool isShort = shape[k].isInt() && shape[k].i() == 1;
        if (isShort || !after.is(Op::REDUCE) || next >= after.srcCount())
          at[k] = UOp::index(0);
        else
          at[k] = after.src(next++);
      }
    }
    const size_t sources =
        before.in(OpSet{Op::COPY, Op::REDUCE_AXIS, Op::CONTIGUOUS}) ? 1 : before.srcCount();
    for (size_t k = 0; k < sources; ++k)
      if (!before.src(k).is(Op::DEVICE)) learnRead(before.src(k), at, pass);
  } catch (const Error&) {
    // Shapes that do not fit: the comparison reports them.
  }
}

void learnAfter(UOp before, UOp after, PassMemory& pass) {
  if (!before.is(Op::BUFFERIZE) || !after.is(Op::AFTER)) return;
  TensorIndex layout;
  for (const UOp r : before.src().subspan(1)) layout.push_back(r.vmax() + 1);
  if (before.src(0).is(Op::ASSIGN)) return; // it has the layout of its target
  pass.layouts.try_emplace(after, layout);
}

} // namespace uopscope
