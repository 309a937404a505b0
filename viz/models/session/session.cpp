// Opens, records and follows a trace.
#include "viz/models/session/session.h"

#include "replay/schema/schema.h"
#include "viz/models/session/actions.h"
#include "viz/models/session/script_consent.h"
#include "viz/models/work/program_of_verbs.h"

#include <QDateTime>
#include <QDir>
#include <QFileInfo>
#include <QRegularExpression>
#include <QStandardPaths>
#include <algorithm>
#include <utility>

namespace uopscope {
namespace {
/// Keeps the latest recordings that the window made; whoever wants one for longer records it by a name.
void removeOldRecordings(const QString& folder) {
  constexpr qsizetype kKept = 20;
  const QFileInfoList found =
      QDir(folder).entryInfoList({QStringLiteral("*.uoptrace")}, QDir::Files, QDir::Time); // the latest first
  for (const QFileInfo& old : found.mid(std::min(kKept, found.size())))
    for (const char* suffix : {"", "-wal", "-shm"}) QFile::remove(old.filePath() + QLatin1String(suffix));
}

constexpr int kRefreshMs = 350;
/// Scopes whose passes are read at a look at a growing trace: the newest.
constexpr size_t kScopesPerLook = 64;
/// Passes that the window keeps without being asked for them, about 300 bytes each.
constexpr size_t kPassesKept = 100'000;

/// Whether a child of the window makes a trace of the file.
bool becomesTrace(const QString& path) {
  return path.endsWith(QLatin1String(".py")) || RecordingProcess::imports(path);
}

} // namespace

Session::Session(QObject* parent) : QObject(parent), jump_(*this), program_(programOfVerbs()) {
  clock_.setInterval(kRefreshMs);
  connect(&clock_, &QTimer::timeout, this, &Session::tick);
  connect(&preferences_, &Preferences::read, this, &Session::readLook);
  connect(&preferences_, &Preferences::notice, this, &Session::showNotice);
  connect(&recorder_, &RecordingProcess::finished, this, &Session::tick);
  connect(&recorder_, &RecordingProcess::changed, this, &Session::stateChanged);
  connect(&jobs(), &Jobs::idleChanged, this, &Session::busyChanged);
  connect(&jobs(), &Jobs::idleChanged, this, &Session::doQueued);
  connect(&jobs(), &Jobs::failed, this, &Session::showNotice);
  connect(&pictures_, &Pictures::pictureReady, this,
          [this](PicturePtr picture, const QVariantMap& step, qlonglong followed) {
            stepInfo_ = step;
            qlonglong lookAt = -1;
            if (at_.node >= 0) {
              if (followed < 0 && nodeAsked_)
                showNotice(tr("Node #%1 is not in the graph of this step.").arg(at_.node));
              const bool look = nodeAsked_ && followed >= 0;
              nodeAsked_ = false;
              lookAt = look ? followed : -1;
              at_.node = followed;
              graph_.setSelected(at_.node);
            }
            graph_.setPicture(std::move(picture));
            if (lookAt >= 0) Q_EMIT focusAsked(lookAt);
            Q_EMIT stepInfoChanged();
            if (at_.node >= 0)
              pictures_.askNode(question(), static_cast<NodeId>(at_.node));
            else
              nodeInfo_.clear();
            Q_EMIT nodeChanged();
            Q_EMIT placeChanged();
          });
  connect(&pictures_, &Pictures::nodeReady, this, [this](qlonglong node, const QVariantMap& report) {
    if (node != at_.node) return;
    nodeInfo_ = report;
    int line = 0;
    for (const QVariant& o : report[QStringLiteral("origins")].toList())
      if (line == 0) line = o.toMap()[QStringLiteral("place")].toMap()[QStringLiteral("line")].toInt();
    if (line > 0) script_.setCurrentLine(line);
    Q_EMIT nodeChanged();
  });
  connect(&pictures_, &Pictures::statsReady, this, [this](const auto& rows) { stats_.setRows(rows); });
  connect(&pictures_, &Pictures::textReady, this,
          [this](qlonglong, const QString& kind, const QString& text, bool exists,
                 const std::shared_ptr<const LineRegisters>& registers) {
            if (exists)
              code_.setText(kind, text, languageOf(kind), registers);
            else if (scopeKind_ == QLatin1String("kernel"))
              code_.setMissing(kind == QLatin1String("source")
                                   ? tr("No source was recorded for this kernel: it failed before it was "
                                        "rendered, or it is still being compiled.")
                                   : tr("This kernel's device recorded no %1.")
                                         .arg(kind == QLatin1String("ir")    ? tr("intermediate code")
                                              : kind == QLatin1String("asm") ? tr("assembly")
                                                                             : tr("linear program")));
            else
              code_.setMissing(
                  tr("%1 is not a kernel. Code belongs to kernels: choose one in the tree.").arg(scopeName_));
          });
}

Session::~Session() = default;

QString Session::fileName() const {
  return QFileInfo(path_).fileName();
}
void Session::showNotice(const QString& text) {
  notice_ = text;
  Q_EMIT noticeChanged();
}

void Session::fail(const QString& text) {
  close();
  state_ = QStringLiteral("error");
  error_ = text;
  Q_EMIT stateChanged();
}

void Session::open(const QString& path) {
  QString file = path;
  if (file.startsWith(QLatin1String("file://"))) file.remove(0, 7);
  if (!QFileInfo::exists(file)) {
    fail(tr("%1 does not exist. Check the path, or choose another file.").arg(file));
    return;
  }
  if (becomesTrace(file))
    record(file);
  else if (file.endsWith(QLatin1String(".uopcorpus")))
    Q_EMIT corpusAsked(QFileInfo(file).absoluteFilePath());
  else if (file.endsWith(QLatin1String(".uopbench")))
    Q_EMIT experimentAsked(QFileInfo(file).absoluteFilePath());
  else
    openTrace(QFileInfo(file).absoluteFilePath());
}

void Session::openAt(const QString& path, const QString& link) {
  linkAfter_ = link;
  open(path);
}

void Session::followAfter() {
  if (!linkAfter_.isEmpty()) follow(std::exchange(linkAfter_, QString()));
}

void Session::openTrace(const QString& path, bool unlessEmpty) {
  if (!unlessEmpty) {
    close();
    path_ = path;
    state_ = QStringLiteral("opening");
    Q_EMIT stateChanged();
  }
  readers_.open(
      path, [this, path] { showOpened(path); },
      [this, path, unlessEmpty](const QString& what) {
        if (unlessEmpty && recorder_.running()) return; // not a trace yet: the next tick looks again
        path_ = path;
        fail(ownRecording() ? what + QLatin1Char('\n') + recorder_.output() : what);
      },
      unlessEmpty);
}

void Session::showOpened(const QString& path) {
  path_ = path;
  state_ = QStringLiteral("ready");
  growing_ = !trace()->finished();
  tree_.reset();
  loadSummary();
  loadScript();
  if (growing_ || recorder_.running()) clock_.start();
  preferences_.addRecent(path);
  if (const std::string& problem = trace()->facts().problem; !problem.empty())
    showNotice(QString::fromStdString(problem));
  Q_EMIT stateChanged();
  Q_EMIT opened();
  goToFirst();
  entered_ = at_;
  askTab();
  if (!growing_ && !recorder_.running()) followAfter();
  readers_.readAhead();
}

void Session::close() {
  clock_.stop();
  steps_.setPass(nullptr, nullptr);
  queued_.clear();
  arrangement_ = {};
  readers_.close();
  tree_.reset();
  history_.clear();
  graph_.setPicture(nullptr);
  graph_.setFound({});
  graph_.setSelected(-1);
  stats_.setRows(nullptr);
  code_.setMissing({});
  script_.setMissing({});
  codeShown_.clear();
  state_ = QStringLiteral("empty");
  error_.clear();
  warning_.clear();
  growing_ = false;
  at_.scope = 0, at_.pass = 0, at_.step = 0, at_.node = -1, at_.interval = 1;
  scopeName_.clear(), scopeKind_.clear(), passName_.clear(), passPlace_.clear(), passProblem_.clear();
  nodeInfo_.clear(), stepInfo_.clear(), summary_.clear(), failure_.clear();
  hasOutput_ = false;
  Q_EMIT stateChanged();
  Q_EMIT placeChanged();
  Q_EMIT nodeChanged();
  Q_EMIT stepInfoChanged();
  Q_EMIT opened();
}

void Session::record(const QString& script) {
  if (recorder_.running()) {
    showNotice(
        tr("%1 is still being recorded. Cancel it first.").arg(QFileInfo(recorder_.script()).fileName()));
    return;
  }
  close();
  const QString folder =
      QStandardPaths::writableLocation(QStandardPaths::CacheLocation) + QStringLiteral("/traces");
  if (!QDir().mkpath(folder)) {
    fail(tr("The folder %1 for traces cannot be made. Check its permissions.").arg(folder));
    return;
  }
  removeOldRecordings(folder);
  const QString trace = folder + QLatin1Char('/') + QFileInfo(script).completeBaseName() + QLatin1Char('-') +
                        QDateTime::currentDateTime().toString(QStringLiteral("yyyyMMdd-HHmmss-zzz")) +
                        QStringLiteral(".uoptrace");
  path_ = script;
  state_ = QStringLiteral("recording");
  recorder_.start(program_, script, trace);
  clock_.start();
  Q_EMIT stateChanged();
}

void Session::recordAgain() {
  const QString script = trace() ? QString::fromStdString(trace()->scriptFile().file) : recorder_.script();
  if (becomesTrace(script) && QFileInfo::exists(script)) {
    if (mayRun(*this, script)) record(script);
  } else {
    showNotice(tr("This trace does not name a script that is still there."));
  }
}

// Reads the new content of a growing trace, or shows a recording as soon as it has content.
void Session::tick() {
  if (state_ == QLatin1String("recording")) {
    if (QFileInfo::exists(recorder_.trace())) {
      // A trace that will not grow is shown as it is.
      if (!recorder_.running())
        openTrace(recorder_.trace());
      else if (!jobs().busy(Channel::Open))
        openTrace(recorder_.trace(), true);
    } else if (!recorder_.running()) {
      fail((recorder_.problem().isEmpty() ? tr("Nothing was recorded.") : recorder_.problem()) +
           QStringLiteral("\n\n") + recorder_.output());
    }
    return;
  }
  if (trace() && !jobs().busy(Channel::Growth)) lookForMore();
}

// Of a recording that goes on for hours, passes are kept up to a number; those of the present scope always.
std::vector<ScopeId> Session::scopesToRead() const {
  if (trace()->passCount() < kPassesKept) return trace()->stale(kScopesPerLook);
  return at_.scope ? std::vector<ScopeId>{at_.scope} : std::vector<ScopeId>{};
}

// A walk over the passes of a long recording takes longer than a frame, so a reader's thread makes it.
void Session::lookForMore(std::function<void()> then) {
  jobs().ask(
      Channel::Growth,
      [this, then = std::move(then), entrance = at_.pass == 0 || !recorder_.running(),
       stale = scopesToRead()](Jobs::Job& job) -> Jobs::Answer {
        job.trace().refresh();
        struct Found {
          TraceFacts facts;
          std::vector<std::pair<ScopeId, ScopePassesPtr>> passes;
        };
        auto found = std::make_shared<Found>();
        found->facts = readTraceFacts(job.trace(), entrance);
        for (const ScopeId scope : stale) found->passes.emplace_back(scope, readPasses(job.trace(), scope));
        return [this, found, then] {
          for (auto& [scope, passes] : found->passes) readers_.trace()->learn(scope, std::move(passes));
          followGrowth(std::move(found->facts));
          if (then) then();
        };
      },
      [this](const QString& what) {
        clock_.stop();
        showNotice(what);
      });
}

void Session::followGrowth(TraceFacts facts) {
  try {
    const bool grew = readers_.adopt(std::move(facts)), was = growing_;
    // A recorder of ours that is gone writes nothing more, whatever it left in the trace.
    const bool going = !trace()->finished() && (!ownRecording() || recorder_.running());
    if (grew) {
      tree_.refresh();
      loadSummary();
      const int64_t before = steps_.count();
      if (at_.pass && trace()->knowsPass(at_.pass)) steps_.setPass(trace(), &trace()->pass(at_.pass));
      if (at_.pass == 0) {
        goToFirst();
        entered_ = at_;
      } else if (steps_.count() != before) {
        askPicture();
      }
      Q_EMIT placeChanged();
    }
    if (!going && !recorder_.running()) {
      clock_.stop();
      growing_ = false;
      loadSummary();
      loadScript();
      codeShown_.clear();
      askTab();
      // The first pass of a recording is seldom the most instructive: a user who has not moved is taken to that one.
      if (entered_.sameStep(at_) && trace()->facts().openingScope) goToFirst();
      followAfter();
    }
    if (was != going || grew) {
      growing_ = going;
      Q_EMIT stateChanged();
      Q_EMIT grown();
    }
  } catch (const std::exception& e) {
    clock_.stop();
    showNotice(QString::fromUtf8(e.what()));
  }
}

void Session::loadSummary() {
  int kernels = 0, schedules = 0;
  int64_t steps = 0;
  for (const ScopeInfo& s : trace()->scopes()) {
    kernels += s.kind == ScopeKind::Kernel;
    schedules += s.kind == ScopeKind::Schedule;
    if (s.parent == 0) steps += s.totalSteps;
  }
  warning_ = growing_ && recorder_.running() ? QString() : QString::fromStdString(trace()->facts().warning);
  if (ownRecording() && !recorder_.running() && !trace()->finished()) warning_ = recorder_.problem();
  summary_ = {{"kernels", kernels},
              {"schedules", schedules},
              {"steps", grouped(steps)},
              {"script", QString::fromStdString(trace()->scriptFile().file)},
              {"scriptName", QFileInfo(QString::fromStdString(trace()->scriptFile().file)).fileName()},
              {"tier", QString::fromStdString(trace()->meta("tier"))},
              {"bytes", QFileInfo(path_).size()}};
  hasOutput_ = trace()->facts().hasOutput;
  loadFailure();
}

// The recorder's message ends with the script's line: "ValueError: no such axis (model.py:5)".
void Session::loadFailure() {
  failure_.clear();
  if (growing_ || trace()->status() != traceStatus::kFailed) return;
  const QString text = QString::fromStdString(trace()->meta("message"));
  static const QRegularExpression place(QStringLiteral("\\((?:at )?([^()]+):(\\d+)\\)$"));
  const QRegularExpressionMatch at = place.match(text);
  const bool own = QFileInfo(at.captured(1)).fileName() ==
                   QFileInfo(QString::fromStdString(trace()->scriptFile().file)).fileName();
  failure_ = {{"text", text}, {"line", own ? at.captured(2).toInt() : 0}};
}

QString Session::outputText() {
  constexpr qsizetype kMost = 400'000;
  if (ownRecording() || !trace()) return recorder_.output();
  const QString text = QString::fromStdString(trace()->facts().output);
  return text.size() > kMost ? tr("... earlier output left out ...\n") + text.right(kMost) : text;
}

QString Session::suggestedName(const QString& ending) const {
  QStringList parts{QFileInfo(summary_[QStringLiteral("scriptName")].toString()).completeBaseName()};
  if (parts.first().isEmpty()) parts = {QFileInfo(path_).completeBaseName()};
  const bool ofTrace = at_.tab == QLatin1String("script") || at_.tab == QLatin1String("timeline") ||
                       at_.tab == QLatin1String("sql") || at_.tab == QLatin1String("profile") ||
                       at_.tab == QLatin1String("stats");
  if (!ofTrace) parts << scopeName_;
  if (at_.tab == QLatin1String("graph"))
    parts << passName_ << QString::number(at_.step);
  else
    parts << at_.tab;
  static const QRegularExpression odd(QStringLiteral("[^\\w.]+"));
  for (QString& part : parts) part = part.replace(odd, QStringLiteral("_"));
  parts.removeAll(QString());
  return parts.join(QLatin1Char('-')) + QLatin1Char('.') + ending;
}

void Session::loadScript() {
  const std::string file = trace()->scriptName();
  const auto& text = trace()->facts().scriptText;
  if (!text) {
    script_.setMissing(file.empty()
                           ? tr("This trace does not come from a script.")
                           : tr("The trace does not hold the text of %1.").arg(QString::fromStdString(file)));
    return;
  }
  script_.setText(QFileInfo(QString::fromStdString(file)).fileName(), QString::fromStdString(*text),
                  languageOf(QString::fromStdString(file)));
  struct Made {
    int kernels = 0;
    int64_t steps = 0;
    ScopeId first = 0;
  };
  std::map<int, Made> made;
  for (const ScopeInfo& s : trace()->scopes()) {
    if (s.script.file != file || s.script.line <= 0 || s.kind == ScopeKind::Script) continue;
    Made& m = made[s.script.line];
    m.kernels += s.kind == ScopeKind::Kernel;
    m.steps += s.steps;
    if (s.kind == ScopeKind::Kernel && (m.first == 0 || trace()->scope(m.first).kind != ScopeKind::Kernel))
      m.first = s.id;
    if (m.first == 0) m.first = s.id;
  }
  std::map<int, CodeModel::Note> notes;
  for (const auto& [line, m] : made)
    notes[line] = {counted(m.kernels, tr("1 kernel"), tr("%1 kernels")) + QStringLiteral(", ") +
                       counted(m.steps, tr("1 step"), tr("%1 steps")),
                   m.first};
  script_.setNotes(std::move(notes));
  script_.setFault(failure_[QStringLiteral("line")].toInt(), failure_[QStringLiteral("text")].toString());
}

} // namespace uopscope
