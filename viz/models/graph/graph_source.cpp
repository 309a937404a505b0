// A search walks the picture, not the trace: ten thousand labels take a few milliseconds.
#include "viz/models/graph/graph_source.h"

#include <QString>
#include <QStringList>
#include <algorithm>

namespace uopscope {

void GraphSource::setPicture(PicturePtr picture) {
  picture_ = std::move(picture);
  tint();
  Q_EMIT pictureChanged();
  if (!query_.empty()) {
    const int64_t current = currentFound();
    find();
    for (size_t i = 0; i < found_.size(); ++i)
      if (found_[i] == current) foundAt_ = static_cast<int>(i);
    Q_EMIT foundChanged();
  }
  if (wantsFacts()) Q_EMIT factsWanted();
}

bool GraphSource::wantsFacts() const {
  if (!picture_ || !(query_.wantsFacts() || tintWantsFacts(colourBy_))) return false;
  return !facts_ || std::any_of(picture_->nodes.begin(), picture_->nodes.end(), [&](const PictureNode& n) {
    return n.id < 0x80000000 && !facts_->contains(n.id);
  });
}

void GraphSource::setFacts(std::shared_ptr<const FactMap> facts) {
  facts_ = std::move(facts);
  tint();
  if (query_.wantsFacts()) find();
}

void GraphSource::tint() {
  tinting_ = picture_ ? tintBy(colourBy_, *picture_, facts_.get(), &answer_) : nullptr;
  Q_EMIT tintingChanged();
}

void GraphSource::setColourBy(const QString& what) {
  if (what == colourBy_ || !tintings().contains(what)) return;
  colourBy_ = what;
  tint();
  if (wantsFacts()) Q_EMIT factsWanted();
}

void GraphSource::setAnswer(TintingAnswer answer) {
  answer_ = std::move(answer);
  colourBy_ = answer_.title.isEmpty() ? QStringLiteral("op") : QStringLiteral("query");
  tint();
}

QVariantList GraphSource::legend() const {
  QVariantList out;
  if (tinting_)
    for (const Tinting::Entry& e : tinting_->legend)
      out << QVariantMap{{"text", e.text}, {"count", e.count}, {"colour", e.colour}};
  return out;
}

void GraphSource::setNotes(std::map<int64_t, QString> notes) {
  if (notes.empty() && notes_.empty()) return;
  notes_ = std::move(notes);
  Q_EMIT notesChanged();
}

void GraphSource::setNumbers(std::map<int64_t, CanvasNumber> numbers) {
  if (numbers.empty() && numbers_.empty()) return;
  numbers_ = std::move(numbers);
  Q_EMIT notesChanged();
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
  query_ = NodeQuery::parse(text.trimmed());
  find();
  if (wantsFacts()) Q_EMIT factsWanted();
}

void GraphSource::find() {
  std::vector<int64_t> found;
  if (picture_ && !query_.empty())
    for (const PictureNode& n : picture_->nodes) {
      const auto it = facts_ ? facts_->find(n.id) : FactMap::const_iterator();
      if (query_.matches(n, facts_ && it != facts_->end() ? &it->second : nullptr)) found.push_back(n.id);
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
