// Code that a file holds runs where it can do no harm: in bubblewrap, without a network, without writing.
//
//   if (!o.trust) continueInSandbox("--run", {"a.uopcorpus", "b.uopcorpus"}, "changed kernels", report);
//
// Error(Value) where there is no sandbox, or the person says no.
#pragma once
#include <string>
#include <vector>

namespace uopscope::cli {

/// Asks on a terminal, then starts this program again in bubblewrap with the same arguments and --trust, and
/// ends with its exit code. `what` names what would run and `files` where it comes from; `output` is the one
/// file that may be written, empty for none.
[[noreturn]] void continueInSandbox(const std::string& option, const std::vector<std::string>& files,
                                    const std::string& what, const std::string& output);

} // namespace uopscope::cli
