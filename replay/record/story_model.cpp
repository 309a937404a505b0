// All tables have a fixed size and are found by a hash without a key: a wrong expectation costs a few bytes, never the result.
#include "replay/record/story_model.h"

#include "replay/record/story.h"

#include <algorithm>

namespace uopscope {

namespace {
constexpr size_t kContexts = 1 << 16, kFarPlaces = 4, kMostNear = 16, kMostExpected = 64;
constexpr uint32_t kMostLinks = 50;  ///< a node's replacements that are followed
constexpr uint32_t kBatchPlaces = 4; ///< places in a batch that contexts tell apart
} // namespace

StoryModel::StoryModel() : table_(kContexts), followers_(kContexts) {}

void StoryModel::beginStory() {
  ++story_;
  kinds_.clear(), sources_.clear(), near_.clear(), current_.clear(), undo_.clear(), outer_.clear();
  starts_.assign(1, 0);
  pass_ = passes_ = 1;
  batchStart_ = lastExplicit_ = lastReplaced_ = rule_ = 0;
  last_ = {};
}

void StoryModel::append(uint32_t kind, std::span<const uint32_t> src, bool isExplicit) {
  kinds_.push_back(kind);
  sources_.insert(sources_.end(), src.begin(), src.end());
  starts_.push_back(static_cast<uint32_t>(sources_.size()));
  byContent_.add(contentHash(kind, src), story_, count());
  last_ = {kind, last_[0], last_[1]};
  if (!isExplicit) return;
  lastExplicit_ = count();
  if (far_.size() < (size_t{kind} + 1) * kFarPlaces) far_.resize((size_t{kind} + 1) * kFarPlaces);
  for (size_t place = 0; place < std::min(src.size(), kFarPlaces); ++place)
    if (!isLocal(src[place])) far_[kind * kFarPlaces + place] = {src[place], story_};
}

uint32_t StoryModel::contentHash(uint32_t kind, std::span<const uint32_t> src) {
  constexpr uint64_t kOdd = 0x9E3779B97F4A7C15ull;
  uint64_t h = (uint64_t{kind} << 32 | src.size()) * kOdd;
  for (uint32_t s : src) h = ((h ^ h >> 32) + s) * kOdd;
  return static_cast<uint32_t>(h >> 32);
}

uint32_t StoryModel::find(uint32_t kind, std::span<const uint32_t> wanted) const {
  return byContent_.find(contentHash(kind, wanted), story_, [&](uint32_t node) {
    return kindOf(node) == kind && std::ranges::equal(src(node), wanted);
  });
}

void StoryModel::beginPass() {
  outer_.push_back({pass_, undo_.size()});
  pass_ = ++passes_;
}

void StoryModel::endPass() {
  if (outer_.empty()) return;
  for (; undo_.size() > outer_.back().undo; undo_.pop_back()) current_[undo_.back().node] = undo_.back().was;
  pass_ = outer_.back().pass;
  outer_.pop_back();
}

void StoryModel::replace(uint32_t from, uint32_t to) {
  if (from == to || !from) return;
  if (current_.size() <= from) current_.resize(from + 1 + from / 2);
  if (outer_.size() > 1) undo_.push_back({from, current_[from]});
  current_[from] = {to, pass_};
}

uint32_t StoryModel::resolve(uint32_t node) const {
  for (uint32_t k = 0; k < kMostLinks && isReplaced(node) && current_[node].to; ++k) node = current_[node].to;
  return node;
}

void StoryModel::look(uint32_t node) {
  near_.clear();
  if (!node) return;
  near_.push_back(node);
  for (size_t k = 0; k < near_.size() && near_.size() < kMostNear; ++k)
    for (uint32_t s : src(near_[k]))
      if (near_.size() < kMostNear && std::ranges::find(near_, s) == near_.end()) near_.push_back(s);
}

void StoryModel::beginBatch(StoryPart part, uint32_t rule) {
  part_ = part, rule_ = rule;
  batchStart_ = count();
  last_ = {};
}

size_t StoryModel::context() const {
  uint64_t h =
      hashMix(static_cast<uint64_t>(part_) << 32 | std::min(count() - batchStart_, kBatchPlaces), rule_);
  for (uint32_t kind : last_) h = hashMix(h, kind);
  return h % kContexts;
}

size_t StoryModel::follower() const {
  return hashMix(hashMix(static_cast<uint64_t>(part_), last_[0]), last_[1]) % kContexts;
}

void StoryModel::expect(uint32_t kind, std::span<const SourceRef> refs) {
  Expected& e = table_[context()];
  e.kind = refs.size() > kMostExpected ? 0 : kind;
  if (e.kind) e.refs.assign(refs.begin(), refs.end());
}

uint32_t& StoryModel::usualSources(uint32_t kind) {
  if (usual_.size() <= kind) usual_.resize(size_t{kind} + 1, UINT32_MAX);
  return usual_[kind];
}

uint32_t StoryModel::farBase(uint32_t kind, std::span<const uint32_t> soFar) const {
  const size_t place = soFar.size();
  if (place >= kFarPlaces) return soFar.back();
  const size_t at = kind * kFarPlaces + place;
  return at < far_.size() && far_[at].story == story_ ? far_[at].node : lastReplaced_;
}

uint32_t StoryModel::source(SourceRef ref, uint32_t kind, std::span<const uint32_t> soFar) const {
  const size_t place = soFar.size();
  int64_t node = 0;
  auto same = [&] {
    if (!lastExplicit_) return uint32_t{0};
    const std::span<const uint32_t> other = src(lastExplicit_);
    return place < other.size() ? other[place] : 0;
  };
  switch (ref.mode) {
  case SourceRef::Ahead: node = place > 1 ? int64_t{2} * soFar[place - 1] - soFar[place - 2] : 0; break;
  case SourceRef::Next: node = place ? soFar[place - 1] + int64_t{1} : count(); break;
  case SourceRef::Same: node = same(); break;
  case SourceRef::SameNext: node = same() ? same() + int64_t{1} : 0; break;
  case SourceRef::Repeat: node = place ? soFar[place - 1] : 0; break;
  case SourceRef::Local:
    node = static_cast<int64_t>(uint64_t{count()} + 1 - static_cast<uint64_t>(ref.value));
    break;
  case SourceRef::Near:
    node = ref.value >= 0 && static_cast<uint64_t>(ref.value) < near_.size()
               ? near_[static_cast<size_t>(ref.value)]
               : 0;
    break;
  case SourceRef::Far:
    node =
        static_cast<int64_t>(static_cast<uint64_t>(farBase(kind, soFar)) + static_cast<uint64_t>(ref.value));
    break;
  }
  return node > 0 && node <= count() ? static_cast<uint32_t>(node) : 0;
}

} // namespace uopscope
