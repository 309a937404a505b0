// A LINK names a state of the window and of the command line:
// "kernel=3&pass=devectorize&step=12&node=456&tab=source". kernel is a scope's number or name. pass is a
// number or name within it (name#2: the second of that name). step counts from 0 (the beginning of the pass).
// node is a node's trace id. variant is the name of a kept variant of what-if. Each part is optional.
#pragma once
#include "replay/read/trace.h"

namespace uopscope {

struct Link {
  std::string kernel, pass, tab, variant;
  std::optional<int64_t> step;
  std::optional<NodeId> node;
  bool operator==(const Link&) const = default;

  static Link parse(std::string_view text); ///< Error(Value) names the wrong part
  std::string str() const;                  ///< values percent-encoded where needed
};
/// A link with the trace's numbers in place of names. Error(Key) names a part that the trace does not
/// contain.
struct ResolvedLink {
  ScopeId scope = 0;
  PassId pass = 0;
  int64_t step = 0;
  NodeId node = kNoNode;
  std::string tab;
};
ResolvedLink resolve(Trace& trace, const Link& link);
/// Makes a link with names where they are unique, with numbers elsewhere.
Link makeLink(Trace& trace, const ResolvedLink& at);

} // namespace uopscope
