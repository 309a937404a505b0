// Unique numbers. The number of a UNIQUE is the id that its node is about to get.
#include "engine/uop/unique.h"

namespace uopscope {

UOp newUnique() {
  return UOp::make(Op::UNIQUE, dtypes::void_, {}, Arg::of(static_cast<int64_t>(Pool::current().nextId())));
}

UOp deviceNode(std::string_view name) {
  return UOp::make(Op::DEVICE, dtypes::void_, {}, Arg::of(name));
}

UOp newBuffer(std::string_view device, DType dtype, int64_t size) {
  UOp where = deviceNode(device);
  return UOp::make(Op::BUFFER, dtype, {newUnique(), where}, Arg::of(size));
}

} // namespace uopscope
