// Asynchronous copies: how a program says that a thread goes on while its copies are under way, and where it waits.
//
//   asyncCopy(store)               STORE of a loaded value into shared memory, with the argument "async"
//   closeCopies(effects)           BARRIER "close copies": what a thread began to copy since the last one is a group
//   barrierForCopies(effects, 2)   BARRIER with the argument 2: each thread first waits until at most two of its groups are
//                                  under way, the last ones; then all threads meet
//
// What an asynchronous STORE wrote may be read after a BARRIER that waited for its group, and not before. The value may
// be there earlier: a target without such copies stores as always, and its BARRIER waits for nothing more. The
// interpreter takes any earlier read for a fault (gpu_watch.h). "close copies" concerns its own thread alone.
//
// A tensor core that reads shared memory itself sees what threads wrote behind a barrier that shows it: barrierForCopies
// with `forUnits`, whose argument is the list (2, 1).
#pragma once
#include "engine/uop/uop.h"

#include <optional>

namespace uopscope {

/// Whether a thread can copy so many bytes at once and go on.
constexpr bool canCopyAsync(int64_t bytes) {
  return bytes == 4 || bytes == 8 || bytes == 16;
}

inline bool isAsyncCopy(UOp u) {
  return u.is(Op::STORE) && u.arg().kind() == ArgKind::String && u.arg().str() == "async";
}
inline bool closesCopies(UOp u) {
  return u.is(Op::BARRIER) && u.arg().kind() == ArgKind::String && u.arg().str() == "close copies";
}
/// The groups of copies that may still be under way behind a BARRIER; no value for one that waits for no copy.
inline std::optional<int64_t> copiesLeft(UOp u) {
  if (!u.is(Op::BARRIER)) return {};
  if (u.arg().kind() == ArgKind::Ints) return u.arg().ints()[0];
  return u.arg().kind() == ArgKind::Int ? std::optional(u.arg().i()) : std::nullopt;
}
/// Whether a BARRIER shows what was written to units that read shared memory themselves.
inline bool showsToUnits(UOp u) {
  return u.is(Op::BARRIER) && u.arg().kind() == ArgKind::Ints;
}

inline UOp asyncCopy(UOp store) {
  return store.withArg(Arg::of("async"));
}
inline UOp closeCopies(const std::vector<UOp>& after) {
  return UOp::make(Op::BARRIER, dtypes::void_, after, Arg::of("close copies"));
}
inline UOp barrierForCopies(const std::vector<UOp>& after, int64_t left, bool forUnits = false) {
  return UOp::make(Op::BARRIER, dtypes::void_, after,
                   forUnits ? Arg::of(std::vector<int64_t>{left, 1}) : Arg::of(left));
}

} // namespace uopscope
