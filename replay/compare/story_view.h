// Reads stories back: events, nodes, content hashes and expressions; and makes stored graphs nodes again. The
// input is untrusted: any malformed part throws Error(Value).
//
//   Story story(corpus.load(entry).story);
//   for (const StoryEvent& e : story.events()) if (e.kind == StoryEvent::Step) use(story.word(e.word));
#pragma once
#include "replay/record/story.h"

namespace uopscope {

/// An unpacked story. Any of its nodes can be inspected, hashed and printed.
class Story {
public:
  Story() = default;
  /// Throws Error(Value) for a string that is no story.
  explicit Story(PackedStory packed);

  std::span<const StoryEvent> events() const { return events_; }
  uint32_t root() const { return packed_.root; }
  size_t nodeCount() const { return kindOf_.size(); }
  const std::string& word(uint32_t index) const { return packed_.words.at(index); }
  /// Content hash of a graph; it is equal across stories and builds.
  uint64_t hash(uint32_t node) const { return node ? hashes_.at(node - 1) : 0; }
  /// "ADD\tdtypes.float\targument\ttag"
  const std::string& kind(uint32_t node) const { return word(kindOf_.at(node - 1)); }
  std::string_view op(uint32_t node) const;
  std::span<const uint32_t> src(uint32_t node) const;
  /// The graph below a node as nodes of the current pool. Throws Error(Value) for an operation, type or
  /// argument that this build does not know.
  UOp build(uint32_t node) const;
  /// All nodes of the story, by number (0: null). Throws the same errors.
  std::vector<UOp> buildAll() const;
  /// Expression of a node, as print.h writes it. With an operation that this build does not know: the plain
  /// tree.
  std::string expression(uint32_t node, int maxDepth = 5) const;

private:
  PackedStory packed_;
  std::vector<uint32_t> kindOf_, srcStart_, srcs_;
  std::vector<uint64_t> hashes_;
  std::vector<StoryEvent> events_;
};

/// The inverse of graphToText, in the current pool; `held` receives the nodes that a line of heldLine names. Error(Value)
/// names the faulty line.
UOp graphFromText(std::string_view text, std::vector<UOp>* held = nullptr);

} // namespace uopscope
