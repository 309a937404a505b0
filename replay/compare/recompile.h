// Compiles one stored input with this build's compiler.
//
//   Compilation now = recompile(corpus.load(entry), {});
//   if (now.outputHash() != entry.outputHash) ...
#pragma once
#include "replay/record/capture.h"

#include <set>

namespace uopscope {

struct RecompileOptions {
  bool assembly = false;       ///< compile to machine code too, and keep its listing
  Observer* gate = nullptr;    ///< may skip rewrites: it answers before each one
  RuleTally* counts = nullptr; ///< receives the match statistics
};

/// The same input with this build's result. A failure does not throw; status and message report it.
Compilation recompile(const Compilation& input, const RecompileOptions& options);

/// Compiles the input without following rewrites, which costs hardly more than compiling. Returns true if
/// this build makes the stored result (state, source, IR, launch sizes, options, name, assembly where asked
/// for) and applies the same rules equally often in every pass: then the stored story is this build's story
/// too, and `compileNs` receives the time. Returns false otherwise; recompile() then gets the story. `gate`
/// is not asked; counts are added in either case.
bool makesTheSame(const Compilation& input, const RecompileOptions& options, int64_t& compileNs);

/// Skips rules by name, to show the result of a compiler without them.
class WithoutRules : public Observer {
public:
  explicit WithoutRules(const std::vector<std::string>& names) : names_(names.begin(), names.end()) {}
  Control onRewrite(const RewriteEvent& event) override;

private:
  std::set<std::string, std::less<>> names_;
};

/// An Opt as it is printed: "Opt(op=OptOps.UPCAST, axis=0, arg=16)". None for any other text.
std::optional<Opt> parseOpt(const std::string& text);

/// The input's graph as nodes of the current pool. Options that a search chose are pinned to it. Throws
/// Error(Value) for operations that this build does not know.
UOp inputGraph(const Compilation& input);

/// The context variables an input was compiled with, for a ContextScope; names this build does not know are
/// left out.
std::vector<std::pair<std::string, int64_t>> settingsOf(const Compilation& input);

} // namespace uopscope
