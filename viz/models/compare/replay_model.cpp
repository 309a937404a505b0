// Runs the replay as a child process and the comparison on a background thread, and passes results to list
// and detail.
#include "viz/models/compare/replay_model.h"

#include "engine/base/error.h"
#include "replay/compare/report.h"
#include "viz/models/work/program_of_verbs.h"
#include "viz/models/work/reports.h"

namespace uopscope {
namespace {

constexpr int kLookMs = 300; ///< interval of reading a replay's progress

/// Of "/models/before.uopcorpus by this build" what says which it is.
QString nameOf(const QString& title) {
  return title.mid(title.lastIndexOf(QLatin1Char('/')) + 1);
}

} // namespace

ReplayModel::ReplayModel(Session& session, QObject* parent)
    : FilePage(session, QStringLiteral("choosing"), parent), bench_(std::make_shared<ReplayBench>()),
      detail_(jobs_, bench_), program_(programOfVerbs()) {
  connect(&list_, &ReplayList::chosen, this, [this](int change) {
    detail_.load(list_.diff()->changes[static_cast<size_t>(change)]);
    Q_EMIT titleChanged();
  });
  connect(&jobs_, &Jobs::progressed, this, [this](int channel, double share, const QString& what) {
    if (channel != ReplayDetail::Open) return;
    progress_ = share;
    doing_ = what;
    Q_EMIT progressChanged();
  });
  connect(&detail_, &ReplayDetail::linkReady, this, [this](const QString& trace, const QString& link) {
    if (trace.isEmpty()) return session_.showNotice(tr("There is nothing to step through on this side."));
    // A trace is opened by a job, so the link waits for it.
    const QString there = link + QStringLiteral("&tab=graph");
    if (session_.trace() && trace == session_.path())
      session_.follow(there);
    else
      session_.openAt(trace, there);
    setShown(false);
    session_.showNotice(tr("Ctrl Shift D leads back to the comparison."));
  });
  connect(&session_, &Session::corpusAsked, this, [this](const QString& path) { openFiles({path}); });
  connect(&replay_, &QProcess::finished, this, &ReplayModel::replayEnded);
  connect(&replay_, &QProcess::errorOccurred, this, [this](QProcess::ProcessError e) {
    if (e == QProcess::FailedToStart)
      fail(tr("%1 cannot be started: %2").arg(program_, replay_.errorString()));
  });
  clock_.setInterval(kLookMs);
  connect(&clock_, &QTimer::timeout, this, [this] {
    try {
      const auto all = Corpus::open(before_.toStdString()).entries().size();
      const auto done = Corpus::open(after_.toStdString()).entries().size();
      progress_ = static_cast<double>(done) / static_cast<double>(std::max<size_t>(all, 1));
      doing_ = tr("compiling %1 of %2")
                   .arg(grouped(static_cast<int64_t>(done)), grouped(static_cast<int64_t>(all)));
      Q_EMIT progressChanged();
    } catch (const Error&) { // the file is still empty
    }
  });
}

ReplayModel::~ReplayModel() {
  replay_.disconnect(this);
  replay_.kill();
  replay_.waitForFinished(1000);
}

void ReplayModel::fail(const QString& what) {
  clock_.stop();
  FilePage::fail(what);
}

void ReplayModel::clear() {
  cancel();
  before_.clear(), after_.clear(), headline_.clear(), warning_.clear(), error_.clear();
  list_.setDiff(nullptr);
  detail_.clear();
  setState(QStringLiteral("choosing"));
  Q_EMIT titleChanged();
}

void ReplayModel::openFiles(const QStringList& paths) {
  if (paths.isEmpty()) return;
  const bool second = paths.size() == 1 && shown_ && is("choosing") && !before_.isEmpty();
  const QString first = second ? before_ : localPath(paths[0]);
  const QString other = second ? localPath(paths[0]) : paths.size() > 1 ? localPath(paths[1]) : QString();
  clear();
  before_ = first, after_ = other;
  shown_ = true;
  Q_EMIT changed();
  if (!other.isEmpty()) compare();
}

void ReplayModel::swap() {
  std::swap(before_, after_);
  if (!before_.isEmpty() && !after_.isEmpty()) compare();
  Q_EMIT changed();
}

void ReplayModel::cancel() {
  jobs_.cancelAll();
  clock_.stop();
  if (replay_.state() != QProcess::NotRunning) {
    replay_.disconnect(this);
    replay_.kill();
    replay_.waitForFinished(1000);
    connect(&replay_, &QProcess::finished, this, &ReplayModel::replayEnded);
  }
  if (is("working")) {
    after_.clear();
    setState(QStringLiteral("choosing"));
  }
}

void ReplayModel::compareWithBuild() {
  if (before_.isEmpty()) return;
  cancel();
  after_ = folder_.filePath(QStringLiteral("this-build.uopcorpus"));
  QFile::remove(after_);
  progress_ = -1;
  doing_ = tr("compiling with this build");
  error_.clear();
  setState(QStringLiteral("working"));
  Q_EMIT progressChanged();
  clock_.start();
  replay_.start(program_, {QStringLiteral("replay"), QStringLiteral("run"), before_, QStringLiteral("-o"),
                           after_, QStringLiteral("-q")});
}

void ReplayModel::replayEnded(int code, QProcess::ExitStatus status) {
  clock_.stop();
  // Exit code 1: some inputs failed; the comparison reports them.
  if (status != QProcess::NormalExit || code > 1)
    return fail(
        tr("The replay ended early: %1").arg(QString::fromUtf8(replay_.readAllStandardError()).trimmed()));
  compare();
}

void ReplayModel::compare() {
  error_.clear();
  progress_ = -1;
  doing_ = tr("opening");
  list_.setDiff(nullptr);
  detail_.clear();
  setState(QStringLiteral("working"));
  Q_EMIT progressChanged();
  jobs_.ask(
      ReplayDetail::Open,
      [this, bench = bench_, before = before_.toStdString(), after = after_.toStdString(),
       ignore = ignoreNames()](Jobs::Job& job) -> Jobs::Answer {
        auto diff = bench->open(before, after, ignore, {job.progress, &job.stop});
        if (!diff) return {};
        const QString headlineText = QString::fromStdString(uopscope::headline(*diff));
        return [this, diff, headlineText] {
          headline_ = headlineText;
          warning_.clear();
          for (const std::string& w : diff->warnings)
            warning_ += (warning_.isEmpty() ? QString() : QStringLiteral(" ")) + QString::fromStdString(w);
          list_.setDiff(diff);
          setState(QStringLiteral("ready"));
          if (diff->anyChange() || diff->otherWay > 0) list_.chooseFirst();
          Q_EMIT titleChanged();
        };
      },
      [this](const QString& what) { fail(what); });
}

void ReplayModel::setIgnoreNames(bool on) {
  if (on == ignoreNames()) return;
  detail_.setIgnoreNames(on);
  if (is("ready")) compare();
  Q_EMIT changed();
}

QString ReplayModel::beforeName() const {
  return nameOf(list_.diff() ? QString::fromStdString(list_.diff()->beforeName) : before_);
}
QString ReplayModel::afterName() const {
  return nameOf(list_.diff() ? QString::fromStdString(list_.diff()->afterName) : after_);
}

QVariantMap ReplayModel::title() const {
  if (!list_.diff() || list_.current() < 0) return {};
  const Change& c = list_.diff()->changes[static_cast<size_t>(list_.current())];
  return {{"name", QString::fromStdString(c.entry().name)},
          {"place", QString::fromStdString(c.entry().place())},
          {"status", QString::fromUtf8(statusName(c.status))},
          {"sure", c.confidence},
          {"kind", c.entry().isKernel() ? QStringLiteral("kernel") : QStringLiteral("schedule")}};
}

// Handles an action while the page is in front: moves, drawing and analyses then apply to the page.
bool ReplayModel::trigger(const QString& action) {
  const auto asks = [&](const char* id) { return action == QLatin1String(id); };
  if (asks("replay")) {
    setShown(!shown_);
    return true;
  }
  if (!shown_) return false;
  if (asks("next-step") || asks("previous-step")) {
    detail_.move(asks("next-step") ? 1 : -1);
  } else if (asks("forward-many") || asks("back-many")) {
    detail_.move(asks("forward-many") ? 10 : -10);
  } else if (asks("first-step") || asks("last-step")) {
    detail_.setRow(asks("first-step") ? 0 : detail_.rows()->rowCount() - 1);
  } else if (asks("next-pass") || asks("previous-pass")) {
    detail_.movePass(asks("next-pass") ? 1 : -1);
  } else if (asks("next-changing") || asks("previous-changing")) {
    detail_.moveDifferent(asks("next-changing") ? 1 : -1);
  } else if (asks("next-kernel") || asks("previous-kernel")) {
    list_.move(asks("next-kernel") ? 1 : -1);
  } else if (asks("show-change")) {
    detail_.toParting();
  } else if (asks("turn")) {
    detail_.setLeftToRight(!detail_.leftToRight());
  } else if (asks("tab-graph") || asks("tab-compare")) {
    detail_.setWhat(asks("tab-graph") ? QStringLiteral("rewrites") : QStringLiteral("graph"));
  } else if (asks("tab-source") || asks("tab-ir") || asks("tab-asm")) {
    detail_.setWhat(action.mid(4));
  } else if (asks("search") || asks("filter")) {
    Q_EMIT uiAction(QStringLiteral("search"));
  } else if (asks("fit") || asks("zoom-in") || asks("zoom-out") || asks("zoom-reset")) {
    Q_EMIT uiAction(action);
  } else if (asks("escape") || asks("close")) {
    if (is("working"))
      cancel();
    else
      setShown(false);
  } else {
    return belongsToTrace(action);
  }
  return true;
}

} // namespace uopscope
