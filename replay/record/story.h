// The story of one compilation: every pass and every rewrite, with the graphs before and after them. Two
// builds are compared by their stories: the compilations part at the first event that differs.
//
//   StoryGraph g;  uint32_t n = g.add(sink);        // nodes, numbered
//   PackedStory packed = g.take();                  // replay/compare/story_view.h reads it
//
// A story names operations, types, arguments, rules and passes by their text, so it outlives the build that
// wrote it. Nodes are numbered from 1 in the order they were first met, sources first; 0 is no node. A packed
// story is the list of its words and two strings of variable-length integers.
#pragma once
#include "engine/uop/uop.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace uopscope {

/// A story in stored form: words, and nodes and events as integers.
struct PackedStory {
  std::vector<std::string> words;
  std::string nodes, events;
  uint32_t root = 0; ///< the graph that the story begins with
};

struct StoryEvent {
  enum Kind : uint8_t {
    PassBegin, ///< word: name; before: root
    PassEnd,   ///< after: root, 0 where it failed
    Step,      ///< word: rule; before, after: nodes
    Error      ///< word: rule that threw; before: culprit
  } kind = Step;
  uint32_t word = 0, before = 0, after = 0;
  bool operator==(const StoryEvent&) const = default;
};

/// Collects graphs: the nodes of a story.
class StoryGraph {
public:
  /// The number of a graph's root; 0 for null. Equal graphs of several pools have one number.
  uint32_t add(UOp root);
  uint32_t word(std::string_view text);
  /// The nodes of the pool are about to be freed.
  void forget(const Pool& pool);
  /// Returns words and nodes; the object is empty afterwards.
  PackedStory take();

private:
  uint32_t addOne(UOp u);
  std::unordered_map<const Node*, uint32_t> known_;
  std::unordered_map<uint64_t, uint32_t> byContent_, kinds_;
  std::unordered_map<std::string, uint32_t> words_;
  std::vector<std::string> wordList_;
  std::vector<uint64_t> hashes_, wordHashes_;
  std::string bytes_;
};

/// A graph as text, one line per node: the stored form of the compiler's inputs.
std::string graphToText(UOp root);
/// The line that follows the graph of a schedule: the places, counted in lines from 0, of the values that tensors hold,
/// from the JSON list of an artifact "held".
std::string heldLine(std::string_view places);

/// Appends an integer with 7 bits per byte, lowest bits first.
inline void putVarint(std::string& out, uint64_t value) {
  for (; value >= 128; value >>= 7) out += static_cast<char>(value | 128);
  out += static_cast<char>(value);
}
uint64_t getVarint(std::string_view bytes, size_t& at); ///< Error(Value) past the end

uint64_t hashText(std::string_view text);
inline uint64_t hashMix(uint64_t h, uint64_t value) {
  h = (h ^ value) * 0x9E3779B97F4A7C15ull;
  h ^= h >> 29;
  h *= 0xBF58476D1CE4E5B9ull;
  return h ^ h >> 32;
}

} // namespace uopscope
