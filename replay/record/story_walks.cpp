// Each table is learned from the stories before, in the packer and in the unpacker alike.
#include "replay/record/story_walks.h"

#include <algorithm>

namespace uopscope {

namespace {
constexpr size_t kMostOpen = 3; ///< passes in passes that are walked, since each keeps a table of all nodes
constexpr int8_t kSure = 2;
/// The stories of samples take one visit of a node or of a source for each byte, and none of them more than 2.4.
constexpr uint64_t kVisitsPerByte = 4, kLeastVisits = 1 << 20, kMostVisits = 1 << 26;
} // namespace

StoryWalks::StoryWalks(const StoryModel& model, uint64_t bytes)
    : model_(model), budget_(std::min(bytes * kVisitsPerByte + kLeastVisits, kMostVisits)), met_(kPairs) {
  open_.reserve(kMostOpen);
}

StoryWalk::Way StoryWalks::wayOf(uint32_t name) const {
  return name < upward_.size() && upward_[name] < 0 ? StoryWalk::Way::Down : StoryWalk::Way::Up;
}

void StoryWalks::beginPass(uint32_t root, uint32_t name) {
  if (++depth_ > kMostOpen) return;
  if (open_.size() < depth_) open_.push_back({StoryWalk(model_), name});
  open_[depth_ - 1].name = name;
  open_[depth_ - 1].walk.begin(root, wayOf(name), budget_);
}

StoryWalk* StoryWalks::current() {
  if (depth_ == 0 || depth_ > kMostOpen) return nullptr;
  StoryWalk& walk = open_[depth_ - 1].walk;
  return walk.isAlive() ? &walk : nullptr;
}

void StoryWalks::worked() {
  const uint32_t name = open_[depth_ - 1].name;
  if (upward_.size() <= name) upward_.resize(size_t{name} + 1);
  int8_t& upward = upward_[name];
  upward = static_cast<int8_t>(upward < 0 ? std::max(upward - 1, -kSure - 1) : std::min(upward + 1, +kSure));
}

void StoryWalks::failed() {
  const uint32_t name = open_[depth_ - 1].name;
  if (upward_.size() <= name) upward_.resize(size_t{name} + 1);
  upward_[name] = static_cast<int8_t>(upward_[name] + (upward_[name] < 0 ? 1 : -1));
  open_[depth_ - 1].walk.end();
}

} // namespace uopscope
