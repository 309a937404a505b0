// The dialect of processors: one function, with the number of its thread as a parameter.
#include "engine/render/llvm_dialect.h"

#include "engine/base/error.h"
#include "engine/codegen/dot_products.h"
#include "engine/render/llvm_dots.h"

#include <fmt/format.h>

#include <algorithm>

namespace uopscope {

int LlvmDialect::arrayAlignment(DType element, int64_t size) const {
  return std::min<int>(64, std::max<int>(element.scalar().itemsize(), size >= 4 ? 64 : 4));
}

std::string LlvmDialect::module(const LlvmFunction& f) const {
  return fmt::format("define void @{}({}) #0 {{\n{}  ret void\n}}\n{}{}\nattributes #0 = {{ "
                     "nounwind \"no-trapping-math\"=\"true\" }}\n",
                     identifier(f.kernel.name), f.parameters, f.body, f.outside.empty() ? "" : "\n",
                     f.outside);
}

std::string LlvmDialect::special(LlvmText& out, const LoweredKernel& kernel, UOp u) const {
  if (u.is(Op::SPECIAL)) checkCpuIndex(kernel, u);
  return u.dtype().itemsize() == 8 ? out.emit("cast", "zext i32 %core_id to i64") : "%core_id";
}

std::string LlvmDialect::wmma(LlvmText& out, const LoweredKernel& kernel, UOp u,
                              std::span<const std::string> fragments) const {
  if (isDotProduct(u)) return writeDotProduct(out, u, fragments);
  throw Error(ErrorKind::Compile,
              fmt::format("kernel {}: {} is a tensor core of {}, and a processor has none", kernel.name,
                          u.arg().as<WmmaArg>().name, u.arg().as<WmmaArg>().device));
}

} // namespace uopscope
