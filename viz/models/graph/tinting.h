// Which colour each node of a picture has, and what the colours mean. Every colour comes with a short text
// that is written on the node, so nothing is told by colour alone.
//
//   auto t = tintBy("dtype", picture, facts);      // t->of[i]: entry of t->legend, by index of the node
#pragma once
#include "viz/models/graph/node_facts.h"
#include "viz/pictures/picture.h"

#include <QString>
#include <QStringList>
#include <map>
#include <memory>
#include <vector>

namespace uopscope {

struct Tinting {
  struct Entry {
    QString text;       ///< "float"
    uint32_t count = 0; ///< nodes
    int colour = 0;     ///< of Palette::tint, or of Palette::heat where ordered
  };
  static constexpr uint8_t kNone = 255;
  std::vector<uint8_t> of;
  std::vector<Entry> legend;
  bool ordered = false; ///< from little to much
};
using TintingPtr = std::shared_ptr<const Tinting>;

/// What nodes can be coloured by: "op", "dtype", "axis", "line", "pass", "cost" (of the rewrite that made
/// it), "run" (measured time of its kernels), "times" (how often its loops reach it), "query" (an answer of
/// SQL).
const QStringList& tintings();
/// Values that a query gave to nodes. `ordered`: they are numbers, told from little to much.
struct TintingAnswer {
  std::map<int64_t, QString> text;
  std::map<int64_t, double> number;
  bool ordered = false;
  QString title;
};
/// Null for "op", which the painter knows by itself.
TintingPtr tintBy(const QString& what, const Picture& picture, const FactMap* facts,
                  const TintingAnswer* answer = nullptr);
/// Whether it takes NodeFacts.
bool tintWantsFacts(const QString& what);

} // namespace uopscope
