// The walk of a pass as the engine makes it: depth first, sources from left to right, a node whose sources changed is made
// again, and what a rule makes is walked in its place (engine/rewrite/driver.h). A story that follows the walk tells at which
// node a rule applied; the nodes that were made again on the way there follow from it.
//
//   StoryWalk walk(model);  walk.begin(root, StoryWalk::Way::Up, most);
//   while (walk.next()) {                               // at each node on which rules are tried
//     if (!applies(walk.kind())) continue;
//     walk.gather(); add(walk.fresh()); walk.tell();    // the graph of the current node is told
//     walk.rewritten(after);
//   }
//   walk.gather();                                      // the graph that the pass ends with
//
// The packer and the unpacker make the same walk. Nothing depends on it being the engine's: the packer tells a pass that
// went another way node by node. Nodes that no event has told are numbered from kMade.
#pragma once
#include "replay/record/story_model.h"

namespace uopscope {

class StoryWalk {
public:
  enum class Way : uint8_t { Up, Down }; ///< rules are tried on a node after its sources, or before them

  explicit StoryWalk(const StoryModel& model) : model_(model) {}
  /// `budget`: visits of nodes and of their sources that are left; without any the walk ends.
  void begin(uint32_t root, Way way, uint64_t& budget);
  /// The rest of the pass is told node by node.
  void end() { isAlive_ = false; }
  bool isAlive() const { return isAlive_; }

  /// Goes on to the next node that rules are tried on. False at the end of the pass, or of the budget.
  bool next();
  uint32_t kind() const { return kindOf(stack_.back().current); }
  /// The told node that the current one was before it was made again; 0: there is none.
  uint32_t older() const;
  /// A rule made this node of the current one.
  void rewritten(uint32_t after);

  /// A node that is told when the graph is.
  struct Fresh {
    uint32_t kind = 0, made = 0, firstSrc = 0, srcCount = 0;
  };
  /// Finds and numbers the new nodes of the current node's graph, or at the end of the graph that the pass made.
  void gather();
  const std::vector<Fresh>& fresh() const { return fresh_; }
  std::span<const uint32_t> src(const Fresh& f) const {
    return std::span(freshSources_).subspan(f.firstSrc, f.srcCount);
  }
  /// The number of the gathered graph.
  uint32_t gathered() const { return gathered_; }
  /// The nodes of fresh() are told now; or they are not.
  void tell();
  void forget();

private:
  static constexpr uint32_t kMade = uint32_t{1} << 31, kOpen = UINT32_MAX;
  enum class Stage : uint8_t { Enter, Rebuild, Link };
  struct Frame {
    uint32_t original, current, nextSrc;
    Stage stage;
  };
  struct Made {
    uint32_t kind, firstSrc, srcCount;
    uint32_t number; ///< once it is told, or gathered
    uint32_t search; ///< the last gather() that met it
  };
  /// What the walk knows of a node; nothing where `about` is of another pass.
  struct State {
    uint32_t value =
        0; ///< the node's result, kOpen while it is in flight; or the number by which the walk knows it
    uint32_t about = 0; ///< twice the pass, and 1 for that number
  };

  static bool isMade(uint32_t node) { return node >= kMade; }
  Made& made(uint32_t node) { return made_[node - kMade]; }
  const Made& made(uint32_t node) const { return made_[node - kMade]; }
  /// The number by which the walk knows a node: the one before it was told, if the walk made it.
  uint32_t own(uint32_t node) const {
    return node < states_.size() && states_[node].about == 2 * pass_ + 1 ? states_[node].value : node;
  }
  uint32_t told(uint32_t node) const { return isMade(node) && made(node).number ? made(node).number : node; }
  uint32_t kindOf(uint32_t node) const { return isMade(node) ? made(node).kind : model_.kindOf(node); }
  std::span<const uint32_t> src(uint32_t node) const {
    if (!isMade(node)) return model_.src(node);
    return std::span(sources_).subspan(made(node).firstSrc, made(node).srcCount);
  }
  /// The result of a node by its own number; 0: it was not met.
  uint32_t done(uint32_t node) const {
    const std::vector<State>& of = isMade(node) ? madeStates_ : states_;
    const size_t at = isMade(node) ? node - kMade : node;
    return at < of.size() && of[at].about == 2 * pass_ ? of[at].value : 0;
  }
  void set(std::vector<State>& of, size_t at, State state);
  uint32_t resultOf(uint32_t node) const {
    const uint32_t result = done(node);
    return result ? result : node;
  }
  void enter(uint32_t node);
  void setDone(uint32_t node, uint32_t result);
  bool isPaid(uint64_t visits);
  bool entersSource();
  uint32_t madeAgain(uint32_t node);
  void gatherNode(uint32_t node);

  const StoryModel& model_;
  uint64_t* budget_ = nullptr;
  bool isAlive_ = false, isTrying_ = false;
  Way way_ = Way::Up;
  uint32_t root_ = 0, pass_ = 0, gathered_ = 0, search_ = 0;
  std::vector<Frame> stack_;
  std::vector<State> states_, madeStates_; ///< by number, and by number from kMade
  std::vector<Made> made_;
  std::vector<uint32_t> sources_; ///< of made_
  ContentTable byContent_;
  std::vector<uint32_t> changed_, changedTold_;
  std::vector<Fresh> fresh_;
  std::vector<uint32_t> freshSources_;
  std::vector<std::pair<uint32_t, uint32_t>>
      open_; ///< of gather(): nodes, and how many of their sources it met
};

} // namespace uopscope
