// Finds equal parts from the outside in. Where one whole is a part of the other, that part is kept. Otherwise
// the parts of both wholes are aligned (alignItems). Signs and brackets are kept together with an aligned
// part but are never a reason to align. Parts left over between the same neighbours are compared with each
// other.
#include "replay/read/expression_diff.h"

#include <algorithm>
#include <cctype>

namespace uopscope {
namespace {

/// A word, or a bracketed list of parts. The brackets are the first and the last part of the list.
struct Part {
  std::string_view text;
  std::vector<Part> parts;
  uint64_t hash = 0;
  bool leftOut = false; ///< contains "..."
  bool tells = false;   ///< one of its parts is, or contains, a word: it is worth finding again
  bool kept = false;
};

constexpr size_t kDeepestExpression = 200;

bool wordly(char c) {
  // Bytes of a letter outside ASCII stay together.
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' ||
         static_cast<unsigned char>(c) > 127;
}
bool isWord(const Part& p) {
  return p.parts.empty() && !p.text.empty() && wordly(p.text.front());
}
char closing(char open) {
  return open == '(' ? ')' : open == '[' ? ']' : open == '{' ? '}' : '\0';
}

// The printer replaces deep parts of an expression by "...". A wrapped expression lies deeper, so it is cut
// at other places than before. "..." stands for the parts of one operand.
constexpr std::string_view kLeftOut = "...";
bool isLeftOut(const Part& p) {
  return p.text == kLeftOut;
}

Part leaf(std::string_view text) {
  return {text, {}, std::hash<std::string_view>{}(text), text == kLeftOut, false, false};
}

Part parse(std::string_view text, size_t& at, char until, size_t depth) {
  const size_t begin = at;
  Part out;
  if (until) out.parts.push_back(leaf(text.substr(at++, 1)));
  while (at < text.size()) {
    const char c = text[at];
    if (until && c == until) {
      out.parts.push_back(leaf(text.substr(at++, 1)));
      break;
    }
    if (closing(c) && depth < kDeepestExpression) {
      out.parts.push_back(parse(text, at, closing(c), depth + 1));
      continue;
    }
    const size_t from = at++;
    if (wordly(c))
      while (at < text.size() && wordly(text[at])) ++at;
    out.parts.push_back(leaf(text.substr(from, at - from)));
  }
  out.text = text.substr(begin, at - begin);
  out.hash = 1;
  for (const Part& p : out.parts) {
    out.hash = out.hash * 0x9e3779b97f4a7c15ull + p.hash;
    out.leftOut |= p.leftOut;
    out.tells |= p.tells || (isWord(p) && !isLeftOut(p));
  }
  return out;
}

void keep(Part& p) {
  p.kept = true;
  for (Part& part : p.parts) keep(part);
}

bool endsOperand(const Part& p) {
  return p.parts.empty() && !isWord(p) && p.text != "<" && p.text != ">";
}
bool same(const Part& a, const Part& b);
bool sameFrom(const std::vector<Part>& a, size_t i, const std::vector<Part>& b, size_t j) {
  if (i == a.size() || j == b.size()) return i == a.size() && j == b.size();
  if (isLeftOut(a[i]) || isLeftOut(b[j])) {
    auto end = [](const std::vector<Part>& list, size_t at) {
      do ++at;
      while (at < list.size() && !endsOperand(list[at]));
      return at;
    };
    return sameFrom(a, end(a, i), b, end(b, j));
  }
  return same(a[i], b[j]) && sameFrom(a, i + 1, b, j + 1);
}
bool same(const Part& a, const Part& b) {
  if (a.hash == b.hash && a.text == b.text) return true;
  if (a.parts.empty() || b.parts.empty()) return false;
  return (a.leftOut || b.leftOut) && sameFrom(a.parts, 0, b.parts, 0);
}

// Equal texts are equally long, so only few parts of a long text have to be looked into.
Part* find(Part& within, const Part& what) {
  if (same(within, what)) return &within;
  if (within.text.size() <= what.text.size() && !within.leftOut && !what.leftOut) return nullptr;
  for (Part& p : within.parts)
    if (Part* found = find(p, what)) return found;
  return nullptr;
}

// A list with a single part is equivalent to that part.
Part& core(Part& p) {
  return p.parts.size() == 1 ? core(p.parts.front()) : p;
}

/// Aligning takes time that grows with the square of what differs. Longer lists are cut at their equal ends, and the
/// rest is compared part by part.
constexpr size_t kMostAligned = 512;

std::vector<std::pair<int, int>> aligned(const std::vector<Part>& a, const std::vector<Part>& b) {
  size_t begin = 0, end = 0;
  const size_t least = std::min(a.size(), b.size());
  while (begin < least && a[begin].hash == b[begin].hash) ++begin;
  while (end < least - begin && a[a.size() - 1 - end].hash == b[b.size() - 1 - end].hash) ++end;
  std::vector<std::pair<int, int>> out;
  auto add = [&](int i, int j) { out.emplace_back(i, j); };
  for (size_t i = 0; i < begin; ++i) add(static_cast<int>(i), static_cast<int>(i));
  const size_t restA = a.size() - begin - end, restB = b.size() - begin - end;
  const int from = static_cast<int>(begin);
  if (restA <= kMostAligned && restB <= kMostAligned) {
    std::vector<uint64_t> first, second;
    for (size_t i = begin; i < begin + restA; ++i) first.push_back(a[i].hash);
    for (size_t j = begin; j < begin + restB; ++j) second.push_back(b[j].hash);
    for (const auto& [i, j] : alignItems(first, second)) add(i < 0 ? -1 : from + i, j < 0 ? -1 : from + j);
  } else {
    const int both = static_cast<int>(std::min(restA, restB));
    for (int k = 0; k < both; ++k)
      if (a[begin + static_cast<size_t>(k)].hash == b[begin + static_cast<size_t>(k)].hash)
        add(from + k, from + k);
      else
        add(from + k, -1), add(-1, from + k);
    for (int k = both; k < static_cast<int>(restA); ++k) add(from + k, -1);
    for (int k = both; k < static_cast<int>(restB); ++k) add(-1, from + k);
  }
  for (size_t k = end; k > 0; --k) add(static_cast<int>(a.size() - k), static_cast<int>(b.size() - k));
  return out;
}

void compare(Part& wholeA, Part& wholeB) {
  Part &a = core(wholeA), &b = core(wholeB);
  if (same(a, b)) return keep(a), keep(b);
  const bool inB = a.text.size() < b.text.size();
  Part &small = inB ? a : b, &large = inB ? b : a;
  if (small.tells || (isWord(small) && !isLeftOut(small)))
    if (Part* part = find(large, small)) return keep(small), keep(*part);
  if (large.tells)
    if (Part* part = find(small, large)) return keep(large), keep(*part); // `small` has more parts left out
  if (a.parts.empty() || b.parts.empty()) return;
  const auto pairs = aligned(a.parts, b.parts);
  std::vector<Part*> onlyA, onlyB;
  auto settle = [&] {
    for (size_t i = 0; i < std::min(onlyA.size(), onlyB.size()); ++i) compare(*onlyA[i], *onlyB[i]);
    onlyA.clear(), onlyB.clear();
  };
  std::vector<std::pair<Part*, Part*>> signs;
  bool company = false;
  for (const auto& [i, j] : pairs) {
    Part* left = i < 0 ? nullptr : &a.parts[static_cast<size_t>(i)];
    Part* right = j < 0 ? nullptr : &b.parts[static_cast<size_t>(j)];
    if (left && right) {
      settle();
      if (left->parts.empty() && !isWord(*left))
        signs.emplace_back(left, right);
      else
        company = true, keep(*left), keep(*right);
      continue;
    }
    if (left && (!left->parts.empty() || isWord(*left))) onlyA.push_back(left);
    if (right && (!right->parts.empty() || isWord(*right))) onlyB.push_back(right);
  }
  settle();
  auto holds = [](const Part& whole, const auto& self) -> bool {
    return std::ranges::any_of(whole.parts, [&](const Part& p) { return p.kept || self(p, self); });
  };
  if (company || holds(a, holds))
    for (const auto& [left, right] : signs) left->kept = right->kept = true;
}

void spell(const Part& p, std::vector<DiffWord>& out) {
  if (!p.parts.empty()) {
    for (const Part& part : p.parts) spell(part, out);
    return;
  }
  if (p.text.empty()) return;
  if (!out.empty() && out.back().changed == !p.kept)
    out.back().text = {out.back().text.data(), out.back().text.size() + p.text.size()};
  else
    out.push_back({p.text, !p.kept});
}

} // namespace

DiffWords expressionDiff(std::string_view before, std::string_view after) {
  size_t at = 0;
  Part a = parse(before, at, '\0', 0);
  at = 0;
  Part b = parse(after, at, '\0', 0);
  compare(a, b);
  DiffWords out;
  spell(a, out.before);
  spell(b, out.after);
  return out;
}

} // namespace uopscope
