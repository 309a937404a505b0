// A story is told as its events in order, each after the nodes that came with it. The nodes before a rewrite, and those at the
// end of a pass, follow from the walk of the pass (story_walks.h). Another node is the one expected after the last three, or is
// spelled out. A story is written only if StoryText makes the same bytes from these parts; other records are kept whole.
#include "replay/record/story_codec.h"
#include "replay/record/story_columns.h"
#include "replay/record/story_text.h"
#include "replay/record/story_walks.h"

#include <cstdlib>
#include <optional>

namespace uopscope {

using namespace storyform;

namespace {

class StoryPacker {
public:
  explicit StoryPacker(uint64_t bytes) : walks_(model_, bytes) {}
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
    walks_.beginStory();
    lastBefore_ = 0;
    nodesUpTo(t.root, StoryPart::Graph, 0);
    for (const StoryEvent& e : t.events) event(e);
    out_.put(kEvents, kStoryEnds);
  }

  void event(const StoryEvent& e) {
    out_.put(kEvents, e.kind);
    uint32_t name = 0;
    if (e.kind != StoryEvent::PassEnd) out_.put(kNames, name = number(names_, told_->words[e.word]));
    model_.look(0);
    const bool isStep = e.kind == StoryEvent::Step;
    const bool isWalked =
        (isStep && walkTo(e.before, name)) || (e.kind == StoryEvent::PassEnd && walkToEnd(e.before));
    if (!isWalked) nodesUpTo(e.before, partOf(e.kind), isStep ? name : 0);
    if (e.kind == StoryEvent::PassEnd) walks_.endPass();
    if (e.kind == StoryEvent::PassBegin || isStep) lastBefore_ = e.before;
    if (e.kind == StoryEvent::PassBegin) {
      model_.setLastReplaced(e.before);
      walks_.beginPass(e.before, name);
    }
    if (!isStep) return;
    model_.look(e.before);
    nodesUpTo(e.after, StoryPart::After, name);
    if (StoryWalk* walk = walks_.current()) walk->rewritten(e.after);
  }

  uint32_t number(WordNumbers& among, uint64_t word) {
    if (const uint32_t known = among.known(word)) return known;
    out_.put(kWords,
             unsignedOf(static_cast<int64_t>(word - lastWord_ - 1))); // most words are new in their order
    lastWord_ = word;
    return among.add(word);
  }

  /// Tells a node that a rule applies to by its place in the walk. False where the walk does not come to it.
  bool walkTo(uint32_t before, uint32_t rule) {
    StoryWalk* walk = walks_.current();
    if (!walk) return false;
    const uint32_t kind = before ? kinds_.known(told_->kinds[before - 1]) : 0;
    uint64_t tried = 0, ofMetKind = 0;
    for (; kind && walk->next(); ++tried) {
      if (walk->kind() == kind && tellsAs(*walk, before)) {
        if (walks_.isMet(rule, kind)) {
          out_.put(kWalk, kSkipped + ofMetKind);
        } else {
          out_.put(kWalk, kNewKind), out_.put(kSkips, tried);
          walks_.meet(rule, kind);
        }
        if (const uint32_t older = walk->older()) model_.setLastReplaced(older);
        return true;
      }
      ofMetKind += walks_.isMet(rule, walk->kind());
    }
    out_.put(kWalk, kElsewhere);
    walks_.failed();
    return false;
  }

  bool walkToEnd(uint32_t root) {
    StoryWalk* walk = walks_.current();
    if (!walk) return false;
    while (walk->next()) {
    }
    const bool isSame = walk->isAlive() && tellsAs(*walk, root);
    out_.put(kWalk, isSame ? kWalkedToEnd : kElsewhere);
    isSame ? walks_.worked() : walks_.failed();
    return isSame;
  }

  /// Whether the graph that the walk came to has this number in the story, and its new nodes have those before.
  /// They are appended if so.
  bool tellsAs(StoryWalk& walk, uint32_t root) {
    walk.gather();
    const size_t count = root > model_.count() ? root - model_.count() : 0;
    bool isSame = walk.gathered() == root && walk.fresh().size() == count;
    for (size_t k = 0; isSame && k < count; ++k) {
      const StoryWalk::Fresh& f = walk.fresh()[k];
      const auto self = static_cast<uint32_t>(model_.count() + 1 + k);
      isSame =
          kinds_.known(told_->kinds[self - 1]) == f.kind && std::ranges::equal(walk.src(f), told_->src(self));
    }
    if (isSame) {
      for (const StoryWalk::Fresh& f : walk.fresh()) model_.append(f.kind, walk.src(f), false);
      walk.tell();
    } else {
      walk.forget();
    }
    return isSame;
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
    if (known && isExpected(known, src)) {
      out_.put(column(part, kTokens), kExpected);
      return model_.append(known, src, true);
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

  uint32_t toldKind(StoryPart part, uint64_t word) {
    uint32_t& follower = model_.expectedKind();
    const uint32_t known = kinds_.known(word), expected = model_.expected().kind;
    const int64_t beside = int64_t{known} - expected;
    const bool isBeside = expected && beside && std::abs(beside) <= kMostBeside;
    out_.put(column(part, kKinds), !known              ? kUnknown
                                   : follower == known ? kFollows
                                   : isBeside          ? kBeside + unsignedOf(beside)
                                                       : kNamed + known);
    return follower = number(kinds_, word);
  }

  void spellOut(StoryPart part, uint64_t word, std::span<const uint32_t> src) {
    const uint32_t kind = toldKind(part, word);
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
    model_.expect(kind, refs_);
    model_.append(kind, src, true);
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

  ColumnWriter out_{kColumns};
  StoryModel model_;
  StoryWalks walks_;
  StoryText text_;
  WordNumbers kinds_, names_;
  const Told* told_ = nullptr;
  std::vector<SourceRef> refs_;
  uint64_t lastWord_ = 0;
  uint32_t lastBefore_ = 0;
};
} // namespace

std::string packStories(std::span<const std::string_view> records) {
  uint64_t bytes = 0;
  for (std::string_view record : records) bytes += record.size();
  StoryPacker packer(bytes);
  packer.begin(records.size());
  for (std::string_view record : records) packer.add(record);
  return packer.packed();
}

} // namespace uopscope
