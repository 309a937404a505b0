// Compiles one stored input with this build's compiler.
//
//   Compilation now = recompile(corpus.load(entry), {});
//   if (now.outputHash() != entry.outputHash) ...
#pragma once
#include "replay/record/capture.h"

#include <set>
#include <span>

namespace uopscope {

/// Context variables and their values, for a ContextScope.
using StoredSettings = std::vector<std::pair<std::string, int64_t>>;

struct RecompileOptions {
  bool assembly = false;                    ///< compile to machine code too, and keep its listing
  Observer* gate = nullptr;                 ///< may skip rewrites: it answers before each one
  RuleTally* counts = nullptr;              ///< receives the match statistics
  const StoredSettings* settings = nullptr; ///< settingsOf() the input, from a caller that has them already
};

/// The same input with this build's result. A failure does not throw; status and message report it.
Compilation recompile(const Compilation& input, const RecompileOptions& options);

/// Compiles the input without following rewrites, which costs hardly more than compiling. Returns true if
/// this build makes the stored result (state, source, IR, launch sizes, options, name, assembly where asked
/// for) and applies the same rules equally often in every pass: then the stored story is this build's story
/// too, and `compileNs` receives the time. Returns false otherwise; recompile() then gets the story. `gate`
/// is not asked; counts are added in either case.
bool makesTheSame(const Compilation& input, const RecompileOptions& options, int64_t& compileNs);

/// Error(Key) for the first name that is neither a rule of this build nor one that `alsoKnown` counts (a script's rules);
/// the message names similar rules.
void requireRules(std::span<const std::string> names, const RuleCounts& alsoKnown = {});

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

/// The settings that an input was compiled with; names this build does not know are left out.
StoredSettings settingsOf(const Compilation& input);

/// The input's graph as nodes of the current pool. Options that a search chose are pinned to it. Throws
/// Error(Value) for operations that this build does not know.
UOp inputGraph(const Compilation& input);
/// The same, for a caller that has the settings already; `held` receives the values that tensors held.
UOp inputGraph(const Compilation& input, const StoredSettings& settings, std::vector<UOp>* held = nullptr);

} // namespace uopscope
