// A kernel rewritten by hand: the graph at a step of a trace, every rule that matches anywhere in it, and the graph after
// the one that was chosen. The compiler then finishes the kernel from there, as a variant of what-if.
//
//   HandGraph hand(trace, handPlace(trace, "826", {}));        // or a link: "kernel=3&pass=devectorize&step=12"
//   for (const HandMatch& m : hand.matches()) print(m.name(), m.pass);
//   hand.choose("mul-one#2");                                  // Error(Key) where nothing matches like that
//   WhatIf w = whatIf(storedCompilation(trace, kernel), {hand.variant()}, {});
//
// Every pass of the compiler is asked what it would do to the graph, and does nothing. A rule is listed once for each node,
// with the first pass that offers it; that of the step is asked first.
#pragma once
#include "replay/teach/variants.h"

#include <functional>

namespace uopscope {

/// The graph of a pass after `step` of its steps.
struct HandPlace {
  PassId pass = 0;
  int64_t step = 0;
};
/// The place after a step, given by its number in the trace, or of a link. `kernel` is taken where a link names none; empty: none.
/// Error(Key) or Error(Value) where there is no such place.
HandPlace handPlace(Trace& trace, const std::string& text, const std::string& kernel);

/// A rewrite that a pass offers. The nodes live as long as the HandGraph.
struct HandMatch {
  std::string rule, file;
  int line = 0;
  size_t number = 1; ///< among the nodes that the rule matches
  std::string pass, reason;
  UOp before, after;
  /// As choose() takes it: "mul-one", or "mul-one#2".
  std::string name() const;
};

class HandGraph {
public:
  /// A step of a nested pass stands for the kernel meanwhile, in the pass around it. Error(Value) for a step of a schedule,
  /// between two steps of one Opt, or between the memory that a kernel gets behind its Opts and the next pass; Error(File)
  /// for a graph that this build cannot make again.
  HandGraph(Trace& trace, HandPlace place);
  ~HandGraph();
  HandGraph(const HandGraph&) = delete;
  HandGraph& operator=(const HandGraph&) = delete;

  ScopeId kernel() const;
  const std::string& pass() const; ///< of the step; never a nested one
  int64_t step() const;
  const std::string& inside() const; ///< the nested pass that the place named; empty: none
  UOp graph() const;                 ///< a SINK
  UOp before() const;                ///< the graph before the last choice
  /// What became of each node of before().
  const UOpMap<UOp>& images() const;
  const std::vector<HandMatch>& matches(); ///< found at the first call after a choice
  /// A pass that could not be asked, and why.
  struct Unasked {
    std::string pass, why;
  };
  const std::vector<Unasked>& unasked();
  void choose(const std::string& name);
  const std::vector<HandMatch>& chosen() const;
  /// The kernel finished by the compiler from the graph in hand. It needs neither this object nor the trace.
  Variant variant() const;

private:
  struct State;
  std::unique_ptr<State> state_;
};

/// "826:mul-one,add-zero#2": the place and the choices of a variant made by hand. Error(Value) explains the form.
struct HandText {
  std::string place;
  std::vector<std::string> choices;
};
HandText handText(const std::string& text);
Variant variantByHand(Trace& trace, const std::string& text, const std::string& kernel);

/// The list of matches, a line each with what it makes; and as data, with the pictures that `draw` makes.
std::string handMatchesText(HandGraph& hand);
struct HandPictures {
  std::function<nlohmann::json(UOp before, UOp after)> rewrite;
  std::function<nlohmann::json(UOp before, UOp after, const UOpMap<UOp>& images)> whole;
};
nlohmann::ordered_json handMatchesJson(HandGraph& hand, const HandPictures& draw);

} // namespace uopscope
