// The script of the open trace as a text to change: saved, recorded again, compared with the state before.
//
//   ScriptEditor editor(session);  editor.edit();  editor.setText(...);  editor.run();  ... editor.before()  // the trace before
//
// Opening a trace reads no script; edit() does. Invariant: a script that changed on disk since it was read is not
// overwritten before a person has asked again.
#pragma once
#include "viz/models/session/session.h"

#include <QDateTime>

namespace uopscope {

class ScriptEditor : public QObject {
  Q_OBJECT
  /// Whether the tab Script shows the editor in place of the script as it was recorded.
  Q_PROPERTY(bool editing READ editing NOTIFY changed)
  Q_PROPERTY(QString text READ text WRITE setText NOTIFY textChanged)
  Q_PROPERTY(QString file READ file NOTIFY changed)
  Q_PROPERTY(bool unsaved READ unsaved NOTIFY textChanged)
  /// The trace before the last recording of this script, to compare with; empty: none.
  Q_PROPERTY(QString before READ before NOTIFY changed)

public:
  explicit ScriptEditor(Session& session, QObject* parent = nullptr);
  bool editing() const { return editing_; }
  QString text() const { return text_; }
  void setText(const QString& text);
  QString file() const { return file_; }
  bool unsaved() const { return text_ != saved_; }
  QString before() const { return before_; }
  Q_INVOKABLE void edit();
  /// Back to the script as it was recorded; an unsaved text stays.
  Q_INVOKABLE void close();
  /// True where it was written.
  Q_INVOKABLE bool save();
  /// Saves, and records the script again.
  Q_INVOKABLE void run();

Q_SIGNALS:
  void changed();
  void textChanged();

private:
  Session& session_;
  QString file_, text_, saved_, before_, asked_;
  QDateTime read_;
  bool editing_ = false;
};

} // namespace uopscope
