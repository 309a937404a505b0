// The expectations by which stories are packed: the likely content of a node, given those before it. The packer and
// the unpacker keep the same model, so whatever it expects costs next to nothing.
//
// Two things repeat. A rule makes the same nodes wherever it applies: after the same rule and the same last three kinds, the
// node of last time is expected. The sources of a node lie near: at the node that was rewritten, or beside those of the node
// before. Nodes that come again with new sources are told by the walk of their pass (story_walk.h); earlier builds named each by
// the node whose place it takes, which replace() and resolve() find.
//
//   StoryModel m;  m.beginStory();  m.append(kind, sources);  m.replace(3, 7);  m.resolve(3) == 7;
//
// Nodes are numbered from 1 within a story, sources first; kinds are numbered from 1 for all stories of a block.
#pragma once
#include "replay/record/content_table.h"

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace uopscope {

/// The events that nodes belong to: they have columns of their own.
enum class StoryPart : uint8_t { Graph, End, Before, After };
constexpr size_t kStoryParts = 4;

/// A source in relation to the known nodes.
struct SourceRef {
  enum Mode : uint8_t {
    Ahead,    ///< as far from the source before as that one from the one before it
    Next,     ///< one more than the source before; for the first source the last node
    Same,     ///< the source in the same place of the last explicit node
    SameNext, ///< one more than that
    Repeat,   ///< the source before
    Local,    ///< number - value
    Near,     ///< the node of this place among those around the node that was rewritten
    Far       ///< value, signed, from the last far source of this kind in this place
  };
  Mode mode = Local;
  int64_t value = 0;
};

class StoryModel {
public:
  StoryModel();
  void beginStory();
  uint32_t count() const { return static_cast<uint32_t>(kinds_.size()); }
  uint32_t kindOf(uint32_t node) const { return kinds_[node - 1]; }
  std::span<const uint32_t> src(uint32_t node) const {
    return std::span(sources_).subspan(starts_[node - 1], starts_[node] - starts_[node - 1]);
  }

  /// The node of this kind with these sources, or 0.
  uint32_t find(uint32_t kind, std::span<const uint32_t> src) const;
  static uint32_t contentHash(uint32_t kind, std::span<const uint32_t> src);

  /// Appends a node. An explicit one, that takes no older node's place, is what later sources relate to.
  void append(uint32_t kind, std::span<const uint32_t> src, bool isExplicit);

  void beginPass();
  void endPass();
  void replace(uint32_t from, uint32_t to);
  /// The node that stands for this one in the open pass.
  uint32_t resolve(uint32_t node) const;
  bool isReplaced(uint32_t node) const { return node < current_.size() && current_[node].pass == pass_; }

  /// The nodes around `node`, itself first; none for 0. They are the Near sources until the next call.
  void look(uint32_t node);
  std::span<const uint32_t> near() const { return near_; }
  /// Begins the nodes of one event: their first number is count() + 1.
  void beginBatch(StoryPart part, uint32_t rule);

  /// A node that the context leads to expect. kind 0: none.
  struct Expected {
    uint32_t kind = 0;
    std::vector<SourceRef> refs;
  };
  const Expected& expected() const { return table_[context()]; }
  void expect(uint32_t kind, std::span<const SourceRef> refs);
  /// The kind that followed the last two, or 0.
  uint32_t& expectedKind() { return followers_[follower()]; }
  uint32_t& usualSources(uint32_t kind);

  /// The source that a reference means, in place `place` of a new node with these sources so far; 0: there is none.
  uint32_t source(SourceRef ref, uint32_t kind, std::span<const uint32_t> soFar) const;
  uint32_t farBase(uint32_t kind, std::span<const uint32_t> soFar) const;
  uint32_t lastReplaced() const { return lastReplaced_; }
  void setLastReplaced(uint32_t node) { lastReplaced_ = node; }
  bool isLocal(uint32_t node) const { return node > batchStart_; }

private:
  size_t context() const;
  size_t follower() const;
  struct Current {
    uint32_t to = 0;
    uint32_t pass = 0;
  };
  struct Undo {
    uint32_t node;
    Current was;
  };
  struct Far {
    uint32_t node = 0, story = 0;
  };
  struct OpenPass {
    uint32_t pass;
    size_t undo;
  };
  // Of the story.
  std::vector<uint32_t> kinds_, starts_, sources_, near_;
  std::vector<Current> current_; ///< by node, as far as one was replaced
  std::vector<Undo> undo_;
  std::vector<OpenPass> outer_;
  uint32_t pass_ = 1, passes_ = 1, batchStart_ = 0, lastExplicit_ = 0, lastReplaced_ = 0, rule_ = 0;
  ContentTable byContent_;
  StoryPart part_ = StoryPart::Graph;
  std::array<uint32_t, 3> last_{}; ///< kinds of the nodes before in this batch
  // Of the block.
  uint32_t story_ = 0;
  std::vector<Far> far_; ///< by kind and place
  std::vector<uint32_t> usual_;
  std::vector<Expected> table_;
  std::vector<uint32_t> followers_;
};

} // namespace uopscope
