// Numbers in a page are whole pixels: that takes a tenth of the bytes, with no visible difference.
#include "viz/page/picture_deltas.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace uopscope {

namespace {

int whole(float x) {
  return static_cast<int>(std::lround(x));
}
uint32_t signOf(Mark mark) {
  return static_cast<uint32_t>(mark);
}

} // namespace

std::string svgPath(const Picture& p, const PictureEdge& e) {
  const PictureNode &from = p.nodes[e.from], &to = p.nodes[e.to];
  const float reach = e.ports < 2 ? 0 : std::min(to.width - 20, 26.0f * static_cast<float>(e.ports - 1));
  const float share = e.ports < 2 ? 0 : static_cast<float>(e.port) / static_cast<float>(e.ports - 1) - 0.5f;
  const int x0 = whole(from.x), y0 = whole(from.y + from.height / 2);
  const int x1 = whole(to.x + share * reach), y1 = whole(to.y - to.height / 2);
  std::string out = fmt::format("M{} {}", x0, y0);
  if (e.bends.empty()) {
    const int middle = (y0 + y1) / 2;
    return out + fmt::format("C{} {} {} {} {} {}", x0, middle, x1, middle, x1, y1);
  }
  int x = x0, y = y0;
  auto go = [&](int toX, int toY) {
    if (toX != x) out += fmt::format("h{}", toX - x);
    if (toY != y) out += fmt::format("v{}", toY - y);
    x = toX, y = toY;
  };
  for (size_t i = 0; i < e.bends.size(); ++i) {
    go(x, whole(e.bends[i].y));
    go(i + 1 == e.bends.size() ? x1 : whole(e.bends[i].x), y);
  }
  go(x1, y1);
  return out;
}

uint32_t PictureDeltas::boxOf(const PictureNode& n) {
  std::string folded;
  for (const FoldedSource& f : n.folded)
    folded += fmt::format("{}{} {}", folded.empty() ? "" : "  ", f.ports(), f.text);
  // A type below the operation takes a line of its own.
  const std::string lines = !n.dtypeBelow ? n.detail : n.detail.empty() ? n.dtype : n.dtype + "\n" + n.detail;
  const std::string beside = n.dtypeBelow ? std::string() : n.dtype;
  const std::string key =
      fmt::format("{}|{}|{}|{}|{}\n{}\n{}\n{}\n{}", whole(n.x), whole(n.y), whole(n.width), whole(n.height),
                  static_cast<int>(n.family), n.op, lines, beside, folded);
  const auto [at, isNew] = boxNumbers_.emplace(key, static_cast<uint32_t>(boxes_.size()));
  if (isNew) {
    boxes_.push_back({whole(n.x), whole(n.y), whole(n.width), whole(n.height), static_cast<int>(n.family),
                      words_.of(n.op), words_.of(lines), words_.of(beside), words_.of(folded)});
    bytes_ += 42;
    width_ = std::max(width_, n.x + n.width / 2), height_ = std::max(height_, n.y + n.height / 2);
  }
  return at->second;
}

uint32_t PictureDeltas::edgeOf(const Picture& p, const PictureEdge& e) {
  std::string path = svgPath(p, e);
  const auto [at, isNew] = edgeNumbers_.emplace(path, static_cast<uint32_t>(edges_.size()));
  if (isNew) bytes_ += path.size() + 3, edges_.push_back(std::move(path));
  return at->second;
}

void PictureDeltas::add(const Picture& p) {
  using Json = nlohmann::json;
  std::vector<uint32_t> boxes, edges, numbers;
  Json marks = Json::array(), was = Json::array(), edgeMarks = Json::array();
  for (const PictureNode& n : p.nodes) {
    numbers.push_back(boxOf(n));
    boxes.push_back(numbers.back());
    if (n.mark != Mark::Same) marks.push_back(numbers.back() * 4 + signOf(n.mark));
    if (!n.was.empty()) was.insert(was.end(), {numbers.back(), words_.of(n.was)});
  }
  for (const PictureEdge& e : p.edges) {
    if (e.quiet) continue;
    edges.push_back(edgeOf(p, e));
    if (e.mark != Mark::Same) edgeMarks.push_back(edges.back() * 4 + signOf(e.mark));
  }
  auto settle = [](std::vector<uint32_t>& list) {
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
  };
  settle(boxes), settle(edges);
  auto without = [](const std::vector<uint32_t>& all, const std::vector<uint32_t>& those) {
    std::vector<uint32_t> out;
    std::set_difference(all.begin(), all.end(), those.begin(), those.end(), std::back_inserter(out));
    return out;
  };
  Json state = {without(boxes, boxesNow_),
                without(boxesNow_, boxes),
                without(edges, edgesNow_),
                without(edgesNow_, edges),
                std::move(marks),
                std::move(edgeMarks),
                std::move(was)};
  for (const Json& part : state) bytes_ += 2 + part.size() * 4;
  states_.push_back(std::move(state));
  boxesNow_ = std::move(boxes), edgesNow_ = std::move(edges);
}

nlohmann::json PictureDeltas::json() const {
  return {
      {"w", whole(width_)}, {"h", whole(height_)}, {"boxes", boxes_}, {"edges", edges_}, {"states", states_}};
}

} // namespace uopscope
