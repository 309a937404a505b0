// Takes story records apart, and finds the words that stand before their first use.
#include "replay/record/story_text.h"

#include "engine/base/error.h"

#include <algorithm>
#include <unordered_set>

namespace uopscope {

std::string storyRecord(const PackedStory& story, std::span<const uint64_t> words) {
  std::string out;
  putVarint(out, words.size());
  for (uint64_t w : words) putVarint(out, w);
  putVarint(out, story.root);
  for (const std::string* part : {&story.nodes, &story.events}) {
    putVarint(out, part->size());
    out += *part;
  }
  return out;
}

PackedStory storyOf(std::string_view record, std::vector<uint64_t>& words) {
  PackedStory story;
  size_t at = 0;
  words.clear();
  for (uint64_t left = getVarint(record, at); left > 0; --left) words.push_back(getVarint(record, at));
  story.root = static_cast<uint32_t>(getVarint(record, at));
  for (std::string* part : {&story.nodes, &story.events}) {
    const uint64_t size = getVarint(record, at);
    if (size > record.size() - at)
      throw Error(ErrorKind::File, "a stored story is longer than its record: the file is damaged");
    *part = record.substr(at, size);
    at += size;
  }
  if (at != record.size())
    throw Error(ErrorKind::File, "a stored story is shorter than its record: the file is damaged");
  return story;
}

namespace {
/// Nothing where the record is no story, or not one whose nodes come with its events.
std::optional<Told> takenApart(std::string_view record) {
  Told t;
  try {
    const PackedStory story = storyOf(record, t.words);
    t.root = story.root;
    for (size_t at = 0; at < story.nodes.size();) {
      const uint64_t kind = getVarint(story.nodes, at), count = getVarint(story.nodes, at),
                     self = t.starts.size();
      if (kind >= t.words.size() || t.words[kind] >> 26 || count > story.nodes.size()) return {};
      t.kinds.push_back(t.words[kind]);
      for (uint64_t k = 0; k < count; ++k) {
        const uint64_t back = getVarint(story.nodes, at);
        if (back == 0 || back >= self) return {};
        t.sources.push_back(static_cast<uint32_t>(self - back));
      }
      t.starts.push_back(static_cast<uint32_t>(t.sources.size()));
    }
    for (size_t at = 0; at < story.events.size();) {
      const uint64_t head = getVarint(story.events, at), first = getVarint(story.events, at);
      StoryEvent e{static_cast<StoryEvent::Kind>(head & 3), 0, static_cast<uint32_t>(first), 0};
      const uint64_t after = e.kind == StoryEvent::Step ? getVarint(story.events, at) : 0;
      if (first > t.kinds.size() || after > t.kinds.size() ||
          head >> 2 >= std::max<size_t>(t.words.size(), 1))
        return {};
      e.word = static_cast<uint32_t>(head >> 2), e.after = static_cast<uint32_t>(after);
      t.events.push_back(e);
    }
  } catch (const Error&) {
    return {};
  }
  return t.root > t.kinds.size() ? std::nullopt : std::optional(std::move(t));
}

/// The words of a list that come before their first use; `used`: the words in order of their first use.
std::vector<StrayWord> straysAmong(const std::vector<uint64_t>& list, const std::vector<uint64_t>& used) {
  std::vector<StrayWord> strays;
  std::unordered_set<uint64_t> stood;
  size_t next = 0;
  for (size_t place = 0; place < list.size(); ++place) {
    while (next < used.size() && stood.contains(used[next])) ++next;
    if (next < used.size() && used[next] == list[place])
      ++next;
    else
      strays.push_back({place, list[place]});
    stood.insert(list[place]);
  }
  return strays;
}

/// Writes a story as the unpacker will; false where it has nodes without an event.
bool write(const Told& t, StoryText& again) {
  uint32_t made = 0;
  auto upTo = [&](uint32_t node) {
    for (; made < node; ++made) again.node(t.kinds[made], made + 1, t.src(made + 1));
  };
  upTo(t.root);
  for (const StoryEvent& e : t.events) {
    upTo(e.before);
    if (e.kind != StoryEvent::PassEnd && t.words[e.word] >> 26) return false;
    again.event(e.kind, e.kind == StoryEvent::PassEnd ? 0 : t.words[e.word], e.before);
    upTo(e.after);
    if (e.kind == StoryEvent::Step) again.after(e.after);
  }
  return made == t.kinds.size();
}
} // namespace

std::optional<Told> toldBy(std::string_view record, StoryText& again) {
  std::optional<Told> t = takenApart(record);
  again.begin();
  if (!t || !write(*t, again)) return {};
  if (again.words() != t->words) {
    t->strays = straysAmong(t->words, again.words());
    for (const StrayWord& s : t->strays)
      if (s.word >> 26) return {};
    again.begin(t->strays);
    write(*t, again);
  }
  if (again.record(t->root) != record) return {};
  return t;
}

} // namespace uopscope
