// The inverse of story_packer.cpp, and of the packers of earlier builds: they told each node, those that come again with new
// sources by the older node whose place they take. Everything that a block says is checked against the size it has.
#include "engine/base/error.h"
#include "replay/record/story_codec.h"
#include "replay/record/story_columns.h"
#include "replay/record/story_text.h"
#include "replay/record/story_walks.h"

#include <utility>

namespace uopscope {

using namespace storyform;

namespace {

class Unpacker {
public:
  Unpacker(std::string_view packed, size_t size)
      : in_(packed, 16 * size + (1 << 16)), size_(size), walks_(model_, size),
        isWalked_(in_.columns() > kOldColumns) {}

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
    walks_.beginStory();
    lastBefore_ = 0;
    const uint32_t root = nodes(StoryPart::Graph, 0);
    for (uint64_t kind; (kind = in_.get(kEvents)) < kStoryEnds;) {
      event(static_cast<StoryEvent::Kind>(kind));
      checkSize();
    }
    return text_.record(root);
  }

  void event(StoryEvent::Kind event) {
    const bool isStep = event == StoryEvent::Step;
    const uint32_t name = event == StoryEvent::PassEnd ? 0 : number(names_, in_.get(kNames));
    if (!isWalked_ && event == StoryEvent::PassBegin) model_.beginPass();
    model_.look(0);
    uint32_t before = isStep ? walkedTo(name) : event == StoryEvent::PassEnd ? walkedToEnd() : 0;
    if (!before) before = nodes(partOf(event), isStep ? name : 0);
    if (event == StoryEvent::PassBegin || isStep) lastBefore_ = before;
    text_.event(event, event == StoryEvent::PassEnd ? 0 : names_.word(name), before);
    if (event == StoryEvent::PassBegin) {
      model_.setLastReplaced(before);
      if (isWalked_) walks_.beginPass(before, name);
    }
    if (event == StoryEvent::PassEnd) {
      walks_.endPass();
      if (!isWalked_) model_.endPass();
    }
    if (!isStep) return;
    model_.look(before);
    const uint32_t after = nodes(StoryPart::After, name);
    text_.after(after);
    if (!isWalked_) model_.replace(before, after);
    if (StoryWalk* walk = walks_.current()) walk->rewritten(after);
  }

  /// The node that the walk of the pass comes to, its new nodes appended. 0: it is told by its nodes.
  uint32_t walkedTo(uint32_t rule) {
    StoryWalk* walk = walks_.current();
    if (!walk) return 0;
    const uint64_t token = in_.get(kWalk);
    if (token == kElsewhere) return walks_.failed(), 0;
    const bool isNew = token == kNewKind;
    for (uint64_t left = isNew ? in_.get(kSkips) : token - kSkipped;; --left) {
      do
        if (!walk->next()) damagedBlock();
      while (!isNew && !walks_.isMet(rule, walk->kind()));
      if (left == 0) break;
    }
    walks_.meet(rule, walk->kind());
    const uint32_t before = appended(*walk);
    if (const uint32_t older = walk->older()) model_.setLastReplaced(older);
    return before;
  }

  uint32_t walkedToEnd() {
    StoryWalk* walk = walks_.current();
    if (!walk) return 0;
    if (in_.get(kWalk) != kWalkedToEnd) return walks_.failed(), 0;
    while (walk->next()) {
    }
    if (!walk->isAlive()) damagedBlock();
    walks_.worked();
    return appended(*walk);
  }

  uint32_t appended(StoryWalk& walk) {
    walk.gather();
    for (const StoryWalk::Fresh& f : walk.fresh()) {
      model_.append(f.kind, walk.src(f), false);
      tellLast();
    }
    walk.tell();
    return walk.gathered();
  }

  void tellLast() {
    const uint32_t made = model_.count();
    text_.node(kinds_.word(model_.kindOf(made)), made, model_.src(made));
    checkSize();
  }

  uint64_t get(StoryPart part, OfPart which) {
    return in_.get(in_.isOld() ? zstdColumn(part, which) : column(part, which));
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
      tellLast();
    }
    return model_.count();
  }

  void node(StoryPart part) {
    const uint64_t token = get(part, kTokens);
    src_.clear();
    if (token >= kReplaces) {
      if (isWalked_) damagedBlock();
      const uint64_t old = model_.lastReplaced() + static_cast<uint64_t>(signedOf(token - kReplaces));
      if (old < 1 || old > model_.count()) damagedBlock();
      const auto from = static_cast<uint32_t>(old);
      for (uint32_t s : model_.src(from)) src_.push_back(checked(model_.resolve(s)));
      model_.setLastReplaced(from);
      model_.append(model_.kindOf(from), src_, false);
      model_.replace(from, model_.count());
      return;
    }
    if (token == kExpected) {
      const auto& [kind, refs] = model_.expected();
      if (!kind) damagedBlock();
      for (const SourceRef& ref : refs) src_.push_back(checked(model_.source(ref, kind, src_)));
      return model_.append(kind, src_, true);
    }
    const uint32_t kind = spelledOut(part);
    model_.expect(kind, refs_);
    model_.append(kind, src_, true);
  }

  static uint32_t checked(uint32_t node) {
    if (!node) damagedBlock();
    return node;
  }

  uint32_t toldKind(uint64_t token) {
    uint32_t& follower = model_.expectedKind();
    uint64_t kind = token; // as earlier builds told it
    if (token == kFollows)
      kind = follower;
    else if (isWalked_ && token == kUnknown)
      kind = kinds_.count() + 1;
    else if (isWalked_ && token < kNamed)
      kind = model_.expected().kind + static_cast<uint64_t>(signedOf(token - kBeside));
    else if (isWalked_)
      kind = token - kNamed;
    return follower = number(kinds_, kind);
  }

  uint32_t spelledOut(StoryPart part) {
    const uint32_t kind = toldKind(get(part, kKinds));
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
  StoryWalks walks_;
  bool isWalked_; ///< not in a block of an earlier build
  StoryText text_;
  WordNumbers kinds_, names_;
  std::vector<SourceRef> refs_;
  std::vector<uint32_t> src_;
  uint64_t lastWord_ = 0;
  uint32_t lastBefore_ = 0;
};
} // namespace

std::string unpackStories(std::string_view packed, size_t size) {
  Unpacker unpacker(packed, size);
  return unpacker.all(unpacker.records());
}

} // namespace uopscope
