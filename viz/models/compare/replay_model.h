// Compares two corpora of compilations, or two traces, in the window: the opened files, the progress of the
// comparison, the list of changes, and the pair in front. The window's page and its keys use this object.
//   ReplayModel replay(session);  replay.openFiles({"before.uopcorpus", "after.uopcorpus"});
#pragma once
#include "viz/models/compare/file_page.h"
#include "viz/models/compare/replay_detail.h"
#include "viz/models/compare/replay_list.h"

#include <QProcess>
#include <QTimer>

namespace uopscope {

/// Its state is "choosing" until there are two files.
class ReplayModel : public uopscope::FilePage { // named in full for the registrar of QML types
  Q_OBJECT
  Q_PROPERTY(QString before READ before NOTIFY changed)
  Q_PROPERTY(QString after READ after NOTIFY changed)
  /// What the sides are called: the build, the commit or the file.
  Q_PROPERTY(QString beforeName READ beforeName NOTIFY titleChanged)
  Q_PROPERTY(QString afterName READ afterName NOTIFY titleChanged)
  /// "312 kernels changed for 3 causes; 9,688 are the same"
  Q_PROPERTY(QString headline READ headline NOTIFY changed)
  Q_PROPERTY(QString warning READ warning NOTIFY changed)
  /// Progress of the work from 0 to 1, negative where it is unknown; and the present task.
  Q_PROPERTY(qreal progress READ progress NOTIFY progressChanged)
  Q_PROPERTY(QString doing READ doing NOTIFY progressChanged)
  Q_PROPERTY(bool ignoreNames READ ignoreNames WRITE setIgnoreNames NOTIFY changed)
  /// The pair in front: {name, place, status, sure, kind}
  Q_PROPERTY(QVariantMap title READ title NOTIFY titleChanged)
  Q_PROPERTY(uopscope::ReplayList* list READ list CONSTANT)
  Q_PROPERTY(uopscope::ReplayDetail* detail READ detail CONSTANT)

public:
  explicit ReplayModel(Session& session, QObject* parent = nullptr);
  ~ReplayModel() override;

  /// Compares two files. A single file fills the free place, or asks for a second one.
  Q_INVOKABLE void openFiles(const QStringList& paths);
  /// Compiles the inputs of the first file with this build and compares the results.
  Q_INVOKABLE void compareWithBuild();
  Q_INVOKABLE void swap();
  void cancel() override;
  /// Releases both files; the page then asks for files.
  Q_INVOKABLE void clear();
  /// Sets the program that replays; the default is this program, and tests set another.
  void setProgram(const QString& program) { program_ = program; }

  QString before() const { return before_; }
  QString after() const { return after_; }
  QString beforeName() const;
  QString afterName() const;
  QString headline() const { return headline_; }
  QString warning() const { return warning_; }
  qreal progress() const { return progress_; }
  QString doing() const { return doing_; }
  bool ignoreNames() const { return detail_.ignoreNames(); }
  void setIgnoreNames(bool on);
  QVariantMap title() const;
  ReplayList* list() { return &list_; }
  ReplayDetail* detail() { return &detail_; }
  bool settled() const override { return jobs_.idle() && replay_.state() == QProcess::NotRunning; }
  bool trigger(const QString& action) override;

Q_SIGNALS:
  void titleChanged();
  void progressChanged();

private:
  void compare();
  void fail(const QString& what) override;
  void replayEnded(int code, QProcess::ExitStatus status);

  std::shared_ptr<ReplayBench> bench_;
  ReplayList list_;
  ReplayDetail detail_;
  QProcess replay_;
  QTimer clock_; ///< polls the progress of the replay
  QTemporaryDir folder_;
  QString before_, after_, headline_, warning_, doing_, program_;
  qreal progress_ = -1;
};

} // namespace uopscope
