// Unpacks stories and stored graphs.
#include "replay/compare/story_view.h"

#include "engine/base/error.h"
#include "replay/read/materialize.h"
#include "replay/read/readable.h"

#include <fmt/format.h>

#include <algorithm>

namespace uopscope {

namespace {
[[noreturn]] void damaged(const char* what) {
  throw Error(ErrorKind::Value, fmt::format("a stored compilation has {}: the file is damaged", what));
}

/// Makes one node from its kind. Throws Error(Value).
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
  NodeFields fields;
  fields.op = *op, fields.dtype = *dtype, fields.arg = Arg::decode(part[2]);
  std::vector<uint32_t> sources(src.size());
  fields.src = sources;
  if (std::string wrong = malformed(fields); !wrong.empty())
    throw Error(ErrorKind::Value, fmt::format("{}: no valid node", wrong));
  const Arg tag = Arg::decode(part[3]);
  // A file may give a number that the type does not have, or of another kind; constants are what constant() makes.
  if (*op == Op::CONST && src.empty() && !tag && !dtype->isPtr() && fields.arg.isNumber())
    return UOp::constant(*dtype, fields.arg.constant());
  return UOp::make(*op, *dtype, src, fields.arg, tag);
}
} // namespace

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

std::vector<UOp> Story::buildAll() const {
  std::vector<UOp> made(kindOf_.size() + 1), sources;
  for (uint32_t n = 1; n < made.size(); ++n) {
    sources.clear();
    for (uint32_t s : src(n)) sources.push_back(made[s]);
    made[n] = makeNode(kind(n), sources);
  }
  return made;
}

std::string Story::expression(uint32_t node, int maxDepth) const {
  if (!node) return "nothing";
  try {
    Pool pool;
    PoolScope scope(pool);
    return readableExpression(build(node), maxDepth, 400);
  } catch (const Error&) {
    std::string text(op(node));
    if (src(node).empty() || maxDepth <= 0) return text;
    text += '(';
    for (uint32_t s : src(node)) text += (text.back() == '(' ? "" : ", ") + expression(s, maxDepth - 1);
    return text + ')';
  }
}

namespace {
/// The number at `at` in a row of fields, which is moved behind its tab.
uint64_t numberOf(std::string_view row, size_t& at, uint64_t most, const char* what) {
  const size_t stop = std::min(row.find('\t', at), row.size());
  uint64_t number = 0;
  for (char c : row.substr(at, stop - at)) {
    if (c < '0' || c > '9' || number > most) damaged(what);
    number = number * 10 + static_cast<uint64_t>(c - '0');
  }
  at = stop + 1;
  return number;
}

UOp nodeFromText(std::string_view row, std::span<const UOp> made) {
  size_t end = 0; // end of the kind: four fields; distances of the sources follow
  for (int field = 0; field < 4; ++field) {
    end = row.find('\t', end + (field ? 1 : 0));
    if (end == std::string_view::npos && field < 3) damaged("a node with too few fields");
  }
  std::vector<UOp> sources;
  for (size_t at = end == std::string_view::npos ? row.size() : end + 1; at < row.size();) {
    const uint64_t back = numberOf(row, at, made.size(), "a source that is no number");
    if (back == 0 || back > made.size()) damaged("a node before its sources");
    sources.push_back(made[made.size() - back]);
  }
  return makeNode(row.substr(0, end), sources);
}
} // namespace

UOp graphFromText(std::string_view text, std::vector<UOp>* held) {
  constexpr std::string_view kHeld = "held\t";
  std::vector<UOp> made;
  size_t line = 0;
  while (!text.empty()) {
    ++line;
    std::string_view row = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), row.size() + 1));
    try {
      if (!row.starts_with(kHeld)) {
        made.push_back(nodeFromText(row, made));
        continue;
      }
      for (size_t at = kHeld.size(); at < row.size();) {
        const uint64_t place = numberOf(row, at, made.size(), "a held node that is no number");
        if (place >= made.size()) damaged("a held node that is not there");
        if (held) held->push_back(made[place]);
      }
    } catch (const Error& e) {
      throw Error(e.kind(), fmt::format("line {} of a stored graph: {}", line, e.what()));
    }
  }
  if (made.empty()) damaged("an empty graph");
  return made.back();
}

} // namespace uopscope
