#include "viz/models/recorder.h"

#include <QFileInfo>
#include <QTimer>
#include <csignal>

namespace uopscope {
namespace {

constexpr qsizetype kMaxOutput =
    400'000; // a script that prints for ever must not fill the memory of the window
constexpr int kPatience = 3000;

} // namespace

Recorder::Recorder(QObject* parent) : QObject(parent) {
  process_.setProcessChannelMode(QProcess::MergedChannels);
  connect(&process_, &QProcess::readyReadStandardOutput, this,
          [this] { take(process_.readAllStandardOutput()); });
  connect(&process_, &QProcess::started, this, &Recorder::changed);
  connect(&process_, &QProcess::errorOccurred, this, [this](QProcess::ProcessError error) {
    if (error != QProcess::FailedToStart) return;
    problem_ = tr("%1 could not be started: %2").arg(process_.program(), process_.errorString());
    emit changed();
    emit finished();
  });
  connect(&process_, &QProcess::finished, this, [this](int code, QProcess::ExitStatus status) {
    elapsed_ = clock_.elapsed();
    take(process_.readAllStandardOutput());
    exitCode_ = code;
    if (cancelled_)
      problem_ = tr("Recording was cancelled.");
    else if (status == QProcess::CrashExit)
      problem_ = tr("The script's process died. What was recorded until then is shown.");
    else if (code != 0)
      problem_ = tr("The script ended with exit code %1. What was recorded until then is shown.").arg(code);
    emit changed();
    emit finished();
  });
  auto* tick = new QTimer(this);
  tick->setInterval(200);
  connect(tick, &QTimer::timeout, this, [this] {
    if (running()) emit ticked();
  });
  tick->start();
}

Recorder::~Recorder() {
  process_.disconnect(this);
  if (running()) {
    process_.kill();
    process_.waitForFinished(1000);
  }
}

void Recorder::start(const QString& program, const QString& script, const QString& trace,
                     const QStringList& arguments) {
  if (running()) return;
  output_.clear();
  problem_.clear();
  exitCode_ = 0;
  cancelled_ = false;
  script_ = script;
  trace_ = trace;
  QStringList args{QStringLiteral("record"), QFileInfo(script).absoluteFilePath(), QStringLiteral("-o"),
                   trace};
  if (!arguments.isEmpty()) args << QStringLiteral("--") << arguments;
  process_.setWorkingDirectory(QFileInfo(script).absolutePath());
  clock_.start();
  process_.start(program, args);
  emit changed();
  emit outputChanged();
}

void Recorder::cancel() {
  if (!running()) return;
  if (cancelled_) {
    process_.kill();
    return;
  }
  cancelled_ = true;
  // As Ctrl-C would: the recorder closes its trace and ends.
  ::kill(static_cast<pid_t>(process_.processId()), SIGINT);
  QTimer::singleShot(kPatience, this, [this] {
    if (cancelled_ && running()) process_.kill();
  });
}

void Recorder::take(const QByteArray& bytes) {
  if (bytes.isEmpty()) return;
  output_ += QString::fromUtf8(bytes);
  if (output_.size() > kMaxOutput)
    output_ = tr("... earlier output left out ...\n") + output_.right(kMaxOutput / 2);
  emit outputChanged();
}

} // namespace uopscope
