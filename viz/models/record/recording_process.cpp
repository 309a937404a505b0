// Starts and ends the recorder with signals, and keeps the end of its output.
#include "viz/models/record/recording_process.h"

#include <sys/prctl.h>

#include <QFileInfo>
#include <QProcessEnvironment>
#include <QTimer>
#include <csignal>

namespace uopscope {
namespace {

constexpr qsizetype kMaxOutput = 400'000; // a script that prints for ever must not fill the window's memory
/// The recorder ends its script within a second and then closes the trace.
constexpr int kPatience = 3000, kPatienceOnClose = 1500;

} // namespace

RecordingProcess::RecordingProcess(QObject* parent) : QObject(parent) {
  process_.setProcessChannelMode(QProcess::MergedChannels);
  // When this window ends in any way, the recorder gets a signal, ends its script and closes the trace.
  process_.setChildProcessModifier([] { prctl(PR_SET_PDEATHSIG, SIGINT); });
  connect(&process_, &QProcess::readyReadStandardOutput, this,
          [this] { take(process_.readAllStandardOutput()); });
  connect(&process_, &QProcess::started, this, &RecordingProcess::changed);
  connect(&process_, &QProcess::errorOccurred, this, [this](QProcess::ProcessError error) {
    if (error != QProcess::FailedToStart) return;
    problem_ = tr("%1 could not be started: %2").arg(process_.program(), process_.errorString());
    Q_EMIT changed();
    Q_EMIT finished();
  });
  connect(&process_, &QProcess::finished, this, [this](int code, QProcess::ExitStatus status) {
    elapsed_ = clock_.elapsed();
    take(process_.readAllStandardOutput());
    exitCode_ = code;
    if (cancelled_)
      problem_ = tr("Recording was cancelled.");
    else if (status == QProcess::CrashExit)
      problem_ = tr("The script's process died. What was recorded until then is shown.");
    else if (code != 0 && imports(script_))
      problem_ = tr("%1 could not be read.").arg(QFileInfo(script_).fileName());
    else if (code != 0)
      problem_ = tr("The script ended with exit code %1. What was recorded until then is shown.").arg(code);
    Q_EMIT changed();
    Q_EMIT finished();
  });
  auto* tick = new QTimer(this);
  tick->setInterval(200);
  connect(tick, &QTimer::timeout, this, [this] {
    if (running()) Q_EMIT ticked();
  });
  tick->start();
}

RecordingProcess::~RecordingProcess() {
  process_.disconnect(this);
  if (!running()) return;
  ::kill(static_cast<pid_t>(process_.processId()), SIGINT);
  if (process_.waitForFinished(kPatienceOnClose)) return;
  process_.kill();
  process_.waitForFinished(1000);
}

bool RecordingProcess::imports(const QString& file) {
  return file.endsWith(QLatin1String(".dot"), Qt::CaseInsensitive) ||
         file.endsWith(QLatin1String(".gv"), Qt::CaseInsensitive);
}

void RecordingProcess::start(const QString& program, const QString& script, const QString& trace,
                             const QStringList& arguments) {
  if (running()) return;
  output_.clear();
  problem_.clear();
  exitCode_ = 0;
  cancelled_ = false;
  script_ = script;
  trace_ = trace;
  QStringList args{imports(script) ? QStringLiteral("import") : QStringLiteral("record"),
                   QFileInfo(script).absoluteFilePath(), QStringLiteral("-o"), trace};
  if (!rules_.isEmpty() && args.front() == QStringLiteral("record"))
    args << QStringLiteral("--rules") << QFileInfo(rules_).absoluteFilePath();
  if (!arguments.isEmpty()) args << QStringLiteral("--") << arguments;
  process_.setWorkingDirectory(QFileInfo(script).absolutePath());
  clock_.start();
  QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
  environment.remove(QStringLiteral("UOPSCOPE_GATE"));
  if (!gate_.isEmpty()) environment.insert(QStringLiteral("UOPSCOPE_GATE"), gate_);
  process_.setProcessEnvironment(environment);
  process_.start(program, args);
  Q_EMIT changed();
  Q_EMIT outputChanged();
}

void RecordingProcess::cancel() {
  if (!running()) return;
  if (cancelled_) {
    process_.kill();
    return;
  }
  cancelled_ = true;
  // Acts as Ctrl-C: the recorder closes its trace and ends.
  ::kill(static_cast<pid_t>(process_.processId()), SIGINT);
  QTimer::singleShot(kPatience, this, [this] {
    if (cancelled_ && running()) process_.kill();
  });
}

void RecordingProcess::take(const QByteArray& bytes) {
  if (bytes.isEmpty()) return;
  output_ += QString::fromUtf8(bytes);
  if (output_.size() > kMaxOutput)
    output_ = tr("... earlier output left out ...\n") + output_.right(kMaxOutput / 2);
  Q_EMIT outputChanged();
}

} // namespace uopscope
