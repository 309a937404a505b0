// Bookmarked states of a trace, each with a note. They are stored beside the trace, in
// FILE.uoptrace.notes.json, so that they travel with it and the trace itself stays unchanged.
//
//   Bookmarks marks(session);  marks.add("here the loop is split");  marks.goTo(0);
#pragma once
#include "viz/models/session/session.h"

namespace uopscope {

class Bookmarks : public QAbstractListModel {
  Q_OBJECT
  Q_PROPERTY(int count READ count NOTIFY changed)

public:
  enum Roles { NoteRole = Qt::UserRole + 1, PlaceRole, LinkRole };
  explicit Bookmarks(Session& session, QObject* parent = nullptr);
  int count() const { return static_cast<int>(marks_.size()); }
  /// The present state: its row, the one it had where it was kept already; -1: there is nothing to keep.
  Q_INVOKABLE int add(const QString& note = {});
  /// The same, and asks for a note.
  void addAsking();
  Q_INVOKABLE void setNote(int row, const QString& note);
  Q_INVOKABLE void remove(int row);
  Q_INVOKABLE void goTo(int row);
  static QString fileFor(const QString& trace) { return trace + QStringLiteral(".notes.json"); }

  int rowCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  QHash<int, QByteArray> roleNames() const override;

Q_SIGNALS:
  void changed();
  /// Somebody should ask for the note of a row.
  void noteAsked(int row);

private:
  struct Mark {
    QString note, place, link;
  };
  void load();
  void save();
  Session& session_;
  std::vector<Mark> marks_;
  QString file_;
};

} // namespace uopscope
