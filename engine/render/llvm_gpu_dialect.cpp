// Numbers of threads and alignments, alike on the GPUs of all makers.
#include "engine/base/error.h"
#include "engine/render/llvm_dialect.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace uopscope {

namespace {
/// Bytes of the widest access: global_load_dwordx4 and ds_read_b128 of AMD, ld.v4.b32 of NVIDIA.
constexpr int kWidestAccess = 16;
} // namespace

int LlvmGpuDialect::alignment(DType accessed) const {
  int element = accessed.scalar().itemsize(), lanes = accessed.count();
  return std::has_single_bit(static_cast<unsigned>(lanes)) ? std::min(kWidestAccess, lanes * element)
                                                           : element;
}

int LlvmGpuDialect::arrayAlignment(DType, int64_t) const {
  return kWidestAccess;
}

std::string LlvmGpuDialect::special(LlvmText& out, const LoweredKernel& kernel, UOp u) const {
  const std::string& index = u.arg().str();
  int axis = index.empty() ? -1 : index.back() - '0';
  bool isThread = index.starts_with("lidx");
  // "idx0" counts all threads: its launches have groups of one thread.
  if (axis < 0 || axis > 2 || !(isThread || index.starts_with("gidx") || index.starts_with("idx")))
    throw Error(ErrorKind::Compile, fmt::format("kernel {}: no launch index is called {}; there are gidx0 "
                                                "to gidx2, lidx0 to lidx2 and idx0 to idx2",
                                                kernel.name, index));
  std::string function = numberOf(isThread, "xyz"[axis]);
  out.declare(fmt::format("declare i32 @{}()\n", function));
  std::string range = u.src(0).isConst()
                          ? fmt::format("range(i32 0, {}) ", std::max<int64_t>(1, u.src(0).constValue().i))
                          : "";
  std::string number = out.emit("idx", fmt::format("call {}i32 @{}()", range, function));
  return u.dtype().itemsize() == 8 ? out.emit("cast", fmt::format("zext nneg i32 {} to i64", number))
                                   : number;
}

} // namespace uopscope
