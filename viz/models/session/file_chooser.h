// Chooses a file to read or to write, in the window itself: the dialog is the same on every desktop and in
// every theme. An existing file is overwritten only on request: choose() refuses it and sets `taken`; the
// button for replace() overwrites it.
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
  /// The typed text: a name in the folder, or a path.
  Q_PROPERTY(QString name READ name WRITE setName NOTIFY changed)
  /// [{name, folder, detail}], folders first; only files with one of the endings.
  Q_PROPERTY(QVariantList entries READ entries NOTIFY changed)
  /// Whether the file exists already.
  Q_PROPERTY(bool taken READ taken NOTIFY changed)
  /// The reason why the name was refused, or empty.
  Q_PROPERTY(QString problem READ problem NOTIFY changed)

public:
  explicit FileChooser(Session& session, QObject* parent = nullptr);

  /// Starts the dialog in the folder that was last chosen from. Without endings it shows every file.
  Q_INVOKABLE void begin(bool saving, const QStringList& endings, const QString& name = {});
  /// Enters a folder, or takes over the name of a file; true for a file.
  Q_INVOKABLE bool enter(const QString& entry);
  Q_INVOKABLE void up();
  /// Accepts the name: enters a folder, or emits chosen() for a file. False where no file was chosen.
  Q_INVOKABLE bool choose();
  /// Accepts the name and overwrites the existing file.
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
