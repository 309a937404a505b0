#include "viz/models/tinting.h"

#include <QStringList>
#include <algorithm>
#include <map>

namespace uopscope {
namespace {

constexpr int kColours = 8; // what people can tell apart; further values share the last one

QString costText(int64_t ns) {
  return ns < 0         ? QString()
         : ns < 1000    ? QStringLiteral("under 1 µs")
         : ns < 10'000  ? QStringLiteral("1 to 10 µs")
         : ns < 100'000 ? QStringLiteral("10 to 100 µs")
                        : QStringLiteral("over 100 µs");
}

} // namespace

bool tintWantsFacts(const QString& what) {
  return what != QLatin1String("op") && what != QLatin1String("dtype");
}

TintingPtr tintBy(const QString& what, const Picture& p, const FactMap* facts) {
  if (what == QLatin1String("op")) return nullptr;
  auto out = std::make_shared<Tinting>();
  out->of.assign(p.nodes.size(), Tinting::kNone);
  out->ordered = what == QLatin1String("cost");
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
    } else if (f && what == QLatin1String("cost")) {
      t = costText(f->ns);
    }
    if (!t.isEmpty()) ++counts[t];
  }
  // Most frequent first, so that they get colours of their own; equal counts by name.
  std::vector<std::pair<QString, uint32_t>> order(counts.begin(), counts.end());
  if (out->ordered) {
    static const QStringList steps = {costText(0), costText(5000), costText(50'000), costText(500'000)};
    std::sort(order.begin(), order.end(),
              [](auto& a, auto& b) { return steps.indexOf(a.first) < steps.indexOf(b.first); });
    for (const auto& [t, n] : order) out->legend.push_back({t, n, static_cast<int>(steps.indexOf(t))});
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
