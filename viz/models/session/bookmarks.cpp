// Reads and writes the notes file of a trace; every change is saved at once.
#include "viz/models/session/bookmarks.h"

#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QSaveFile>
#include <algorithm>

namespace uopscope {
namespace {

// A notes file is untrusted input: a larger file is no list of bookmarks.
constexpr qint64 kMostNoteBytes = 4 << 20;

} // namespace

Bookmarks::Bookmarks(Session& session, QObject* parent) : QAbstractListModel(parent), session_(session) {
  connect(&session_, &Session::opened, this, &Bookmarks::load);
}

void Bookmarks::load() {
  beginResetModel();
  marks_.clear();
  current_ = -1;
  talking_ = false;
  file_ = session_.trace() ? fileFor(session_.path()) : QString();
  QFile in(file_);
  if (!file_.isEmpty() && in.size() < kMostNoteBytes && in.open(QIODevice::ReadOnly))
    for (const QJsonValue v : QJsonDocument::fromJson(in.readAll()).array()) {
      const QJsonObject o = v.toObject();
      if (!o[QStringLiteral("link")].toString().isEmpty())
        marks_.push_back({o[QStringLiteral("note")].toString(), o[QStringLiteral("place")].toString(),
                          o[QStringLiteral("link")].toString()});
    }
  endResetModel();
  Q_EMIT changed();
}

void Bookmarks::save() {
  QJsonArray list;
  for (const Mark& m : marks_) list << QJsonObject{{"note", m.note}, {"place", m.place}, {"link", m.link}};
  QSaveFile out(file_);
  if (!out.open(QIODevice::WriteOnly) || out.write(QJsonDocument(list).toJson()) < 0 || !out.commit())
    session_.showNotice(tr("Bookmarks cannot be kept in %1: %2").arg(file_, out.errorString()));
  Q_EMIT changed();
}

int Bookmarks::add(const QString& note) {
  const QString link = session_.link();
  if (link.isEmpty()) return -1;
  const auto known = std::ranges::find(marks_, link, &Mark::link);
  if (known != marks_.end()) {
    const auto row = static_cast<int>(known - marks_.begin());
    if (!note.isEmpty()) setNote(row, note);
    return row;
  }
  beginInsertRows({}, count(), count());
  marks_.push_back(
      {note, tr("%1 › %2, step %3").arg(session_.scopeName(), session_.passName()).arg(session_.step()),
       link});
  endInsertRows();
  save();
  return count() - 1;
}

void Bookmarks::addAsking() {
  const bool known = std::ranges::any_of(marks_, [&](const Mark& m) { return m.link == session_.link(); });
  const int row = add();
  if (row < 0) return;
  session_.showNotice(known ? tr("This state is bookmarked already.")
                            : tr("Bookmarked. Notes are under Marks, on the left."));
  Q_EMIT noteAsked(row);
}

void Bookmarks::setNote(int row, const QString& note) {
  if (row < 0 || row >= count() || marks_[static_cast<size_t>(row)].note == note) return;
  marks_[static_cast<size_t>(row)].note = note;
  Q_EMIT dataChanged(index(row), index(row));
  save();
}

void Bookmarks::remove(int row) {
  if (row < 0 || row >= count()) return;
  beginRemoveRows({}, row, row);
  marks_.erase(marks_.begin() + row);
  if (current_ >= row) current_ = current_ == row ? -1 : current_ - 1;
  endRemoveRows();
  save();
}

void Bookmarks::goTo(int row) {
  if (row < 0 || row >= count()) return;
  current_ = row;
  session_.follow(marks_[static_cast<size_t>(row)].link);
  Q_EMIT changed();
}

void Bookmarks::move(int row, int by) {
  const int to = row + by;
  if (row < 0 || row >= count() || to < 0 || to >= count() || by == 0) return;
  beginMoveRows({}, row, row, {}, by > 0 ? to + 1 : to);
  const Mark moved = marks_[static_cast<size_t>(row)];
  marks_.erase(marks_.begin() + row);
  marks_.insert(marks_.begin() + to, moved);
  endMoveRows();
  if (current_ == row)
    current_ = to;
  else if (current_ >= std::min(row, to) && current_ <= std::max(row, to))
    current_ += by > 0 ? -1 : 1;
  save();
}

void Bookmarks::step(int by) {
  if (count() == 0) return session_.showNotice(tr("No bookmarks. Ctrl D keeps the present state."));
  const int to = !talking() ? (by > 0 ? 0 : count() - 1) : current_ + by;
  if (to < 0 || to >= count())
    return session_.showNotice(to < 0 ? tr("This is the first bookmark.") : tr("This is the last bookmark."));
  talking_ = true;
  goTo(to);
}

void Bookmarks::endTalk() {
  talking_ = false;
  current_ = -1;
  Q_EMIT changed();
}

QString Bookmarks::note() const {
  if (current_ < 0 || current_ >= count()) return {};
  const Mark& m = marks_[static_cast<size_t>(current_)];
  return m.note.isEmpty() ? m.place : m.note;
}

int Bookmarks::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : count();
}

QVariant Bookmarks::data(const QModelIndex& index, int role) const {
  if (!index.isValid() || index.row() >= count()) return {};
  const Mark& m = marks_[static_cast<size_t>(index.row())];
  switch (role) {
  case NoteRole: return m.note;
  case PlaceRole: return m.place;
  case LinkRole: return m.link;
  default: return {};
  }
}

QHash<int, QByteArray> Bookmarks::roleNames() const {
  return {{NoteRole, "note"}, {PlaceRole, "place"}, {LinkRole, "link"}};
}

} // namespace uopscope
