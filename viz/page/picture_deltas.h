// Stores the pictures of a pass, each as its difference from the one before.
//
//   PictureDeltas deltas(words);
//   for (int64_t k = 0; k <= steps; ++k) deltas.add(*view.at(k));
//   page["pictures"] = deltas.json();
//
// A box consists of its texts and its place, whichever node is in it, and an edge is its line. A node that is
// rebuilt with the same words thus changes neither.
#pragma once
#include "viz/page/session_data.h"
#include "viz/pictures/picture.h"

#include <unordered_map>

namespace uopscope {

class PictureDeltas {
public:
  explicit PictureDeltas(PageWords& words) : words_(words) {}
  void add(const Picture& picture);
  nlohmann::json json() const;
  /// Approximate size of json().
  size_t bytes() const { return bytes_; }

private:
  uint32_t boxOf(const PictureNode& node);
  uint32_t edgeOf(const Picture& picture, const PictureEdge& edge);

  PageWords& words_;
  std::unordered_map<std::string, uint32_t> boxNumbers_, edgeNumbers_;
  nlohmann::json boxes_ = nlohmann::json::array(), edges_ = nlohmann::json::array(),
                 states_ = nlohmann::json::array();
  std::vector<uint32_t> boxesNow_, edgesNow_; ///< of the last picture, sorted
  float width_ = 0, height_ = 0;
  size_t bytes_ = 0;
};

/// The line of an edge as the data of an SVG path: right angles where the layout gave it bends.
std::string svgPath(const Picture& picture, const PictureEdge& edge);

} // namespace uopscope
