// A file to read or to write, chosen in the window itself: the same dialog on every desktop and in every
// theme. A file that is there already is never taken for writing unless one says so: choose() refuses it and
// `taken` tells, replace() is the other button.
//
//   FileChooser files;  files.begin(true, {"svg", "png"}, "matmul-step-4.svg");
//   files.setName("a.png");  if (!files.choose() && files.taken()) files.replace();     // emits chosen(path)
#pragma once
#include "viz/models/session/session.h"

namespace uopscope {

class FileChooser : public QObject {
  Q_OBJECT
  Q_PROPERTY(bool saving READ saving NOTIFY changed)
  Q_PROPERTY(QString folder READ folder NOTIFY changed)
  Q_PROPERTY(QStringList endings READ endings NOTIFY changed)
  /// The ending of the name, one of `endings`.
  Q_PROPERTY(QString ending READ ending WRITE setEnding NOTIFY changed)
  /// As typed: a name in the folder, or a path.
  Q_PROPERTY(QString name READ name WRITE setName NOTIFY changed)
  /// [{name, folder, detail}], folders first; of files those with one of the endings.
  Q_PROPERTY(QVariantList entries READ entries NOTIFY changed)
  /// The file is there already.
  Q_PROPERTY(bool taken READ taken NOTIFY changed)
  /// Why the name cannot be chosen, empty if nothing was refused.
  Q_PROPERTY(QString problem READ problem NOTIFY changed)

public:
  explicit FileChooser(Session& session, QObject* parent = nullptr);

  /// Begins to ask, in the folder that was last chosen from. No endings: every file.
  Q_INVOKABLE void begin(bool saving, const QStringList& endings, const QString& name = {});
  /// Goes into a folder, or takes over the name of a file; true where that was a file.
  Q_INVOKABLE bool enter(const QString& entry);
  Q_INVOKABLE void up();
  /// Takes what is named: a folder is entered, a file emits chosen(). False where nothing was chosen.
  Q_INVOKABLE bool choose();
  /// The same, over the file that is there.
  Q_INVOKABLE bool replace();

  bool saving() const { return saving_; }
  QString folder() const { return folder_; }
  QStringList endings() const { return endings_; }
  QString ending() const;
  void setEnding(const QString& ending);
  QString name() const { return name_; }
  void setName(const QString& name);
  QVariantList entries() const { return entries_; }
  bool taken() const { return taken_; }
  QString problem() const { return problem_; }

Q_SIGNALS:
  void changed();
  void chosen(const QString& path);

private:
  bool take(bool replacing);
  QString path() const;
  void goInto(const QString& folder);
  bool refuse(const QString& why);

  Session& session_;
  bool saving_ = false, taken_ = false;
  QString folder_, name_, problem_;
  QStringList endings_;
  QVariantList entries_;
};

} // namespace uopscope
