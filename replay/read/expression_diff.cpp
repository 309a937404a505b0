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
  bool kept = false;
};

constexpr size_t kDeepest = 200;

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

Part leaf(std::string_view text) {
  return {text, {}, std::hash<std::string_view>{}(text), false};
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
    if (closing(c) && depth < kDeepest) {
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
  for (const Part& p : out.parts) out.hash = out.hash * 0x9e3779b97f4a7c15ull + p.hash;
  return out;
}

void keep(Part& p) {
  p.kept = true;
  for (Part& part : p.parts) keep(part);
}

// The printer replaces deep parts of an expression by "...". A wrapped expression lies deeper, so it is cut
// at other places than before. "..." stands for the parts of one operand.
bool isLeftOut(const Part& p) {
  return p.text == "...";
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
  const bool leftOut = a.text.find("...") != a.text.npos || b.text.find("...") != b.text.npos;
  return leftOut && sameFrom(a.parts, 0, b.parts, 0);
}

/// Whether a part contains a word, so that it is worth finding again.
bool tells(const Part& p) {
  return std::ranges::any_of(p.parts, [](const Part& q) { return (isWord(q) && !isLeftOut(q)) || tells(q); });
}

Part* find(Part& within, const Part& what) {
  if (same(within, what)) return &within;
  for (Part& p : within.parts)
    if (Part* found = find(p, what)) return found;
  return nullptr;
}

// A list with a single part is equivalent to that part.
Part& core(Part& p) {
  return p.parts.size() == 1 ? core(p.parts.front()) : p;
}

void compare(Part& wholeA, Part& wholeB) {
  Part &a = core(wholeA), &b = core(wholeB);
  if (same(a, b)) return keep(a), keep(b);
  const bool inB = a.text.size() < b.text.size();
  Part &small = inB ? a : b, &large = inB ? b : a;
  if (tells(small) || (isWord(small) && !isLeftOut(small)))
    if (Part* part = find(large, small)) return keep(small), keep(*part);
  if (tells(large))
    if (Part* part = find(small, large)) return keep(large), keep(*part); // `small` has more parts left out
  if (a.parts.empty() || b.parts.empty()) return;
  std::vector<uint64_t> first, second;
  for (const Part& p : a.parts) first.push_back(p.hash);
  for (const Part& p : b.parts) second.push_back(p.hash);
  const auto pairs = alignItems(first, second);
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
