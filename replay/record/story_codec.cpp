// A story is told as its events in order, each after the nodes that came with it. A node is the one expected after the last
// three, or takes the place of an older node, whose kind and whose sources, as rewritten by now, it has, or is spelled out. The
// packer writes a story only if StoryText makes the same bytes from these parts; other records are kept whole.
#include "replay/record/story_codec.h"

#include "engine/base/error.h"
#include "replay/record/columns.h"
#include "replay/record/story_model.h"
#include "replay/record/story_text.h"
#include "replay/schema/leb128.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace uopscope {

namespace {

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
constexpr size_t kColumns = kCommon + kStoryParts * kOfPart;
/// Kinds, numbers of sources and modes of one node stand together: most of them occur again together.
constexpr size_t column(StoryPart part, OfPart which) {
  if (which == kCounts || which == kModes) which = kKinds;
  return kCommon + static_cast<size_t>(part) * kOfPart + which;
}
/// The same in a block of an earlier build.
constexpr size_t oldColumn(StoryPart part, OfPart which) {
  return kCommon + static_cast<size_t>(part) * kOfPart + which;
}
/// Sources from this place on are those of a list.
constexpr size_t kListPlace = 4;

/// Tokens of a node. A larger one is an older node whose place it takes.
enum Token : uint64_t { kExpected, kExplicit, kReplaces };
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

StoryPart partOf(uint64_t event) {
  return event == StoryEvent::PassEnd ? StoryPart::End
         : event == StoryEvent::Step  ? StoryPart::Before
                                      : StoryPart::Graph;
}

/// The graph of a node of an event, relative to the nodes met before.
uint64_t rootToken(const StoryModel& m, StoryPart part, uint32_t root, uint32_t lastBefore) {
  if (!root) return 0;
  if (part == StoryPart::Before) return 1 + unsignedOf(int64_t{root} - lastBefore);
  if (part == StoryPart::After)
    if (auto at = std::ranges::find(m.near(), root); at != m.near().end())
      return 1 + 2 * static_cast<uint64_t>(at - m.near().begin());
  return part == StoryPart::After ? 2 + 2 * uint64_t{m.count() - root} : 1 + uint64_t{m.count() - root};
}

uint32_t rootOf(const StoryModel& m, StoryPart part, uint64_t token, uint32_t lastBefore) {
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

/// Finds the older node whose place a new one takes: its kind is the same, and so are its sources as rewritten by now.
class Predecessors {
public:
  void beginStory() { users_.assign(1, {}), origins_.assign(1, {}), entries_.clear(); }
  void appended(const StoryModel& m) {
    const uint32_t node = m.count();
    users_.emplace_back(), origins_.emplace_back();
    for (uint32_t s : m.src(node))
      if (!users_[s].first || entries_[users_[s].first - 1].node != node) push(users_[s], node, 0);
  }
  void replaced(const StoryModel& m, uint32_t from, uint32_t to, uint32_t pass) {
    (void)m;
    if (from != to && from && to) push(origins_[to], from, pass);
  }
  uint32_t find(const StoryModel& m, uint32_t kind, std::span<const uint32_t> src, uint32_t pass) const {
    size_t tries = 0;
    auto amongUsers = [&](uint32_t origin) -> uint32_t {
      for (uint32_t at = users_[origin].first; at && tries < kMostTries; at = entries_[at - 1].next, ++tries)
        if (const uint32_t user = entries_[at - 1].node; m.kindOf(user) == kind && takesPlace(m, user, src))
          return user;
      return 0;
    };
    for (uint32_t s : src)
      for (uint32_t at = origins_[s].first; at && tries < kMostTries; at = entries_[at - 1].next, ++tries) {
        const Entry& origin = entries_[at - 1];
        if (origin.pass != pass) continue;
        if (const uint32_t found = amongUsers(origin.node)) return found;
        for (uint32_t deeper = origins_[origin.node].first; deeper && tries < kMostTries;
             deeper = entries_[deeper - 1].next, ++tries)
          if (entries_[deeper - 1].pass == pass)
            if (const uint32_t found = amongUsers(entries_[deeper - 1].node)) return found;
      }
    return 0;
  }

private:
  static constexpr size_t kMostTries = 160;
  struct List {
    uint32_t first = 0; ///< in entries_, from 1; 0: empty
  };
  struct Entry {
    uint32_t node, pass, next;
  };
  static bool takesPlace(const StoryModel& m, uint32_t user, std::span<const uint32_t> src) {
    const std::span<const uint32_t> old = m.src(user);
    return old.size() == src.size() &&
           std::ranges::equal(old, src, {}, [&](uint32_t s) { return m.resolve(s); });
  }
  void push(List& list, uint32_t node, uint32_t pass) {
    entries_.push_back({node, pass, list.first});
    list.first = static_cast<uint32_t>(entries_.size());
  }
  std::vector<List> users_, origins_;
  std::vector<Entry> entries_;
};

class Packer {
public:
  void begin(size_t records) { out_.put(kHeads, records); }
  void add(std::string_view record) {
    const std::optional<Told> told = toldBy(record, text_);
    out_.put(kHeads, told ? kTold : kWhole);
    if (told) return tell(*told);
    out_.put(kHeads, record.size());
    out_.text(kRaw, record);
  }
  std::string packed() const { return out_.packed(); }

private:
  void tell(const Told& t) {
    told_ = &t;
    out_.put(kStrays, t.strays.size());
    for (const StrayWord& stray : t.strays) out_.put(kStrays, stray.place), out_.put(kStrays, stray.word);
    model_.beginStory();
    older_.beginStory();
    passes_ = 1, open_.assign(1, 1);
    lastBefore_ = 0;
    nodesUpTo(t.root, StoryPart::Graph, 0);
    for (const StoryEvent& e : t.events) {
      out_.put(kEvents, e.kind);
      uint32_t name = 0;
      if (e.kind != StoryEvent::PassEnd) out_.put(kNames, name = number(names_, t.words[e.word]));
      if (e.kind == StoryEvent::PassBegin) {
        model_.beginPass();
        open_.push_back(++passes_);
      }
      model_.look(0);
      nodesUpTo(e.before, partOf(e.kind), e.kind == StoryEvent::Step ? name : 0);
      if (e.kind == StoryEvent::PassBegin || e.kind == StoryEvent::Step) lastBefore_ = e.before;
      if (e.kind == StoryEvent::PassBegin) model_.setLastReplaced(e.before);
      if (e.kind == StoryEvent::Step) {
        model_.look(e.before);
        nodesUpTo(e.after, StoryPart::After, name);
        replace(e.before, e.after);
      }
      if (e.kind == StoryEvent::PassEnd) {
        model_.endPass();
        if (open_.size() > 1) open_.pop_back();
      }
    }
    out_.put(kEvents, kStoryEnds);
  }

  uint32_t number(WordNumbers& among, uint64_t word) {
    if (const uint32_t known = among.known(word)) return known;
    out_.put(kWords,
             unsignedOf(static_cast<int64_t>(word - lastWord_ - 1))); // most words are new in their order
    lastWord_ = word;
    return among.add(word);
  }
  void replace(uint32_t from, uint32_t to) {
    model_.replace(from, to);
    older_.replaced(model_, from, to, open_.back());
  }

  void nodesUpTo(uint32_t root, StoryPart part, uint32_t rule) {
    const uint32_t count = root > model_.count() ? root - model_.count() : 0;
    out_.put(column(part, kBatches), count);
    if (!count) return out_.put(column(part, kRoots), rootToken(model_, part, root, lastBefore_));
    model_.beginBatch(part, rule);
    for (uint32_t k = 0; k < count; ++k) node(part);
  }

  void node(StoryPart part) {
    const uint32_t self = model_.count() + 1;
    const std::span<const uint32_t> src = told_->src(self);
    const uint64_t word = told_->kinds[self - 1];
    const uint32_t known = kinds_.known(word);
    const uint32_t old = known ? older_.find(model_, known, src, open_.back()) : 0;
    if (old) {
      out_.put(column(part, kTokens), kReplaces + unsignedOf(int64_t{old} - model_.lastReplaced()));
      model_.setLastReplaced(old);
      append(known, src, false);
      replace(old, self);
      return;
    }
    if (known && isExpected(known, src)) {
      out_.put(column(part, kTokens), kExpected);
      refs_ = model_.expected().refs;
      finish(known, src);
      return;
    }
    out_.put(column(part, kTokens), kExplicit);
    spellOut(part, word, src);
  }

  bool isExpected(uint32_t kind, std::span<const uint32_t> src) const {
    const StoryModel::Expected& e = model_.expected();
    if (e.kind != kind || e.refs.size() != src.size()) return false;
    for (size_t k = 0; k < src.size(); ++k)
      if (model_.source(e.refs[k], kind, src.first(k)) != src[k]) return false;
    return true;
  }

  void spellOut(StoryPart part, uint64_t word, std::span<const uint32_t> src) {
    uint32_t& follower = model_.expectedKind();
    const uint32_t before = kinds_.known(word);
    if (before && follower == before) {
      out_.put(column(part, kKinds), 0);
    } else {
      out_.put(column(part, kKinds), before ? before : kinds_.count() + 1);
    }
    const uint32_t kind = number(kinds_, word);
    follower = kind;
    uint32_t& usual = model_.usualSources(kind);
    out_.put(column(part, kCounts), usual == src.size() ? 0 : src.size() + 1);
    usual = static_cast<uint32_t>(src.size());
    refs_.clear();
    for (size_t k = 0; k < src.size(); ++k) {
      const bool inList = k >= kListPlace;
      const SourceRef ref = refTo(src[k], kind, src.first(k));
      refs_.push_back(ref);
      out_.put(column(part, inList ? kListModes : kModes), ref.mode);
      if (ref.mode == SourceRef::Local)
        out_.put(column(part, inList ? kListLocal : kLocal), static_cast<uint64_t>(ref.value));
      else if (ref.mode == SourceRef::Near)
        out_.put(column(part, inList ? kListNear : kNear), static_cast<uint64_t>(ref.value));
      else if (ref.mode == SourceRef::Far)
        out_.put(column(part, inList ? kListFar : kFar), unsignedOf(ref.value));
    }
    finish(kind, src);
  }

  SourceRef refTo(uint32_t node, uint32_t kind, std::span<const uint32_t> soFar) const {
    for (auto mode :
         {SourceRef::Ahead, SourceRef::Next, SourceRef::Same, SourceRef::SameNext, SourceRef::Repeat})
      if (model_.source({mode, 0}, kind, soFar) == node) return {mode, 0};
    if (model_.isLocal(node)) return {SourceRef::Local, int64_t{model_.count()} + 1 - node};
    if (auto at = std::ranges::find(model_.near(), node); at != model_.near().end())
      return {SourceRef::Near, at - model_.near().begin()};
    return {SourceRef::Far, int64_t{node} - model_.farBase(kind, soFar)};
  }

  void finish(uint32_t kind, std::span<const uint32_t> src) {
    model_.expect(kind, refs_);
    append(kind, src, true);
  }
  void append(uint32_t kind, std::span<const uint32_t> src, bool isExplicit) {
    model_.append(kind, src, isExplicit);
    older_.appended(model_);
  }

  ColumnWriter out_{kColumns};
  StoryModel model_;
  Predecessors older_;
  StoryText text_;
  WordNumbers kinds_, names_;
  const Told* told_ = nullptr;
  std::vector<SourceRef> refs_;
  std::vector<uint32_t> open_;
  uint64_t lastWord_ = 0;
  uint32_t passes_ = 1, lastBefore_ = 0;
};

class Unpacker {
public:
  Unpacker(std::string_view packed, size_t size) : in_(packed, 16 * size + (1 << 16)), size_(size) {}

  std::string all(uint64_t records) {
    std::string out;
    out.reserve(size_);
    for (; records > 0; --records) {
      made_ = out.size();
      if (in_.get(kHeads) == kWhole) {
        const uint64_t size = in_.get(kHeads);
        if (size > size_ - out.size()) damagedBlock();
        out += in_.text(kRaw, size);
      } else {
        out += story();
      }
      if (out.size() > size_) damagedBlock();
    }
    if (out.size() != size_) damagedBlock();
    return out;
  }
  uint64_t records() { return in_.get(kHeads); }

private:
  std::string story() {
    std::vector<StrayWord> strays;
    for (uint64_t left = in_.get(kStrays); left > 0; --left) {
      const uint64_t place = in_.get(kStrays);
      strays.push_back({place, in_.get(kStrays)});
    }
    text_.begin(std::move(strays));
    model_.beginStory();
    lastBefore_ = 0;
    const uint32_t root = nodes(StoryPart::Graph, 0);
    for (uint64_t kind; (kind = in_.get(kEvents)) < kStoryEnds;) {
      const auto event = static_cast<StoryEvent::Kind>(kind);
      uint32_t name = 0;
      if (event != StoryEvent::PassEnd) name = number(names_, in_.get(kNames));
      if (event == StoryEvent::PassBegin) model_.beginPass();
      model_.look(0);
      const uint32_t before = nodes(partOf(kind), event == StoryEvent::Step ? name : 0);
      if (event == StoryEvent::PassBegin || event == StoryEvent::Step) lastBefore_ = before;
      if (event == StoryEvent::PassBegin) model_.setLastReplaced(before);
      text_.event(event, event == StoryEvent::PassEnd ? 0 : names_.word(name), before);
      if (event == StoryEvent::Step) {
        model_.look(before);
        const uint32_t after = nodes(StoryPart::After, name);
        text_.after(after);
        model_.replace(before, after);
      }
      if (event == StoryEvent::PassEnd) model_.endPass();
      checkSize();
    }
    return text_.record(root);
  }

  uint64_t get(StoryPart part, OfPart which) {
    return in_.get(in_.isOld() ? oldColumn(part, which) : column(part, which));
  }
  void checkSize() const {
    if (text_.size() > size_ - made_) damagedBlock();
  }
  /// The number as read, after its word where it is a new one.
  uint32_t number(WordNumbers& among, uint64_t read) {
    if (read < 1 || read > among.count() + 1) damagedBlock();
    if (read == among.count() + 1) {
      uint64_t word = in_.get(kWords);
      if (!in_.isOld()) word = lastWord_ + 1 + static_cast<uint64_t>(signedOf(word));
      lastWord_ = word;
      if (word >> 26) damagedBlock();
      among.keep(word);
    }
    return static_cast<uint32_t>(read);
  }

  uint32_t nodes(StoryPart part, uint32_t rule) {
    const uint64_t count = get(part, kBatches);
    if (!count) return rootOf(model_, part, get(part, kRoots), lastBefore_);
    if (count > size_) damagedBlock();
    model_.beginBatch(part, rule);
    for (uint64_t k = 0; k < count; ++k) {
      node(part);
      const uint32_t made = model_.count();
      text_.node(kinds_.word(model_.kindOf(made)), made, model_.src(made));
      checkSize();
    }
    return model_.count();
  }

  void node(StoryPart part) {
    const uint64_t token = get(part, kTokens);
    src_.clear();
    if (token >= kReplaces) {
      const uint64_t old = model_.lastReplaced() + static_cast<uint64_t>(signedOf(token - kReplaces));
      if (old < 1 || old > model_.count()) damagedBlock();
      const auto from = static_cast<uint32_t>(old);
      for (uint32_t s : model_.src(from)) src_.push_back(checked(model_.resolve(s)));
      model_.setLastReplaced(from);
      model_.append(model_.kindOf(from), src_, false);
      model_.replace(from, model_.count());
      return;
    }
    uint32_t kind = 0;
    if (token == kExpected) {
      kind = model_.expected().kind;
      if (!kind) damagedBlock();
      refs_ = model_.expected().refs;
      for (const SourceRef& ref : refs_) src_.push_back(checked(model_.source(ref, kind, src_)));
    } else {
      kind = spelledOut(part);
    }
    model_.expect(kind, refs_);
    model_.append(kind, src_, true);
  }

  static uint32_t checked(uint32_t node) {
    if (!node) damagedBlock();
    return node;
  }

  uint32_t spelledOut(StoryPart part) {
    uint32_t& follower = model_.expectedKind();
    const uint64_t read = get(part, kKinds);
    const uint32_t kind = number(kinds_, read ? read : uint64_t{follower});
    follower = kind;
    uint32_t& usual = model_.usualSources(kind);
    const uint64_t counted = get(part, kCounts);
    const uint64_t count = counted ? counted - 1 : usual;
    if (count > size_) damagedBlock();
    usual = static_cast<uint32_t>(count);
    refs_.clear();
    for (uint64_t k = 0; k < count; ++k) {
      const bool inList = k >= kListPlace;
      const uint64_t mode = get(part, inList ? kListModes : kModes);
      if (mode > SourceRef::Far) damagedBlock();
      SourceRef ref{static_cast<SourceRef::Mode>(mode), 0};
      if (ref.mode == SourceRef::Local)
        ref.value = static_cast<int64_t>(get(part, inList ? kListLocal : kLocal));
      else if (ref.mode == SourceRef::Near)
        ref.value = static_cast<int64_t>(get(part, inList ? kListNear : kNear));
      else if (ref.mode == SourceRef::Far)
        ref.value = signedOf(get(part, inList ? kListFar : kFar));
      refs_.push_back(ref);
      src_.push_back(checked(model_.source(ref, kind, src_)));
    }
    return kind;
  }

  ColumnReader in_;
  size_t size_, made_ = 0;
  StoryModel model_;
  StoryText text_;
  WordNumbers kinds_, names_;
  std::vector<SourceRef> refs_;
  std::vector<uint32_t> src_;
  uint64_t lastWord_ = 0;
  uint32_t lastBefore_ = 0;
};
} // namespace

std::string packStories(std::span<const std::string_view> records) {
  Packer packer;
  packer.begin(records.size());
  for (std::string_view record : records) packer.add(record);
  return packer.packed();
}

std::string unpackStories(std::string_view packed, size_t size) {
  Unpacker unpacker(packed, size);
  return unpacker.all(unpacker.records());
}

} // namespace uopscope
