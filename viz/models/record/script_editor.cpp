#include "viz/models/record/script_editor.h"

#include "viz/models/work/table_text.h"

#include <QFile>
#include <QFileInfo>

namespace uopscope {

namespace {
constexpr qint64 kMostBytes = 4 << 20; ///< a larger file is no script that a person edits
}

ScriptEditor::ScriptEditor(Session& session, QObject* parent) : QObject(parent), session_(session) {
  connect(&session_, &Session::opened, this, [this] {
    // A recording of the same script keeps the editor open; another trace closes it.
    const QString script = session_.trace() ? QString::fromStdString(session_.trace()->scriptFile().file)
                                            : session_.recorder()->script();
    if (script != file_ && !unsaved()) {
      editing_ = false;
      before_.clear();
      Q_EMIT changed();
    }
  });
}

void ScriptEditor::edit() {
  const QString script =
      session_.trace() ? QString::fromStdString(session_.trace()->scriptFile().file) : QString();
  QFile in(script);
  if (script.isEmpty() || !in.exists())
    return session_.showNotice(tr("This trace does not name a script that is still there."));
  if (script == file_ && unsaved()) { // the typed text is still here
    editing_ = true;
    Q_EMIT changed();
    return;
  }
  if (in.size() > kMostBytes || !in.open(QIODevice::ReadOnly))
    return session_.showNotice(tr("%1 cannot be read: %2").arg(script, in.errorString()));
  if (script != file_) before_.clear();
  file_ = script;
  text_ = saved_ = QString::fromUtf8(in.readAll());
  read_ = QFileInfo(script).lastModified();
  editing_ = true;
  Q_EMIT textChanged();
  Q_EMIT changed();
}

void ScriptEditor::close() {
  editing_ = false;
  Q_EMIT changed();
}

void ScriptEditor::setText(const QString& text) {
  if (text == text_) return;
  text_ = text;
  Q_EMIT textChanged();
}

bool ScriptEditor::save() {
  const QDateTime there = QFileInfo(file_).lastModified();
  if (there != read_ && asked_ != there.toString(Qt::ISODateWithMs)) {
    asked_ = there.toString(Qt::ISODateWithMs);
    session_.showNotice(
        tr("%1 has changed on disk since it was read. Save again to overwrite it.").arg(file_));
    return false;
  }
  if (const QString fault = writeText(file_, text_); !fault.isEmpty()) {
    session_.showNotice(fault);
    return false;
  }
  saved_ = text_;
  read_ = QFileInfo(file_).lastModified();
  Q_EMIT textChanged();
  return true;
}

void ScriptEditor::run() {
  if (unsaved() && !save()) return;
  const QString before = session_.path();
  session_.recordAgain();
  if (session_.state() != QLatin1String("recording")) return; // it asks first, or says why not
  before_ = before;
  session_.setTab(QStringLiteral("script"));
  Q_EMIT changed();
}

} // namespace uopscope
