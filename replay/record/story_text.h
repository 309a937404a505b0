// A story record written and taken apart: the packer of stories compares this text, the unpacker returns it.
//
//   StoryText text;  text.begin();  text.node(word, 1, {});  text.event(kind, word, 1);
//   text.record(root) == record;                                 // of storyRecord()
//   if (auto told = toldBy(record, text)) use(told->events);
//
// The words of a story stand in its list in order of their first use; words that do not are its strays.
#pragma once
#include "replay/record/columns.h"
#include "replay/record/story_codec.h"

#include <array>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace uopscope {

/// A word in the list of a story that stands before its first use: of a pass that was dropped since it had no step.
struct StrayWord {
  uint64_t place = 0, word = 0;
};

/// What a story record consists of, written out: the packer compares it, the unpacker returns it.
class StoryText {
public:
  void begin(std::vector<StrayWord> strays = {}) {
    ++story_;
    words_.clear(), nodes_.clear(), events_.clear();
    strays_ = std::move(strays), nextStray_ = 0;
  }
  void node(uint64_t kindWord, uint32_t self, std::span<const uint32_t> src) {
    putVarint(nodes_, local(kindWord));
    putVarint(nodes_, src.size());
    for (uint32_t s : src) putVarint(nodes_, self - s);
  }
  /// An event, after the nodes of its first graph; a step's second graph follows with its own nodes.
  void event(StoryEvent::Kind kind, uint64_t word, uint32_t first) {
    putVarint(events_, (kind == StoryEvent::PassEnd ? 0 : local(word)) << 2 | kind);
    putVarint(events_, first);
  }
  void after(uint32_t node) { putVarint(events_, node); }
  size_t size() const { return nodes_.size() + events_.size(); }
  const std::vector<uint64_t>& words() const { return words_; }
  std::string record(uint32_t root) {
    addStrays();
    PackedStory story;
    story.nodes = std::move(nodes_), story.events = std::move(events_), story.root = root;
    nodes_.clear(), events_.clear();
    return storyRecord(story, words_);
  }

private:
  /// The place of a corpus's word in the list of this story; a word stands there when it is first used.
  uint64_t local(uint64_t word) {
    const Place* at = &place(word);
    if (at->story == story_) return at->number;
    addStrays();
    if (at->story != story_) add(word);
    return at->number;
  }
  void addStrays() {
    for (; nextStray_ < strays_.size() && strays_[nextStray_].place == words_.size(); ++nextStray_)
      add(strays_[nextStray_].word);
  }
  void add(uint64_t word) {
    place(word) = {story_, words_.size()};
    words_.push_back(word);
  }
  struct Place {
    uint64_t story = 0, number = 0;
  };
  static constexpr uint64_t kMostWords = 1 << 26, kOfPage = 64;
  /// In pages, since one large word of a file must not cost the memory of all smaller ones.
  Place& place(uint64_t word) {
    if (word >= kMostWords) damagedBlock();
    if (pages_.size() <= word / kOfPage) pages_.resize(word / kOfPage + 1);
    auto& page = pages_[word / kOfPage];
    if (!page) page = std::make_unique<std::array<Place, kOfPage>>();
    return (*page)[word % kOfPage];
  }
  uint64_t story_ = 0;
  std::vector<std::unique_ptr<std::array<Place, kOfPage>>> pages_;
  std::vector<uint64_t> words_;
  std::vector<StrayWord> strays_;
  size_t nextStray_ = 0;
  std::string nodes_, events_;
};

/// A record, taken apart.
struct Told {
  std::vector<uint64_t> words;
  std::vector<uint64_t> kinds; ///< words of nodes
  std::vector<uint32_t> starts{0}, sources;
  std::vector<StoryEvent> events;
  std::vector<StrayWord> strays;
  uint32_t root = 0;
  std::span<const uint32_t> src(uint32_t node) const {
    return std::span(sources).subspan(starts[node - 1], starts[node] - starts[node - 1]);
  }
};

/// Nothing where StoryText could not make the same bytes.
std::optional<Told> toldBy(std::string_view record, StoryText& again);

} // namespace uopscope
