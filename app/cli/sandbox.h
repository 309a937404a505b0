// Runs code from a file without risk: in bubblewrap, without network and write access.
//
//   if (!o.trust) continueInSandbox("--run", {"a.uopcorpus", "b.uopcorpus"}, "changed kernels", report);
//
// Throws Error(Value) where there is no sandbox, or the person declines.
#pragma once
#include <string>
#include <vector>

namespace uopscope::cli {

/// Asks on a terminal, then starts this program again in bubblewrap with the same arguments and --trust, and
/// ends with its exit code. `what` names the code that would run, `files` its origin; `output` is the one
/// writable file, empty for none.
[[noreturn]] void continueInSandbox(const std::string& option, const std::vector<std::string>& files,
                                    const std::string& what, const std::string& output);

} // namespace uopscope::cli
