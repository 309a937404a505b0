// The walks of the passes of a story that are open, and the experience by which places in them are told: the way in which passes
// of a name walk, and the kinds of nodes that a rule applied to.
//
//   StoryWalks walks(model, bytes);  walks.beginStory();  walks.beginPass(root, name);
//   if (StoryWalk* walk = walks.current()) ...            // null: the pass is told node by node
//   isTold ? walks.worked() : walks.failed();
//
// The budget of visits is one for all stories of a block, by their bytes, so a damaged block ends soon.
#pragma once
#include "replay/record/story.h"
#include "replay/record/story_walk.h"

#include <vector>

namespace uopscope {

/// The number of a node in a walk.
enum Walked : uint64_t {
  kElsewhere, ///< the walk does not come to it: the rest of the pass is told node by node
  kNewKind, ///< the rule has not applied to this kind yet: nodes that rules were tried on before, in the column kSkips
  kSkipped ///< and more: nodes before, of kinds that the rule has applied to
};
/// The number of the graph that a pass ends with, where it is the one that the walk made.
constexpr uint64_t kWalkedToEnd = 1;

class StoryWalks {
public:
  /// `bytes`: of all stories of the block.
  StoryWalks(const StoryModel& model, uint64_t bytes);
  void beginStory() { depth_ = 0; }
  void beginPass(uint32_t root, uint32_t name);
  void endPass() { depth_ -= depth_ > 0; }
  StoryWalk* current();
  /// The walk came to the end that the pass had; or it went another way, and ends.
  void worked();
  void failed();

  bool isMet(uint32_t rule, uint32_t kind) const { return met_[pairOf(rule, kind)]; }
  void meet(uint32_t rule, uint32_t kind) { met_[pairOf(rule, kind)] = true; }

private:
  struct Open {
    StoryWalk walk;
    uint32_t name;
  };
  static constexpr size_t kPairs = 1 << 16;
  static size_t pairOf(uint32_t rule, uint32_t kind) { return hashMix(rule, kind) % kPairs; }
  StoryWalk::Way wayOf(uint32_t name) const;

  const StoryModel& model_;
  uint64_t budget_;
  size_t depth_ = 0;
  std::vector<Open> open_;     ///< by depth; a walk keeps its memory for the next pass
  std::vector<int8_t> upward_; ///< by name of a pass: negative where walks down worked better
  std::vector<bool> met_;      ///< by rule and kind, without regard to collisions
};

} // namespace uopscope
