// Chooses the colour of each node of a picture and explains the colours. Every colour comes with a short text
// on the node, so colour alone never carries information.
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
    uint32_t count = 0; ///< number of nodes
    int colour = 0;     ///< index into Palette::tint; Palette::heat where ordered
  };
  static constexpr uint8_t kNone = 255;
  std::vector<uint8_t> of;
  std::vector<Entry> legend;
  bool ordered = false; ///< the entries go from little to much
};
using TintingPtr = std::shared_ptr<const Tinting>;

/// The criteria for colours: "op", "dtype", "axis", "line", "pass", "cost" (time of the rewrite that made the
/// node), "run" (measured time of its kernels), "times" (executions by its loops), "query" (an answer of
/// SQL).
const QStringList& tintings();
/// Values that a query gave to nodes. `ordered`: they are numbers, coloured from little to much.
struct TintingAnswer {
  std::map<int64_t, QString> text;
  std::map<int64_t, double> number;
  bool ordered = false;
  QString title;
};
/// Null for "op", which the painter knows by itself.
TintingPtr tintBy(const QString& what, const Picture& picture, const FactMap* facts,
                  const TintingAnswer* answer = nullptr);
/// Whether the criterion needs NodeFacts.
bool tintWantsFacts(const QString& what);

} // namespace uopscope
