#include "viz/models/lab/bisect_model.h"

#include "viz/models/session/script_consent.h"
#include "viz/models/work/program_of_verbs.h"

#include <sys/prctl.h>

#include <QJsonDocument>
#include <QJsonObject>
#include <QRegularExpression>
#include <csignal>
#include <utility>

namespace uopscope {

BisectModel::BisectModel(Session& session, QObject* parent)
    : QObject(parent), session_(session), program_(programOfVerbs()) {
  process_.setChildProcessModifier([] { prctl(PR_SET_PDEATHSIG, SIGTERM); });
  connect(&process_, &QProcess::finished, this, &BisectModel::ended);
  connect(&process_, &QProcess::readyReadStandardError, this, &BisectModel::listen);
  connect(&process_, &QProcess::errorOccurred, this, [this](QProcess::ProcessError e) {
    if (e != QProcess::FailedToStart) return;
    text_ = tr("%1 cannot be started: %2").arg(program_, process_.errorString());
    failed_ = true;
    Q_EMIT changed();
  });
  connect(&session_, &Session::opened, this, [this] {
    cancel();
    close();
  });
}

BisectModel::~BisectModel() {
  process_.disconnect(this);
  process_.kill();
  process_.waitForFinished(1000);
}

void BisectModel::ofKernel(const QString& what) {
  if (session_.scopeKind() != QLatin1String("kernel"))
    return session_.showNotice(tr("Go to a kernel first: a schedule is not compiled again."));
  const bool slow = what == QLatin1String("slow");
  start((slow ? tr("Which rewrite makes %1 slow?") : tr("Which rewrite makes %1 wrong?"))
            .arg(session_.scopeName()),
        {session_.path(), QStringLiteral("--kernel"), QString::number(session_.scope()),
         QStringLiteral("--for"), what});
}

void BisectModel::ofLine(const QString& line) {
  const QString wanted = line.trimmed();
  if (wanted.isEmpty()) return session_.showNotice(tr("Click a line of the code first."));
  start(tr("Which rewrite made the line %1?").arg(wanted),
        {session_.path(), QStringLiteral("--kernel"), QString::number(session_.scope()),
         QStringLiteral("--line"), wanted});
}

void BisectModel::ofScript() {
  const QString script =
      session_.trace() ? QString::fromStdString(session_.trace()->scriptFile().file) : QString();
  if (!script.endsWith(QLatin1String(".py")))
    return session_.showNotice(tr("This trace does not name a script that is still there."));
  if (!mayRun(session_, script)) return;
  start(tr("Which rewrite makes the script fail?"), {script, QStringLiteral("--trace"), session_.path()});
}

void BisectModel::start(const QString& question, const QStringList& arguments) {
  if (busy() || !session_.trace()) return;
  question_ = question;
  text_ = tr("starting …");
  fault_.clear();
  progress_ = 0;
  step_ = 0;
  failed_ = cancelled_ = false;
  QStringList all{QStringLiteral("bisect")};
  all += arguments;
  all << QStringLiteral("--json") << QStringLiteral("--progress");
  if (session_.ownRecording() && arguments.contains(QLatin1String("--kernel")))
    all << QStringLiteral("--trust");
  process_.start(program_, all);
  Q_EMIT changed();
}

void BisectModel::listen() {
  static const QRegularExpression run(QStringLiteral("^run (\\d+)(?: of about (\\d+))?$"));
  while (process_.canReadLine() || process_.bytesAvailable() > 0) {
    process_.setReadChannel(QProcess::StandardError);
    if (!process_.canReadLine()) break;
    const QString line = QString::fromUtf8(process_.readLine()).trimmed();
    const auto m = run.match(line);
    if (!m.hasMatch()) {
      if (!line.isEmpty()) fault_ = line;
      continue;
    }
    const int number = m.captured(1).toInt(), about = m.captured(2).toInt();
    progress_ = about > 0 ? std::min(1.0, static_cast<qreal>(number) / about) : 0;
    text_ = about > 0 ? tr("run %1 of about %2").arg(number).arg(about) : tr("run %1").arg(number);
  }
  Q_EMIT changed();
}

void BisectModel::ended(int code, QProcess::ExitStatus status) {
  listen();
  const QJsonObject answer = QJsonDocument::fromJson(process_.readAllStandardOutput()).object();
  if (const QString rest = QString::fromUtf8(process_.readAllStandardError()).trimmed(); !rest.isEmpty())
    fault_ = rest.section(QLatin1Char('\n'), -1);
  fault_.remove(QRegularExpression(QStringLiteral("^uopscope: ")));
  progress_ = 0;
  if (std::exchange(cancelled_, false)) {
    text_.clear();
  } else if (!answer.isEmpty()) {
    text_ = answer[QStringLiteral("sentence")].toString();
    step_ = answer[QStringLiteral("step")].toInteger();
  } else {
    failed_ = true;
    text_ = status == QProcess::NormalExit && !fault_.isEmpty() ? fault_
                                                                : tr("It ended with exit code %1.").arg(code);
  }
  Q_EMIT changed();
}

void BisectModel::cancel() {
  if (!busy()) return;
  cancelled_ = true;
  process_.terminate(); // it ends its own children
  if (!process_.waitForFinished(1000)) process_.kill();
}

void BisectModel::close() {
  if (busy()) return;
  text_.clear(), question_.clear();
  step_ = 0;
  failed_ = false;
  Q_EMIT changed();
}

void BisectModel::goToStep() {
  if (step_ <= 0) return;
  session_.setTab(QStringLiteral("graph"));
  session_.goToTraceStep(step_);
}

} // namespace uopscope
