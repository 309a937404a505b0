// Finds scopes and passes by the words of a person, and words for them, in lists: the command line has them from a Trace,
// the window from its index of one.
//
//   ScopeId scope = findScope(trace.scopes(), "r_16", path);   PassId pass = findPass(passes, "devectorize#2", path, "r_16");
#pragma once
#include "replay/read/link.h"

namespace uopscope {

/// A scope by number or name, a pass by number (from 1), name, or name#2 for the second of that name. Error(Key) names
/// `path` and the existing names; `scope` is the name of the passes' scope.
ScopeId findScope(const std::vector<ScopeInfo>& scopes, const std::string& text, const std::string& path);
PassId findPass(const std::vector<PassInfo>& passes, const std::string& text, const std::string& path,
                const std::string& scope);
/// As makeLink() of a Trace, for a place whose scope has these passes.
Link makeLink(const std::vector<PassInfo>& passes, const ResolvedLink& at);

} // namespace uopscope
