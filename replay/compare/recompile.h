// One stored input through this build's compiler.
//
//   Compilation now = recompile(corpus.load(entry), {});
//   if (now.outputHash() != entry.outputHash) ...
#pragma once
#include "replay/record/capture.h"

#include <set>

namespace uopscope {

struct RecompileOptions {
  bool assembly = false;       ///< compile to machine code too, and keep its listing
  Observer* gate = nullptr;    ///< may skip rewrites: it answers for every one before it is made
  RuleTally* counts = nullptr; ///< receives the match statistics
};

/// The same input with what this build makes of it. Never throws for the input's sake: status and message say
/// what went wrong.
Compilation recompile(const Compilation& input, const RecompileOptions& options);

/// Compiles the input without following rewrites, which costs hardly more than compiling. True if this build
/// makes what is stored (state, source, IR, launch sizes, options, name, assembly where asked for) and
/// applies the same rules equally often in every pass: then the stored story is this build's too. `compileNs`
/// is what it took. False: recompile() tells the story. `gate` is not asked; counts are added in either case.
bool makesTheSame(const Compilation& input, const RecompileOptions& options, int64_t& compileNs);

/// Skips rules by name: what would a compiler without them make?
class WithoutRules : public Observer {
public:
  explicit WithoutRules(const std::vector<std::string>& names) : names_(names.begin(), names.end()) {}
  Control onRewrite(const RewriteEvent& event) override;

private:
  std::set<std::string, std::less<>> names_;
};

/// The input's graph as nodes of the current pool, with the options that a search chose pinned to it. Throws
/// Error(Value) for operations that this build does not know.
UOp inputGraph(const Compilation& input);

/// Sets the context variables an input was compiled with, for a block; names this build does not have are
/// left out.
std::vector<std::pair<std::string, int64_t>> settingsOf(const Compilation& input);

} // namespace uopscope
