// A LINK names a state of the window and of the command line:
// "kernel=3&pass=devectorize&step=12&node=456&tab=source". kernel is a scope's number or name, pass a number
// or name within it (name#2: the second of that name), step counts from 0 (as the pass began), node is a
// node's trace id. All parts may be absent.
#pragma once
#include "replay/read/trace.h"

namespace uopscope {

struct Link {
  std::string kernel, pass, tab;
  std::optional<int64_t> step;
  std::optional<NodeId> node;
  bool operator==(const Link&) const = default;

  static Link parse(std::string_view text); ///< Error(Value) names the part that is wrong
  std::string str() const;                  ///< values percent-encoded where needed
};
/// The same with the trace's numbers in place of names. Error(Key) if there is no such thing.
struct ResolvedLink {
  ScopeId scope = 0;
  PassId pass = 0;
  int64_t step = 0;
  NodeId node = kNoNode;
  std::string tab;
};
ResolvedLink resolve(Trace& trace, const Link& link);
/// Names where they are unique, numbers where not.
Link makeLink(Trace& trace, const ResolvedLink& at);

} // namespace uopscope
