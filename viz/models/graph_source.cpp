// Searching walks the picture, not the trace: ten thousand labels take under a millisecond per word.
#include "viz/models/graph_source.h"

#include <QString>
#include <QStringList>
#include <algorithm>

namespace uopscope {

void GraphSource::setPicture(PicturePtr picture) {
  picture_ = std::move(picture);
  Q_EMIT pictureChanged();
  if (!query_.isEmpty()) {
    const int64_t current = currentFound();
    const QString query = query_;
    search(query);
    for (size_t i = 0; i < found_.size(); ++i)
      if (found_[i] == current) foundAt_ = static_cast<int>(i);
    Q_EMIT foundChanged();
  }
}

void GraphSource::setSelected(int64_t id) {
  if (id == selected_) return;
  selected_ = id;
  Q_EMIT selectedChanged();
}

int64_t GraphSource::currentFound() const {
  return foundAt_ >= 0 && foundAt_ < foundCount() ? found_[static_cast<size_t>(foundAt_)] : -1;
}

void GraphSource::setFound(std::vector<int64_t> found) {
  found_ = std::move(found);
  foundAt_ = -1;
  Q_EMIT foundChanged();
}

void GraphSource::search(const QString& text) {
  query_ = text.trimmed();
  std::vector<int64_t> found;
  const QStringList words = query_.split(QLatin1Char(' '), Qt::SkipEmptyParts);
  if (picture_ && !words.isEmpty()) {
    for (const PictureNode& n : picture_->nodes) {
      QString all = QString::fromStdString(n.op + ' ' + n.detail + ' ' + n.dtype + ' ' + n.tag + " #" +
                                           std::to_string(n.id));
      for (const FoldedSource& f : n.folded) all += QLatin1Char(' ') + QString::fromStdString(f.text);
      if (std::all_of(words.begin(), words.end(),
                      [&](const QString& w) { return all.contains(w, Qt::CaseInsensitive); }))
        found.push_back(n.id);
    }
  }
  setFound(std::move(found));
}

void GraphSource::nextFound(int step) {
  if (found_.empty()) return;
  const int n = foundCount();
  foundAt_ = foundAt_ < 0 ? (step > 0 ? 0 : n - 1) : ((foundAt_ + step) % n + n) % n;
  Q_EMIT foundChanged();
  Q_EMIT lookAt(currentFound());
}

} // namespace uopscope
