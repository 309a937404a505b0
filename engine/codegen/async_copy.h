// Asynchronous copies: how a program says that a thread goes on while its copy is under way, and where it waits.
//
//   asyncCopy(store)             STORE of a loaded value into shared memory, with the argument "async"
//   barrierForCopies(effects)    BARRIER with the argument "async": each thread first waits for its copies
//
// What an asynchronous STORE wrote may be read after the next such BARRIER, and not before. The value may
// be there earlier: a target without such copies stores as always, and its BARRIER waits for nothing more. The
// interpreter takes any earlier read for a fault (gpu_watch.h).
#pragma once
#include "engine/uop/uop.h"

namespace uopscope {

/// Whether a thread can copy so many bytes at once and go on.
constexpr bool canCopyAsync(int64_t bytes) {
  return bytes == 4 || bytes == 8 || bytes == 16;
}

inline bool isAsync(UOp u) {
  return u.in({Op::STORE, Op::BARRIER}) && u.arg().kind() == ArgKind::String && u.arg().str() == "async";
}
inline UOp asyncCopy(UOp store) {
  return store.withArg(Arg::of("async"));
}
inline UOp barrierForCopies(const std::vector<UOp>& after) {
  return UOp::make(Op::BARRIER, dtypes::void_, after, Arg::of("async"));
}

} // namespace uopscope
