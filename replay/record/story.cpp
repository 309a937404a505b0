// Packing of stories. Sources are stored as distances to earlier nodes, which are small and
// repeat from kernel to kernel, so a block of stories compresses well.
#include "replay/record/story.h"

#include "engine/base/error.h"

#include <fmt/format.h>

#include <utility>

namespace uopscope {

uint64_t getVarint(std::string_view bytes, size_t& at) {
  uint64_t value = 0;
  for (int shift = 0; shift < 64 && at < bytes.size(); shift += 7) {
    auto byte = static_cast<uint8_t>(bytes[at++]);
    value |= static_cast<uint64_t>(byte & 127) << shift;
    if (byte < 128) return value;
  }
  throw Error(ErrorKind::Value, "a stored compilation ends in the middle of a number: the file is damaged");
}

uint64_t hashText(std::string_view text) {
  uint64_t h = 0xcbf29ce484222325ull;
  for (char c : text) h = (h ^ static_cast<uint8_t>(c)) * 0x100000001b3ull;
  return hashMix(h, text.size());
}

namespace {
std::string kindText(UOp u) {
  return fmt::format("{}\t{}\t{}\t{}", opName(u.op()), u.dtype().name(), u.arg().encode(), u.tag().encode());
}

} // namespace

uint32_t StoryGraph::word(std::string_view text) {
  auto [it, isNew] = words_.try_emplace(std::string(text), static_cast<uint32_t>(wordList_.size()));
  if (isNew) {
    wordList_.emplace_back(text);
    wordHashes_.push_back(hashText(text));
  }
  return it->second;
}

uint32_t StoryGraph::addOne(UOp u) {
  // These fields tell kinds apart within a process; the text is made once per kind.
  Arg arg = u.arg(), tag = u.tag();
  uint64_t fields = hashMix(static_cast<uint64_t>(u.op()), arg.bits());
  fields = hashMix(fields, static_cast<uint64_t>(arg.kind()) << 32 | static_cast<uint64_t>(tag.kind()));
  fields = hashMix(fields, tag.bits());
  fields = hashMix(fields, u.dtype().bits());
  auto [kind, newKind] = kinds_.try_emplace(fields, 0);
  if (newKind) kind->second = word(kindText(u));
  uint64_t h = wordHashes_[kind->second];
  for (UOp s : u.src()) h = hashMix(h, hashes_[known_.at(s.node()) - 1]);
  auto [it, isNew] = byContent_.try_emplace(h, static_cast<uint32_t>(hashes_.size() + 1));
  if (isNew) {
    putVarint(bytes_, kind->second);
    putVarint(bytes_, u.srcCount());
    for (UOp s : u.src()) putVarint(bytes_, it->second - known_.at(s.node()));
    hashes_.push_back(h);
  }
  return it->second;
}

uint32_t StoryGraph::add(UOp root) {
  if (!root) return 0;
  if (auto it = known_.find(root.node()); it != known_.end()) return it->second;
  for (UOp u : root.toposort([&](UOp n) { return !known_.contains(n.node()); })) {
    if (known_.contains(u.node())) continue;
    uint32_t number = addOne(u);
    known_.emplace(u.node(), number);
  }
  return known_.at(root.node());
}

void StoryGraph::forget(const Pool& pool) {
  std::erase_if(known_, [&](const auto& entry) { return entry.first->pool == &pool; });
}

PackedStory StoryGraph::take() {
  PackedStory p{std::exchange(wordList_, {}), std::exchange(bytes_, {}), {}, 0};
  // The tables keep their memory for the next story.
  known_.clear(), byContent_.clear(), kinds_.clear(), words_.clear();
  hashes_.clear(), wordHashes_.clear();
  return p;
}

std::string graphToText(UOp root) {
  std::unordered_map<const Node*, size_t> number;
  std::string out;
  for (UOp u : root.toposort()) {
    size_t self = number.size();
    number.emplace(u.node(), self);
    out += kindText(u);
    for (UOp s : u.src()) out += fmt::format("\t{}", self - number.at(s.node()));
    out += '\n';
  }
  return out;
}

std::string heldLine(std::string_view places) {
  std::string line = "held\t";
  for (char c : places)
    if (c == ',')
      line += '\t';
    else if (c >= '0' && c <= '9')
      line += c;
  return line + '\n';
}

} // namespace uopscope
