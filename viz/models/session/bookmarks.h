// Bookmarked states of a trace, each with a note. They are stored beside the trace, in
// FILE.uoptrace.notes.json, so that they travel with it and the trace itself stays unchanged.
//
//   Bookmarks marks(session);  marks.add("here the loop is split");  marks.goTo(0);
//   session.trigger("next-mark");                                   // they are a talk: state and note, one after the other
#pragma once
#include "viz/models/session/session.h"

namespace uopscope {

class Bookmarks : public QAbstractListModel {
  Q_OBJECT
  Q_PROPERTY(int count READ count NOTIFY changed)
  /// The row of the state in front; -1: it is no bookmark.
  Q_PROPERTY(int current READ current NOTIFY changed)
  /// Whether somebody goes from bookmark to bookmark: a bar then shows the note.
  Q_PROPERTY(bool talking READ talking NOTIFY changed)
  /// Note and place of the current one.
  Q_PROPERTY(QString note READ note NOTIFY changed)

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
  /// Moves a bookmark up (-1) or down: their order is the order of a talk.
  Q_INVOKABLE void move(int row, int by);
  int current() const { return current_; }
  bool talking() const { return talking_ && current_ >= 0; }
  QString note() const;
  /// To the next bookmark (1) or the one before (-1): a talk, which begins at the first.
  Q_INVOKABLE void step(int by);
  Q_INVOKABLE void endTalk();
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
  int current_ = -1;
  bool talking_ = false;
};

} // namespace uopscope
