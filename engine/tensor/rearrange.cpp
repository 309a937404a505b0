// Axes by name: "b (h w) c -> b h w c" becomes a split, a permutation and a merge.
#include "engine/tensor/tensor.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace uopscope {

namespace {

/// One side of a formula: a group of names per axis. An axis of size one is an empty group. "..." by itself
/// stands for several axes; in brackets it stands for several names in one axis.
using Side = std::vector<std::vector<std::string>>;
constexpr const char* kInBrackets = "(...)";

/// Whether it consists of letters, digits and inner underscores, and starts with a letter. Non-ASCII
/// characters are letters.
bool isAxisName(const std::string& name) {
  auto isLetter = [](char c) {
    return std::isalpha(static_cast<unsigned char>(c)) || static_cast<unsigned char>(c) >= 0x80;
  };
  auto isWord = [&](char c) {
    return isLetter(c) || std::isdigit(static_cast<unsigned char>(c)) || c == '_';
  };
  return name == "1" || name == "..." ||
         (isLetter(name[0]) && name.back() != '_' && std::all_of(name.begin(), name.end(), isWord));
}

/// The formula with "..." in place of the single character for an ellipsis.
std::string plainDots(std::string formula) {
  const std::string one = "\u2026";
  for (size_t at; (at = formula.find(one)) != std::string::npos;) formula.replace(at, one.size(), "...");
  return formula;
}

Side parseSide(const std::string& text, const std::string& formula) {
  Side side;
  bool inside = false;
  for (size_t i = 0; i < text.size();) {
    char c = text[i];
    if (c == ' ') {
      ++i;
    } else if (c == '(') {
      if (inside) fail(ErrorKind::Shape, fmt::format("nested brackets in \"{}\"", formula));
      inside = true;
      side.emplace_back();
      ++i;
    } else if (c == ')') {
      if (!inside) fail(ErrorKind::Shape, fmt::format("unmatched ) in \"{}\"", formula));
      inside = false;
      ++i;
    } else {
      size_t end = text.find_first_of(" ()", i);
      std::string name = text.substr(i, end == std::string::npos ? end : end - i);
      i += name.size();
      if (!isAxisName(name))
        fail(ErrorKind::Shape,
             fmt::format("\"{}\" in \"{}\" is no name of an axis: letters, digits and _ inside, "
                         "a letter first",
                         name, formula));
      if (inside && name == "...") name = kInBrackets;
      if (!inside) side.emplace_back();
      if (name != "1") side.back().push_back(name);
    }
  }
  if (inside) fail(ErrorKind::Shape, fmt::format("unclosed ( in \"{}\"", formula));
  return side;
}

/// Replaces `...` by names for the remaining axes of the tensor.
void spreadEllipsis(Side& side, size_t axes) {
  Side out;
  auto names = [&] {
    std::vector<std::string> all;
    for (size_t k = 0; k < axes; ++k) all.push_back(fmt::format("...{}", k));
    return all;
  }();
  for (auto& group : side) {
    if (group == std::vector<std::string>{"..."}) {
      for (auto& n : names) out.push_back({n});
      continue;
    }
    if (auto at = std::find(group.begin(), group.end(), kInBrackets); at != group.end()) {
      at = group.erase(at);
      group.insert(at, names.begin(), names.end());
    }
    out.push_back(group);
  }
  side = std::move(out);
}

std::vector<std::string> flat(const Side& side) {
  std::vector<std::string> all;
  for (const auto& group : side) all.insert(all.end(), group.begin(), group.end());
  return all;
}

} // namespace

Tensor Tensor::rearrange(const std::string& text,
                         const std::vector<std::pair<std::string, int64_t>>& sizes) const {
  OperationScope op("rearrange");
  const std::string formula = plainDots(text);
  size_t arrow = formula.find("->");
  if (arrow == std::string::npos || formula.find("->", arrow + 2) != std::string::npos)
    fail(ErrorKind::Shape, fmt::format("\"{}\" must have one ->", formula));
  Side from = parseSide(formula.substr(0, arrow), formula),
       to = parseSide(formula.substr(arrow + 2), formula);
  auto dots = flat(from);
  if (std::find(dots.begin(), dots.end(), kInBrackets) != dots.end())
    fail(ErrorKind::Shape, fmt::format("\"{}\" splits an axis into ...: name the parts", formula));
  if (std::count(dots.begin(), dots.end(), "...") > 1)
    fail(ErrorKind::Shape, fmt::format("\"{}\" has ... twice on its left side: one stands for all axes that "
                                       "have no name",
                                       formula));
  if (std::find(dots.begin(), dots.end(), "...") != dots.end()) {
    if (shape().size() + 1 < from.size())
      fail(ErrorKind::Shape, fmt::format("\"{}\" names more axes than {} has", formula, shapeStr(shape())));
    size_t axes = shape().size() + 1 - from.size();
    spreadEllipsis(from, axes);
    spreadEllipsis(to, axes);
  }
  if (from.size() != shape().size())
    fail(from.size() > shape().size() ? ErrorKind::Index : ErrorKind::Shape,
         fmt::format("\"{}\" names {} axes, the tensor {} has {}", formula, from.size(), shapeStr(shape()),
                     shape().size()));
  std::vector<std::string> names = flat(from), wanted = flat(to);
  auto sorted = [](std::vector<std::string> v) {
    std::sort(v.begin(), v.end());
    return v;
  };
  auto known = sorted(names);
  if (std::adjacent_find(known.begin(), known.end()) != known.end() || known != sorted(wanted))
    fail(ErrorKind::Shape, fmt::format("\"{}\" must name each axis once on either side", formula));

  std::vector<Sint> dims;
  for (size_t axis = 0; axis < from.size(); ++axis) {
    Sint rest = shape()[axis];
    size_t open = names.size();
    for (const std::string& name : from[axis]) {
      auto given = std::find_if(sizes.begin(), sizes.end(), [&](const auto& s) { return s.first == name; });
      if (given == sizes.end()) {
        if (open != names.size())
          fail(ErrorKind::Shape,
               fmt::format("\"{}\": give the size of {} or of {}", formula, names[open], name));
        open = dims.size();
        dims.emplace_back(1);
        continue;
      }
      if (given->second <= 0 || (rest.isInt() && rest.i() % given->second))
        fail(ErrorKind::Shape, fmt::format("axis {} of {} does not split by {}={}", axis, shapeStr(shape()),
                                           name, given->second));
      dims.emplace_back(given->second);
      rest = rest / Sint(given->second);
    }
    if (open != names.size())
      dims[open] = rest;
    else if (!graph::isInt(rest, 1))
      fail(ErrorKind::Shape, fmt::format("axis {} of {} is {} times its size in \"{}\"", axis,
                                         shapeStr(shape()), rest.str(), formula));
  }
  for (const auto& [name, size] : sizes)
    if (std::find(names.begin(), names.end(), name) == names.end())
      fail(ErrorKind::Shape,
           fmt::format("{}={} is given, and \"{}\" has no axis of that name", name, size, formula));
  Ints order;
  for (const std::string& name : wanted)
    order.push_back(std::find(names.begin(), names.end(), name) - names.begin());
  Shape merged;
  for (const auto& group : to) {
    Sint size = 1;
    for (const std::string& name : group)
      size = size * dims[static_cast<size_t>(std::find(names.begin(), names.end(), name) - names.begin())];
    merged.push_back(size);
  }
  return reshape(Shape(dims.begin(), dims.end())).permute(order).reshape(merged);
}

} // namespace uopscope
