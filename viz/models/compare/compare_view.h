// Shows two graphs as one picture, from any steps, passes, kernels or traces. Nodes with equal sub-graphs are
// the same node. Remaining nodes are paired from the roots down; such a pair is one changed node. The result
// depends only on the two graphs.
//
//   CompareSide a{&left, left.rootAt(0)}, b{&right, right.rootAt(9)};
//   PicturePtr p = compareGraphs(a, b);            // nodes of b; nodes of a alone are Removed
#pragma once
#include "replay/read/cursor.h"
#include "viz/models/work/rich_text.h"
#include "viz/pictures/picture.h"

#include <QString>
#include <QStringList>
#include <atomic>

namespace uopscope {

struct CompareSide {
  Cursor* cursor = nullptr;
  int64_t step = 0;
};
/// A content hash for each node of a graph (sources first), equal across cursors and traces.
std::unordered_map<NodeId, uint64_t> contentsOf(Cursor& cursor, const std::vector<NodeId>& graph);
/// Ids of nodes that only the first side has are above this number.
constexpr int64_t kFirstLeftId = int64_t{1} << 33;
PicturePtr compareGraphs(const CompareSide& before, const CompareSide& after, bool leftToRight = false,
                         const std::atomic<bool>* cancel = nullptr);

/// Two texts side by side, line by line, with the colours of their language and marks on words that differ.
struct TextRow {
  int left = 0, right = 0;     ///< line numbers from 1; 0: no line on that side
  QString leftHtml, rightHtml; ///< rich text
  char mark = ' ';             ///< ' ', '~', '-', '+'
  int width = 0;               ///< characters of the longer side
};
std::vector<TextRow> compareTexts(const QString& before, const QString& after,
                                  Language language = Language::Plain);

} // namespace uopscope
