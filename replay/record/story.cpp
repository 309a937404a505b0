// Packing and unpacking of stories. Sources are stored as distances to earlier nodes, which are small and
// repeat from kernel to kernel, so a block of stories compresses well.
#include "replay/record/story.h"

#include "engine/base/error.h"
#include "engine/uop/print.h"

#include <fmt/format.h>

namespace uopscope {

void putVarint(std::string& out, uint64_t value) {
  for (; value >= 128; value >>= 7) out += static_cast<char>(value | 128);
  out += static_cast<char>(value);
}

uint64_t getVarint(std::string_view bytes, size_t& at) {
  uint64_t value = 0;
  for (int shift = 0; shift < 64 && at < bytes.size(); shift += 7) {
    auto byte = static_cast<uint8_t>(bytes[at++]);
    value |= static_cast<uint64_t>(byte & 127) << shift;
    if (byte < 128) return value;
  }
  throw Error(ErrorKind::Value, "a stored compilation ends in the middle of a number: the file is damaged");
}

uint64_t hashMix(uint64_t h, uint64_t value) {
  h = (h ^ value) * 0x9E3779B97F4A7C15ull;
  h ^= h >> 29;
  h *= 0xBF58476D1CE4E5B9ull;
  return h ^ h >> 32;
}

uint64_t hashText(std::string_view text) {
  uint64_t h = 0xcbf29ce484222325ull;
  for (char c : text) h = (h ^ static_cast<uint8_t>(c)) * 0x100000001b3ull;
  return hashMix(h, text.size());
}

namespace {
[[noreturn]] void damaged(const char* what) {
  throw Error(ErrorKind::Value, fmt::format("a stored compilation has {}: the file is damaged", what));
}

std::string kindText(UOp u) {
  return fmt::format("{}\t{}\t{}\t{}", opName(u.op()), u.dtype().name(), u.arg().encode(), u.tag().encode());
}

/// One node from its kind. Throws Error(Value).
UOp makeNode(std::string_view kind, std::span<const UOp> src) {
  std::string_view part[4];
  size_t from = 0;
  for (int i = 0; i < 4; ++i) {
    size_t to = i < 3 ? kind.find('\t', from) : kind.size();
    if (to == std::string_view::npos) damaged("a node with too few fields");
    part[i] = kind.substr(from, to - from);
    from = to + 1;
  }
  auto op = opFromName(part[0]);
  if (!op) throw Error(ErrorKind::Value, fmt::format("this build has no operation {}", part[0]));
  auto dtype = dtypes::parse(part[1]);
  if (!dtype) throw Error(ErrorKind::Value, fmt::format("this build has no data type {}", part[1]));
  return UOp::make(*op, *dtype, src, Arg::decode(part[2]), Arg::decode(part[3]));
}
} // namespace

// --- collecting ---

uint32_t StoryGraph::word(std::string_view text) {
  auto [it, isNew] = words_.try_emplace(std::string(text), static_cast<uint32_t>(wordList_.size()));
  if (isNew) wordList_.emplace_back(text);
  return it->second;
}

uint32_t StoryGraph::addOne(UOp u) {
  // What tells kinds apart within a process; the text is made once per kind.
  Arg arg = u.arg(), tag = u.tag();
  uint64_t fields = hashMix(static_cast<uint64_t>(u.op()), arg.bits());
  fields = hashMix(fields, static_cast<uint64_t>(arg.kind()) << 32 | static_cast<uint64_t>(tag.kind()));
  fields = hashMix(fields, tag.bits());
  fields = hashMix(fields, hashText(u.dtype().name()));
  auto [kind, newKind] = kinds_.try_emplace(fields, 0);
  if (newKind) kind->second = word(kindText(u));
  uint64_t h = hashText(wordList_[kind->second]);
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
  PackedStory p{std::move(wordList_), std::move(bytes_), {}, 0};
  *this = StoryGraph();
  return p;
}

// --- reading ---

Story::Story(PackedStory packed) : packed_(std::move(packed)) {
  std::vector<uint64_t> wordHash;
  for (const std::string& w : packed_.words) wordHash.push_back(hashText(w));
  for (size_t at = 0; at < packed_.nodes.size();) {
    uint64_t kind = getVarint(packed_.nodes, at), count = getVarint(packed_.nodes, at),
             self = kindOf_.size() + 1;
    if (kind >= packed_.words.size()) damaged("a word that is not in its list");
    kindOf_.push_back(static_cast<uint32_t>(kind));
    srcStart_.push_back(static_cast<uint32_t>(srcs_.size()));
    uint64_t h = wordHash[kind];
    for (uint64_t i = 0; i < count; ++i) {
      uint64_t back = getVarint(packed_.nodes, at);
      if (back == 0 || back >= self) damaged("a node before its sources");
      srcs_.push_back(static_cast<uint32_t>(self - back));
      h = hashMix(h, hashes_[self - back - 1]);
    }
    hashes_.push_back(h);
  }
  srcStart_.push_back(static_cast<uint32_t>(srcs_.size()));
  auto node = [&](uint64_t n) {
    if (n > kindOf_.size()) damaged("a node that is not in its list");
    return static_cast<uint32_t>(n);
  };
  node(packed_.root);
  for (size_t at = 0; at < packed_.events.size();) {
    uint64_t head = getVarint(packed_.events, at), first = getVarint(packed_.events, at);
    StoryEvent e{static_cast<StoryEvent::Kind>(head & 3), static_cast<uint32_t>(head >> 2), 0, 0};
    if (e.kind != StoryEvent::PassEnd && e.word >= packed_.words.size())
      damaged("a word that is not in its list");
    (e.kind == StoryEvent::PassEnd ? e.after : e.before) = node(first);
    if (e.kind == StoryEvent::Step) e.after = node(getVarint(packed_.events, at));
    events_.push_back(e);
  }
  packed_.nodes.clear();
  packed_.events.clear();
}

std::string_view Story::op(uint32_t node) const {
  std::string_view k = kind(node);
  return k.substr(0, k.find('\t'));
}

std::span<const uint32_t> Story::src(uint32_t node) const {
  return std::span(srcs_).subspan(srcStart_.at(node - 1), srcStart_.at(node) - srcStart_[node - 1]);
}

UOp Story::build(uint32_t root) const {
  std::vector<bool> wanted(root + 1);
  wanted[root] = true;
  for (uint32_t n = root; n > 0; --n)
    if (wanted[n])
      for (uint32_t s : src(n)) wanted[s] = true;
  std::vector<UOp> made(root + 1), sources;
  for (uint32_t n = 1; n <= root; ++n) {
    if (!wanted[n]) continue;
    sources.clear();
    for (uint32_t s : src(n)) sources.push_back(made[s]);
    made[n] = makeNode(kind(n), sources);
  }
  return made[root];
}

std::string Story::expression(uint32_t node, int maxDepth) const {
  if (!node) return "nothing";
  try {
    Pool pool;
    PoolScope scope(pool);
    return uopscope::expression(build(node), maxDepth, 400);
  } catch (const Error&) {
    std::string text(op(node));
    if (src(node).empty() || maxDepth <= 0) return text;
    text += '(';
    for (uint32_t s : src(node)) text += (text.back() == '(' ? "" : ", ") + expression(s, maxDepth - 1);
    return text + ')';
  }
}

// --- a graph alone ---

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

UOp graphFromText(std::string_view text) {
  std::vector<UOp> made, sources;
  size_t line = 0;
  while (!text.empty()) {
    ++line;
    std::string_view row = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), row.size() + 1));
    try {
      size_t end = 0; // of the kind: four fields, then distances of the sources
      for (int field = 0; field < 4; ++field) {
        end = row.find('\t', end + (field ? 1 : 0));
        if (end == std::string_view::npos && field < 3) damaged("a node with too few fields");
      }
      sources.clear();
      for (size_t at = end; at < row.size();) {
        size_t stop = std::min(row.find('\t', at + 1), row.size());
        uint64_t back = 0;
        for (char c : row.substr(at + 1, stop - at - 1)) {
          if (c < '0' || c > '9' || back > made.size()) damaged("a source that is no number");
          back = back * 10 + static_cast<uint64_t>(c - '0');
        }
        if (back == 0 || back > made.size()) damaged("a node before its sources");
        sources.push_back(made[made.size() - back]);
        at = stop;
      }
      made.push_back(makeNode(row.substr(0, end), sources));
    } catch (const Error& e) {
      throw Error(e.kind(), fmt::format("line {} of a stored graph: {}", line, e.what()));
    }
  }
  if (made.empty()) damaged("an empty graph");
  return made.back();
}

} // namespace uopscope
