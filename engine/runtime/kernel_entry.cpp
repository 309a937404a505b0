// Writes the loads of buffers and variables, and the call.
#include "engine/runtime/kernel_entry.h"

#include "engine/render/llvm_text.h"

#include <fmt/format.h>

namespace uopscope {

std::string entryText(const std::string& function, const KernelSignature& signature) {
  std::string body, arguments;
  auto add = [&](const std::string& argument) { arguments += (arguments.empty() ? "" : ", ") + argument; };
  for (size_t i = 0; i < signature.globals.size(); ++i) {
    body += fmt::format(
        "  %bp{0} = getelementptr ptr, ptr %buffers, i64 {0}\n  %b{0} = load ptr, ptr %bp{0}\n", i);
    add(fmt::format("ptr %b{}", i));
  }
  for (size_t i = 0; i < signature.vars.size(); ++i) {
    std::string type = LlvmText::type(signature.vars[i].dtype());
    body +=
        fmt::format("  %vp{0} = getelementptr i64, ptr %vars, i64 {0}\n  %w{0} = load i64, ptr %vp{0}\n", i);
    if (type == "i64")
      add(fmt::format("i64 %w{}", i));
    else {
      body += fmt::format("  %v{0} = trunc i64 %w{0} to {1}\n", i, type);
      add(fmt::format("{} %v{}", type, i));
    }
  }
  if (signature.hasCoreId()) add("i32 %core");
  return fmt::format("\ndefine void @uopscope_entry(ptr %buffers, ptr %vars, i32 %core) {{\n{}  call void "
                     "@{}({})\n  ret void\n}}\n",
                     body, function, arguments);
}

} // namespace uopscope
