// The form of packed stories, common to the packer and the unpacker: columns of numbers, and the numbers of words and roots.
//
//   out.put(column(StoryPart::After, kTokens), kExplicit);
//   WordNumbers kinds;  kinds.add(word) == 1;  kinds.known(word) == 1;
//
// A column of a block keeps its place in all versions; new ones come last.
#pragma once
#include "replay/record/columns.h"
#include "replay/record/story.h"
#include "replay/record/story_model.h"
#include "replay/schema/leb128.h"

#include <algorithm>

namespace uopscope::storyform {

/// Columns of all parts, then those of each part of a story.
enum Common : size_t { kHeads, kEvents, kNames, kWords, kStrays, kRaw, kCommon };
enum OfPart : size_t {
  kTokens,
  kKinds,
  kCounts,
  kModes,
  kListModes,
  kLocal,
  kNear,
  kFar,
  kListLocal,
  kListNear,
  kListFar,
  kBatches,
  kRoots,
  kOfPart
};
/// Of an earlier build, which told every node.
constexpr size_t kOldColumns = kCommon + kStoryParts * kOfPart;
/// Places in the walk of a pass: story_walks.h.
constexpr size_t kWalk = kOldColumns, kSkips = kWalk + 1, kColumns = kSkips + 1;
/// Kinds, numbers of sources and modes of one node stand together: most of them occur again together.
constexpr size_t column(StoryPart part, OfPart which) {
  if (which == kCounts || which == kModes) which = kKinds;
  return kCommon + static_cast<size_t>(part) * kOfPart + which;
}
/// The same in a block of zstd frames.
constexpr size_t zstdColumn(StoryPart part, OfPart which) {
  return kCommon + static_cast<size_t>(part) * kOfPart + which;
}
/// Sources from this place on are those of a list.
constexpr size_t kListPlace = 4;

/// Tokens of a node. In a block of an earlier build a larger one is an older node whose place it takes.
enum Token : uint64_t { kExpected, kExplicit, kReplaces };
/// How a kind is told. Kinds are numbered in order of their first use, so constants that count up are neighbours.
enum KindToken : uint64_t {
  kFollows, ///< the kind that followed the last two
  kUnknown, ///< a new one
  kBeside ///< and more: at most kMostBeside away from the expected one, signed; then kNamed and more: by its number
};
constexpr int64_t kMostBeside = 4;
constexpr uint64_t kNamed = kBeside + 2 * kMostBeside + 1;
enum Head : uint64_t { kTold, kWhole };
constexpr uint64_t kStoryEnds = 4; ///< beside the kinds of events

/// Numbers of words in order of their first use, from 1.
class WordNumbers {
public:
  uint32_t known(uint64_t word) const { return word < numbers_.size() ? numbers_[word] : 0; }
  uint32_t add(uint64_t word) {
    if (numbers_.size() <= word) numbers_.resize(word + 1);
    keep(word);
    return numbers_[word] = static_cast<uint32_t>(words_.size());
  }
  /// Of a reader, which asks for words alone: a word of a file may be large, and costs no more for that.
  void keep(uint64_t word) { words_.push_back(word); }
  uint64_t count() const { return words_.size(); }
  uint64_t word(uint64_t number) const {
    if (number < 1 || number > words_.size()) damagedBlock();
    return words_[number - 1];
  }

private:
  std::vector<uint32_t> numbers_;
  std::vector<uint64_t> words_;
};

inline StoryPart partOf(uint64_t event) {
  return event == StoryEvent::PassEnd ? StoryPart::End
         : event == StoryEvent::Step  ? StoryPart::Before
                                      : StoryPart::Graph;
}

/// The graph of a node of an event, relative to the nodes met before.
inline uint64_t rootToken(const StoryModel& m, StoryPart part, uint32_t root, uint32_t lastBefore) {
  if (!root) return 0;
  if (part == StoryPart::Before) return 1 + unsignedOf(int64_t{root} - lastBefore);
  if (part == StoryPart::After)
    if (auto at = std::ranges::find(m.near(), root); at != m.near().end())
      return 1 + 2 * static_cast<uint64_t>(at - m.near().begin());
  return part == StoryPart::After ? 2 + 2 * uint64_t{m.count() - root} : 1 + uint64_t{m.count() - root};
}

inline uint32_t rootOf(const StoryModel& m, StoryPart part, uint64_t token, uint32_t lastBefore) {
  if (!token) return 0;
  uint64_t root = 0;
  if (part == StoryPart::Before)
    root = uint64_t{lastBefore} + static_cast<uint64_t>(signedOf(token - 1));
  else if (part == StoryPart::After && token % 2)
    root = token / 2 < m.near().size() ? m.near()[token / 2] : 0;
  else
    root = m.count() - (part == StoryPart::After ? token / 2 - 1 : token - 1);
  if (root < 1 || root > m.count()) damagedBlock();
  return static_cast<uint32_t>(root);
}

} // namespace uopscope::storyform
