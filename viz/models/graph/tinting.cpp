// Gives each node a text for the criterion, counts the texts, and assigns colours to them in order of
// frequency.
#include "viz/models/graph/tinting.h"

#include <QObject>
#include <algorithm>
#include <array>

namespace uopscope {
namespace {

constexpr int kColours = 8; // people can tell this many apart; further values share the last colour

// Four steps from little to much: people can tell that many colours of a scale apart.
struct Scale {
  std::array<int64_t, 3> edges;
  std::array<const char*, 4> names;
  int step(int64_t value) const {
    return value < edges[0] ? 0 : value < edges[1] ? 1 : value < edges[2] ? 2 : 3;
  }
};
constexpr Scale kCost{{1000, 10'000, 100'000},
                      {QT_TR_NOOP("under 1 µs"), QT_TR_NOOP("1 to 10 µs"), QT_TR_NOOP("10 to 100 µs"),
                       QT_TR_NOOP("over 100 µs")}};
constexpr Scale kRun{{10'000, 100'000, 1'000'000},
                     {QT_TR_NOOP("under 10 µs"), QT_TR_NOOP("10 to 100 µs"), QT_TR_NOOP("100 µs to 1 ms"),
                      QT_TR_NOOP("over 1 ms")}};
constexpr Scale kTimes{{2, 1000, 1'000'000},
                       {QT_TR_NOOP("once"), QT_TR_NOOP("up to 1,000 times"), QT_TR_NOOP("up to 1 M times"),
                        QT_TR_NOOP("over 1 M times")}};

struct Quantity {
  const Scale* scale = nullptr;
  int64_t value = -1;
};
Quantity measured(const QString& what, const NodeFact* f) {
  if (what == QLatin1String("cost")) return {&kCost, f ? f->ns : -1};
  if (what == QLatin1String("run")) return {&kRun, f ? f->runNs : -1};
  if (what == QLatin1String("times")) return {&kTimes, f ? f->times : -1};
  return {};
}

// Numbers of a query have no fixed scale, so each step gets a quarter of the nodes.
std::map<int64_t, int> quarters(const TintingAnswer& answer, std::array<QString, 4>& names) {
  std::vector<double> values;
  for (const auto& [id, v] : answer.number) values.push_back(v);
  std::sort(values.begin(), values.end());
  std::map<int64_t, int> out;
  std::array<double, 4> low{}, high{};
  std::array<bool, 4> seen{};
  for (const auto& [id, v] : answer.number) {
    const auto below =
        static_cast<size_t>(std::lower_bound(values.begin(), values.end(), v) - values.begin());
    const size_t q = std::min<size_t>(3, below * 4 / values.size());
    out[id] = static_cast<int>(q);
    low[q] = seen[q] ? std::min(low[q], v) : v;
    high[q] = seen[q] ? std::max(high[q], v) : v;
    seen[q] = true;
  }
  for (size_t q = 0; q < 4; ++q)
    names[q] = low[q] == high[q] ? QString::number(low[q], 'g', 6)
                                 : QObject::tr("%1 to %2").arg(low[q], 0, 'g', 6).arg(high[q], 0, 'g', 6);
  return out;
}

} // namespace

const QStringList& tintings() {
  static const QStringList all = {"op", "dtype", "axis", "line", "pass", "cost", "run", "times", "query"};
  return all;
}

bool tintWantsFacts(const QString& what) {
  return what != QLatin1String("op") && what != QLatin1String("dtype") && what != QLatin1String("query");
}

TintingPtr tintBy(const QString& what, const Picture& p, const FactMap* facts, const TintingAnswer* answer) {
  if (what == QLatin1String("op")) return nullptr;
  auto out = std::make_shared<Tinting>();
  out->of.assign(p.nodes.size(), Tinting::kNone);
  const bool asked = what == QLatin1String("query");
  const Scale* scale = measured(what, nullptr).scale;
  std::array<QString, 4> names;
  std::map<int64_t, int> quarter;
  if (scale)
    for (size_t k = 0; k < 4; ++k) names[k] = QObject::tr(scale->names[k]);
  if (asked && answer && answer->ordered) quarter = quarters(*answer, names);
  out->ordered = scale || !quarter.empty();
  std::vector<QString> texts(p.nodes.size());
  std::map<QString, uint32_t> counts;
  for (size_t i = 0; i < p.nodes.size(); ++i) {
    const PictureNode& n = p.nodes[i];
    const auto it = facts ? facts->find(n.id) : FactMap::const_iterator();
    const NodeFact* f = facts && it != facts->end() ? &it->second : nullptr;
    QString& t = texts[i];
    if (what == QLatin1String("dtype")) {
      t = QString::fromStdString(n.dtype);
      t = t.left(t.indexOf(QLatin1Char('.')) < 0 ? t.size() : t.indexOf(QLatin1Char('.')));
    } else if (f && what == QLatin1String("axis")) {
      t = QString::fromStdString(f->axis);
    } else if (f && what == QLatin1String("line")) {
      t = f->line > 0 ? QStringLiteral("line %1").arg(f->line, 3) : QString();
    } else if (f && what == QLatin1String("pass")) {
      t = f->pass.empty() ? QStringLiteral("(at first)") : QString::fromStdString(f->pass);
    } else if (const Quantity m = measured(what, f); m.value >= 0) {
      t = names[static_cast<size_t>(m.scale->step(m.value))];
    } else if (const auto q = quarter.find(n.id); q != quarter.end()) {
      t = names[static_cast<size_t>(q->second)];
    } else if (asked && answer && answer->text.contains(n.id)) {
      t = answer->text.at(n.id);
    }
    if (!t.isEmpty()) ++counts[t];
  }
  // Most frequent values first, so that they get colours of their own; equal counts in order of names.
  std::vector<std::pair<QString, uint32_t>> order(counts.begin(), counts.end());
  if (out->ordered) {
    const auto step = [&](const QString& t) {
      return static_cast<int>(std::find(names.begin(), names.end(), t) - names.begin());
    };
    std::ranges::sort(order, std::less(), [&](const auto& entry) { return step(entry.first); });
    for (const auto& [t, n] : order) out->legend.push_back({t, n, step(t)});
  } else {
    std::stable_sort(order.begin(), order.end(), [](auto& a, auto& b) { return a.second > b.second; });
    for (const auto& [t, n] : order)
      out->legend.push_back(
          {t.simplified(), n, std::min<int>(static_cast<int>(out->legend.size()), kColours - 1)});
  }
  std::map<QString, uint8_t> index;
  for (size_t i = 0; i < order.size() && i < Tinting::kNone; ++i)
    index[order[i].first] = static_cast<uint8_t>(i);
  for (size_t i = 0; i < texts.size(); ++i)
    if (const auto it = index.find(texts[i]); it != index.end()) out->of[i] = it->second;
  return out;
}

} // namespace uopscope
