// Scores every entry against the query and keeps the best ones in order.
#include "viz/models/session/palette_model.h"

#include <algorithm>

namespace uopscope {
namespace {

constexpr size_t kMostShown = 80;

} // namespace

int fuzzyScore(const QString& wanted, const QString& text, QList<int>* at) {
  int score = 0, last = -2;
  qsizetype from = 0;
  for (const QChar c : wanted) {
    if (c.isSpace()) continue;
    const qsizetype found = text.indexOf(c, from, Qt::CaseInsensitive);
    if (found < 0) return -1;
    // Adjacent letters and beginnings of words count more.
    if (found == last + 1) score += 8;
    if (found == 0 || !text[found - 1].isLetterOrNumber()) score += 10;
    score -= static_cast<int>(std::min<qsizetype>(found - from, 6));
    if (at) at->append(static_cast<int>(found));
    last = static_cast<int>(found);
    from = found + 1;
  }
  return std::max(0, score + 100 - static_cast<int>(text.size()) / 4);
}

void PaletteModel::setEntries(std::vector<Entry> entries) {
  entries_ = std::move(entries);
  setQuery(query_);
}

void PaletteModel::setQuery(const QString& query) {
  beginResetModel();
  query_ = query;
  shown_.clear();
  if (query.startsWith(QLatin1Char('/'))) { // the searcher answers it through setFound()
    endResetModel();
    Q_EMIT changed();
    return;
  }
  const bool commands = query.startsWith(QLatin1Char('>'));
  const QString wanted = (commands ? query.mid(1) : query).trimmed();
  bool number = false;
  const qlonglong n = wanted.mid(1).toLongLong(&number);
  if (number && wanted.startsWith(QLatin1Char('#')))
    shown_.push_back({{QStringLiteral("node"), tr("Node %1").arg(n), tr("select it in the graph"),
                       QStringLiteral("node=%1").arg(n)},
                      1000,
                      {}});
  if (number && wanted.startsWith(QLatin1Char(':')))
    shown_.push_back(
        {{QStringLiteral("step"), tr("Step %1").arg(n), tr("of this pass"), QStringLiteral("step=%1").arg(n)},
         1000,
         {}});
  for (const Entry& e : entries_) {
    if ((e.kind == QLatin1String("command")) != commands && !(wanted.size() > 1 && !commands)) continue;
    Shown s{e, 0, {}};
    s.score = wanted.isEmpty() ? 1 : fuzzyScore(wanted, e.text, &s.at);
    if (s.score < 0) continue;
    if (!commands && e.kind == QLatin1String("command")) s.score -= 20; // places come before commands
    shown_.push_back(std::move(s));
  }
  std::stable_sort(shown_.begin(), shown_.end(),
                   [](const Shown& a, const Shown& b) { return a.score > b.score; });
  if (const size_t all = shown_.size(); all > kMostShown) {
    shown_.resize(kMostShown);
    shown_.push_back(
        {{QStringLiteral("more"), tr("%1 more: more letters find fewer").arg(all - kMostShown), {}, {}},
         0,
         {}});
  }
  endResetModel();
  Q_EMIT changed();
}

void PaletteModel::setFound(const QString& query, std::vector<Entry> found) {
  if (query != query_) return;
  beginResetModel();
  shown_.clear();
  for (Entry& e : found) shown_.push_back({std::move(e), 0, {}});
  endResetModel();
}

QVariantMap PaletteModel::entry(int row) const {
  if (row < 0 || row >= count()) return {};
  const Entry& e = shown_[static_cast<size_t>(row)].entry;
  return {{"kind", e.kind}, {"text", e.text}, {"detail", e.detail}, {"target", e.target}};
}

int PaletteModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : count();
}

QVariant PaletteModel::data(const QModelIndex& index, int role) const {
  if (!checkIndex(index, CheckIndexOption::IndexIsValid)) return {};
  const Shown& s = shown_[static_cast<size_t>(index.row())];
  switch (role) {
  case Qt::DisplayRole:
  case TextRole: return s.entry.text;
  case KindRole: return s.entry.kind;
  case DetailRole: return s.entry.detail;
  case TargetRole: return s.entry.target;
  case HtmlRole: {
    QString html;
    for (int i = 0; i < s.entry.text.size(); ++i) {
      const QString c = QString(s.entry.text[i]).toHtmlEscaped();
      html += s.at.contains(i) ? QLatin1String("<b>") + c + QLatin1String("</b>") : c;
    }
    return html;
  }
  default: return {};
  }
}

QHash<int, QByteArray> PaletteModel::roleNames() const {
  return {{KindRole, "kind"},
          {TextRole, "text"},
          {HtmlRole, "html"},
          {DetailRole, "detail"},
          {TargetRole, "target"}};
}

} // namespace uopscope
