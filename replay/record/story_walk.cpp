// Made nodes are kept beside the told ones until an event tells them, in the order in which StoryGraph numbers them. Each is
// known by its number from kMade for the whole pass, so results that were kept under it are found after it was told.
#include "replay/record/story_walk.h"

#include <algorithm>

namespace uopscope {

void StoryWalk::begin(uint32_t root, Way way, uint64_t& budget) {
  isAlive_ = root > 0;
  isTrying_ = false;
  way_ = way, root_ = root, budget_ = &budget;
  ++pass_;
  stack_.clear(), made_.clear(), sources_.clear(), madeStates_.clear();
  if (isAlive_) enter(root);
}

void StoryWalk::set(std::vector<State>& of, size_t at, State state) {
  if (at >= of.size()) of.resize(at + 1 + at / 2);
  of[at] = state;
}

void StoryWalk::enter(uint32_t node) {
  if (const uint32_t result = done(node)) {
    if (result == kOpen) end(); // the engine reports an endless loop
    return;
  }
  stack_.push_back({node, node, 0, way_ == Way::Down ? Stage::Enter : Stage::Rebuild});
  if (way_ == Way::Up) setDone(node, kOpen);
}

void StoryWalk::setDone(uint32_t node, uint32_t result) {
  const State state{result, 2 * pass_};
  isMade(node) ? set(madeStates_, node - kMade, state) : set(states_, node, state);
}

bool StoryWalk::isPaid(uint64_t visits) {
  if (*budget_ < visits) end();
  *budget_ -= std::min(*budget_, visits);
  return isAlive_;
}

/// Whether a source of the last frame comes first.
bool StoryWalk::entersSource() {
  const size_t depth = stack_.size(), at = depth - 1;
  const std::span<const uint32_t> sources = src(stack_[at].current);
  while (isAlive_ && stack_.size() == depth && stack_[at].nextSrc < sources.size())
    enter(own(sources[stack_[at].nextSrc++]));
  return stack_.size() > depth;
}

/// The node with its sources as they are now, or itself.
uint32_t StoryWalk::madeAgain(uint32_t node) {
  const auto isChanged = [&](uint32_t s) { return resultOf(own(s)) != own(s); };
  if (std::ranges::none_of(src(node), isChanged)) return node;
  changed_.clear(), changedTold_.clear();
  for (uint32_t s : src(node)) changed_.push_back(resultOf(own(s)));
  const uint32_t kind = kindOf(node), hash = StoryModel::contentHash(kind, changed_);
  if (const uint32_t known = byContent_.find(hash, pass_, [&](uint32_t other) {
        return kindOf(other) == kind && std::ranges::equal(src(other), changed_);
      }))
    return known;
  for (uint32_t s : changed_) changedTold_.push_back(told(s));
  if (std::ranges::none_of(changedTold_, isMade))
    if (const uint32_t known = model_.find(kind, changedTold_)) return own(known);
  const uint32_t made = kMade + static_cast<uint32_t>(made_.size());
  made_.push_back(
      {kind, static_cast<uint32_t>(sources_.size()), static_cast<uint32_t>(changed_.size()), 0, search_});
  sources_.insert(sources_.end(), changed_.begin(), changed_.end());
  byContent_.add(hash, pass_, made);
  return made;
}

bool StoryWalk::next() {
  if (isTrying_) { // and no rule applied
    Frame& frame = stack_.back();
    const bool isEntered = frame.stage == Stage::Enter;
    setDone(frame.original, isEntered ? kOpen : frame.current);
    isEntered ? void(frame.stage = Stage::Rebuild) : stack_.pop_back();
    isTrying_ = false;
  }
  while (isAlive_ && !stack_.empty()) {
    Frame& frame = stack_.back();
    if (frame.stage == Stage::Enter) return isTrying_ = isPaid(1);
    if (frame.stage == Stage::Link) {
      setDone(frame.original, resultOf(frame.current));
      stack_.pop_back();
      continue;
    }
    if (entersSource()) continue;
    if (!isAlive_ || !isPaid(1 + src(frame.current).size())) return false;
    const uint32_t made = madeAgain(frame.current);
    if (made != frame.current) {
      frame.current = made, frame.stage = Stage::Link;
      enter(made);
    } else if (way_ == Way::Up) {
      return isTrying_ = true;
    } else {
      setDone(frame.original, frame.current);
      stack_.pop_back();
    }
  }
  return false;
}

uint32_t StoryWalk::older() const {
  const uint32_t original = told(stack_.back().original);
  return isMade(original) ? 0 : original;
}

void StoryWalk::rewritten(uint32_t after) {
  isTrying_ = false;
  if (!after) return end();
  Frame& frame = stack_.back();
  frame.current = own(after);
  if (frame.stage == Stage::Enter) return;
  frame.stage = Stage::Link;
  enter(frame.current);
}

void StoryWalk::gather() {
  fresh_.clear(), freshSources_.clear();
  const uint32_t top = stack_.empty() ? resultOf(root_) : stack_.back().current;
  if (isMade(told(top))) {
    ++search_;
    open_.assign(1, {top, 0});
    made(top).search = search_;
  }
  while (!open_.empty()) {
    auto& [node, met] = open_.back();
    const std::span<const uint32_t> sources = src(node);
    if (met == sources.size()) {
      gatherNode(node);
      open_.pop_back();
    } else if (const uint32_t s = own(sources[met++]); isMade(told(s)) && made(s).search != search_) {
      made(s).search = search_;
      open_.emplace_back(s, 0);
    }
  }
  gathered_ = told(top);
}

/// Numbers a node whose sources have numbers. A rule may have made the same node meanwhile.
void StoryWalk::gatherNode(uint32_t node) {
  Fresh f{kindOf(node), node, static_cast<uint32_t>(freshSources_.size()), made(node).srcCount};
  for (uint32_t s : src(node)) freshSources_.push_back(told(own(s)));
  const uint32_t known = std::ranges::all_of(src(f), [&](uint32_t s) { return s <= model_.count(); })
                             ? model_.find(f.kind, src(f))
                             : 0;
  if (known) {
    made(node).number = known;
    set(states_, known, {node, 2 * pass_ + 1});
    freshSources_.resize(f.firstSrc);
    return;
  }
  fresh_.push_back(f);
  made(node).number = model_.count() + static_cast<uint32_t>(fresh_.size());
}

void StoryWalk::tell() {
  for (const Fresh& f : fresh_) set(states_, made(f.made).number, {f.made, 2 * pass_ + 1});
}

void StoryWalk::forget() {
  for (const Fresh& f : fresh_) made(f.made).number = 0;
}

} // namespace uopscope
