#include "viz/models/lab/what_if_model.h"

#include "viz/models/work/program_of_verbs.h"
#include "viz/models/work/reports.h"
#include "viz/models/work/table_text.h"

#include <sys/prctl.h>

#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QRegularExpression>
#include <algorithm>
#include <csignal>
#include <functional>
#include <utility>

namespace uopscope {
namespace {

constexpr int kWrongInput = 2; // the exit code of uopscope for a question that makes no sense

} // namespace

WhatIfModel::WhatIfModel(Session& session, QObject* parent)
    : QAbstractListModel(parent), session_(session), program_(programOfVerbs()) {
  lines_.setOnlyChanges(true);
  process_.setChildProcessModifier([] { prctl(PR_SET_PDEATHSIG, SIGTERM); });
  connect(&process_, &QProcess::finished, this, &WhatIfModel::ended);
  connect(&process_, &QProcess::errorOccurred, this, [this](QProcess::ProcessError e) {
    if (e != QProcess::FailedToStart) return;
    if (const auto variant = std::exchange(running_, {}).variant) {
      variant->problem = tr("%1 cannot be started: %2").arg(program_, process_.errorString());
      std::erase_if(waiting_, [&](const Run& r) { return r.variant == variant; });
    }
    show();
    next();
  });
  connect(&session_, &Session::opened, this, [this] {
    cancel();
    all_.clear();
    rules_.clear();
    scope_ = rulesOf_ = 0;
    wanted_.clear();
    loadKept();
    show();
  });
  connect(&session_, &Session::variantAsked, this, &WhatIfModel::openKept);
  connect(&session_, &Session::placeChanged, this, [this] {
    if (session_.scope() != scope_) show();
  });
}

WhatIfModel::~WhatIfModel() {
  process_.disconnect(this);
  process_.kill();
  process_.waitForFinished(1000);
}

void WhatIfModel::prepare() {
  if (!session_.trace() || rulesOf_ == session_.scope()) return;
  rulesOf_ = session_.scope();
  session_.jobs().ask(Channel::Lab, [this, scope = rulesOf_](Jobs::Job& job) -> Jobs::Answer {
    std::vector<MatchTotals> totals = job.trace().matchTotals(MatchGroup::Rule, scope);
    std::ranges::stable_sort(totals, std::greater(), [](const MatchTotals& t) {
      return t.count[static_cast<int>(Outcome::Applied)];
    });
    QStringList names;
    for (const MatchTotals& t : totals)
      if (t.count[static_cast<int>(Outcome::Applied)] > 0)
        names << QString::fromStdString(job.trace().rule(t.rule).name);
    names.removeDuplicates();
    return [this, names] {
      rules_ = names;
      Q_EMIT changed();
    };
  });
}

void WhatIfModel::withoutRule(const QString& rule) {
  ask({QStringLiteral("--without"), rule}, tr("without %1").arg(rule));
}

void WhatIfModel::withoutStep() {
  const StepId step = session_.step() > 0 ? session_.traceStep() : 0;
  if (step == 0) {
    problem_ = tr("Go to a step first: before it nothing was done that could be left out.");
    Q_EMIT changed();
    return;
  }
  ask({QStringLiteral("--without-step"), QString::number(step)},
      tr("without step %1 of %2").arg(session_.step()).arg(session_.passName()));
}

void WhatIfModel::alternative(int number) {
  ask({QStringLiteral("--alternative"), QStringLiteral("%1:%2").arg(session_.traceStep()).arg(number)},
      tr("alternative %1 of step %2").arg(number).arg(session_.step()));
}

void WhatIfModel::opts(const QString& text) {
  ask({QStringLiteral("--opts"), text.trimmed()}, tr("Opts %1").arg(text.trimmed()));
}

void WhatIfModel::byHand(const QString& text) {
  ask({QStringLiteral("--by-hand"), text}, tr("by hand: %1").arg(text.section(QLatin1Char(':'), 1)));
}

void WhatIfModel::add(const QString& text) {
  const QString wanted = text.trimmed();
  if (wanted.isEmpty()) return;
  static const QRegularExpression someOpts(QStringLiteral("^([A-Z]+\\b|none$)"));
  if (someOpts.match(wanted).hasMatch())
    opts(wanted);
  else
    withoutRule(wanted);
}

void WhatIfModel::ask(const QStringList& arguments, const QString& name) {
  problem_.clear();
  Q_EMIT asked();
  if (!session_.trace() || session_.scopeKind() != QLatin1String("kernel")) {
    problem_ = tr("Go to a kernel first: a schedule is not compiled again.");
    Q_EMIT changed();
    return;
  }
  const auto known = std::ranges::find_if(
      all_, [&](const auto& v) { return v->scope == session_.scope() && v->arguments == arguments; });
  if (known == all_.end()) {
    auto made = std::make_shared<Variant>(Variant{session_.scope(), arguments, name, {}, {}});
    all_.push_back(made);
    compile(made);
  }
  show();
  const auto at = std::ranges::find_if(shown_, [&](const auto& v) { return v->arguments == arguments; });
  setCurrent(static_cast<int>(at - shown_.begin()));
}

void WhatIfModel::compile(const std::shared_ptr<Variant>& variant) {
  variant->asked = true;
  waiting_.push_back({variant, false});
  waiting_.push_back({variant, true});
  // The code of the last question comes before the times of earlier ones.
  std::ranges::stable_partition(waiting_, [](const Run& r) { return !r.times; });
  if (process_.state() == QProcess::NotRunning) next();
}

void WhatIfModel::next() {
  if (!waiting_.empty()) {
    running_ = waiting_.front();
    waiting_.pop_front();
    QStringList arguments{QStringLiteral("whatif"), session_.path(), QStringLiteral("--kernel"),
                          QString::number(running_.variant->scope), QStringLiteral("--json")};
    arguments += running_.variant->arguments;
    if (!running_.times) {
      static int number = 0; // names in the folder of this window
      running_.variant->corpora = folder_.filePath(QStringLiteral("variant%1").arg(++number));
      arguments << QStringLiteral("--no-times") << QStringLiteral("--keep") << running_.variant->corpora;
    }
    if (running_.times && session_.ownRecording()) arguments << QStringLiteral("--trust");
    process_.start(program_, arguments);
  }
  Q_EMIT changed();
}

void WhatIfModel::ended(int code, QProcess::ExitStatus status) {
  const Run run = std::exchange(running_, {});
  if (!run.variant) return next(); // it was removed, or cancelled
  const QJsonArray kernels =
      QJsonDocument::fromJson(process_.readAllStandardOutput()).object()[QStringLiteral("kernels")].toArray();
  QString fault = QString::fromUtf8(process_.readAllStandardError()).trimmed().section(QLatin1Char('\n'), -1);
  fault.remove(QRegularExpression(QStringLiteral("^uopscope: ")));
  if (!kernels.isEmpty()) {
    const QJsonObject kernel = kernels[0].toObject();
    run.variant->result = kernel[QStringLiteral("variants")].toArray().at(0).toObject();
    run.variant->timed = run.times;
    const auto base = std::ranges::find_if(
        all_, [&](const auto& v) { return v->scope == run.variant->scope && v->arguments.isEmpty(); });
    if (base == all_.end())
      all_.push_back(std::make_shared<Variant>(
          Variant{run.variant->scope, {}, {}, {}, kernel[QStringLiteral("base")].toObject(), run.times}));
    else if (run.times || !(*base)->timed)
      (*base)->result = kernel[QStringLiteral("base")].toObject(), (*base)->timed = run.times;
  } else if (run.times) { // the code is there; only the times are not
    run.variant->timed = true;
    run.variant->result[QStringLiteral("unmeasured")] = fault.isEmpty() ? tr("it was not run") : fault;
  } else {
    run.variant->problem = status == QProcess::NormalExit && !fault.isEmpty()
                               ? fault
                               : tr("The compilation ended with exit code %1.").arg(code);
    run.variant->refused = status == QProcess::NormalExit && code == kWrongInput;
    std::erase_if(waiting_, [&](const Run& r) { return r.variant == run.variant; });
  }
  show();
  next();
}

void WhatIfModel::cancel() {
  waiting_.clear();
  if (process_.state() != QProcess::NotRunning) {
    running_ = {};
    process_.kill();
    process_.waitForFinished(1000);
  }
  Q_EMIT changed();
}

void WhatIfModel::remove(int row) {
  if (row < 1 || row >= count()) return;
  const auto gone = shown_[static_cast<size_t>(row)];
  std::erase_if(waiting_, [&](const Run& r) { return r.variant == gone; });
  if (running_.variant == gone) {
    running_ = {};
    process_.kill();
  }
  if (!gone->kept.isEmpty()) {
    setCurrent(row);
    keep({});
    if (!gone->kept.isEmpty()) return; // the file cannot be written, and said so
  }
  std::erase(all_, gone);
  show();
}

// Makes the rows of the present kernel. The chosen row stays chosen by its name.
void WhatIfModel::show() {
  const Variant* before = chosen();
  const QStringList kept = before && scope_ == session_.scope() ? before->arguments : QStringList();
  beginResetModel();
  scope_ = session_.scope();
  shown_.clear();
  for (const auto& v : all_)
    if (v->scope == scope_) shown_.push_back(v);
  arrange();
  if (!shown_.empty() && !shown_.front()->arguments.isEmpty())
    shown_.insert(shown_.begin(), std::make_shared<Variant>(Variant{scope_, {}, {}, {}, {}}));
  const auto at = std::ranges::find_if(shown_, [&](const auto& v) { return v->arguments == kept; });
  current_ = at == shown_.end() ? 0 : static_cast<int>(at - shown_.begin());
  endResetModel();
  showLines();
  const auto wanted =
      std::ranges::find_if(shown_, [&](const auto& v) { return !wanted_.isEmpty() && v->kept == wanted_; });
  if (wanted == shown_.end()) return;
  wanted_.clear();
  setCurrent(static_cast<int>(wanted - shown_.begin()));
}

void WhatIfModel::setCurrent(int row) {
  if (row < 0 || row >= count()) return;
  current_ = row;
  if (const auto variant = shown_[static_cast<size_t>(row)]; !variant->asked) compile(variant);
  showLines();
}

void WhatIfModel::showLines() {
  const Variant* v = chosen();
  const QString before = v ? shown_.front()->result[QStringLiteral("source")].toString() : QString();
  const QString after = v ? v->result[QStringLiteral("source")].toString() : QString();
  lines_.setRows(before.isEmpty() || after.isEmpty() ? std::vector<TextRow>()
                                                     : compareTexts(before, after, Language::C));
  lines_.setOnlyChanges(current_ > 0);
  Q_EMIT changed();
}

const WhatIfModel::Variant* WhatIfModel::chosen() const {
  return current_ >= 0 && current_ < count() ? shown_[static_cast<size_t>(current_)].get() : nullptr;
}

QString WhatIfModel::sentence() const {
  const Variant* v = chosen();
  if (!v) return {};
  if (!v->problem.isEmpty()) return v->problem;
  const QString unmeasured = v->result[QStringLiteral("unmeasured")].toString();
  const QString fault = v->result[QStringLiteral("problem")].toString();
  if (!fault.isEmpty()) return tr("It does not compile: %1").arg(fault);
  QString text = v->result[QStringLiteral("difference")].toString();
  if (text.isEmpty() && v->result[QStringLiteral("same_code")].toBool()) text = tr("Nothing changes.");
  if (!unmeasured.isEmpty())
    text += (text.isEmpty() ? QString() : QStringLiteral(" — ")) + tr("not timed: %1").arg(unmeasured);
  return text;
}

QString WhatIfModel::chosenOpts() const {
  const Variant* v = chosen();
  return v ? v->result[QStringLiteral("opts")].toString() : QString();
}

QStringList WhatIfModel::both() const {
  const Variant* v = chosen();
  if (!v || v->corpora.isEmpty() || v->result.isEmpty() || current_ == 0) return {};
  const QStringList files{v->corpora + QStringLiteral("-0.uopcorpus"),
                          v->corpora + QStringLiteral("-1.uopcorpus")};
  return std::ranges::all_of(files, [](const QString& f) { return QFile::exists(f); }) ? files
                                                                                       : QStringList();
}

QString WhatIfModel::partingPass() const {
  const Variant* v = chosen();
  return v ? v->result[QStringLiteral("pass")].toString() : QString();
}

void WhatIfModel::goToParting() {
  const Variant* v = chosen();
  const QString pass = partingPass();
  if (pass.isEmpty()) return;
  if (session_.follow(QStringLiteral("kernel=%1&pass=%2").arg(v->scope).arg(pass)))
    session_.setTab(QStringLiteral("graph"));
}

int WhatIfModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : count();
}

QVariant WhatIfModel::textOf(const Variant& v, int role) const {
  const QJsonObject& r = v.result;
  auto number = [&](const char* key) {
    return r.isEmpty() ? QString() : grouped(r[QLatin1String(key)].toInteger());
  };
  const double seconds = r[QStringLiteral("seconds")].toDouble(),
               ratio = r[QStringLiteral("ratio")].toDouble(1), low = r[QStringLiteral("low")].toDouble(1),
               high = r[QStringLiteral("high")].toDouble(1);
  const bool base = v.arguments.isEmpty(), sure = low > 1 || high < 1;
  const bool failed = !v.problem.isEmpty() || !r[QStringLiteral("problem")].toString().isEmpty();
  const bool wrong = r[QStringLiteral("wrong")].toBool();
  switch (role) {
  case NameRole:
    return base ? tr("as it is") : !v.kept.isEmpty() ? v.kept : r[QStringLiteral("name")].toString(v.name);
  case RewritesRole: return number("rewrites");
  case LinesRole: return number("lines");
  case InstructionsRole: return number("instructions");
  case RegistersRole: return number("registers");
  case SpillsRole: return number("spills");
  case TimeRole: return seconds > 0 ? duration(static_cast<int64_t>(seconds * 1e9)) : QString();
  case RatioRole:
    if (base || seconds <= 0) return QString();
    return !sure       ? tr("within noise")
           : ratio < 1 ? tr("%1 × as fast").arg(1 / ratio, 0, 'f', 2)
                       : tr("%1 × as long").arg(ratio, 0, 'f', 2);
  case VerdictRole:
    if (base) return QString();
    if (v.refused)
      return v.arguments.startsWith(QLatin1String("--without")) ? tr("unknown rule") : tr("not possible");
    if (failed) return tr("does not compile");
    if (r.isEmpty()) return v.asked ? tr("compiling …") : tr("kept");
    if (wrong) return tr("other results");
    if (r[QStringLiteral("same_code")].toBool()) return tr("the same code");
    if (!v.timed) return tr("measuring …");
    return seconds > 0 ? tr("the same results") : tr("not timed");
  case ToneRole:
    if (failed || wrong) return QStringLiteral("bad");
    if (!base && seconds > 0 && sure) return ratio < 1 ? QStringLiteral("better") : QStringLiteral("worse");
    return !base && v.asked && !v.timed ? QStringLiteral("working") : QString();
  case BaseRole: return base;
  default: return {};
  }
}

QVariant WhatIfModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid() || index.row() >= count()) return {};
  return textOf(*shown_[static_cast<size_t>(index.row())], role);
}

QHash<int, QByteArray> WhatIfModel::roleNames() const {
  return {{NameRole, "name"},
          {RewritesRole, "rewrites"},
          {LinesRole, "lineCount"},
          {InstructionsRole, "instructions"},
          {RegistersRole, "registers"},
          {SpillsRole, "spills"},
          {TimeRole, "time"},
          {RatioRole, "ratio"},
          {VerdictRole, "verdict"},
          {ToneRole, "tone"},
          {BaseRole, "base"}};
}

QString WhatIfModel::exportTo(const QString& path) const {
  const QStringList names{tr("variant"), tr("rewrites"), tr("lines"),    tr("instructions"), tr("registers"),
                          tr("spills"),  tr("time"),     tr("compared"), tr("result")};
  QList<QVariantList> rows;
  for (const auto& v : shown_) {
    QVariantList row;
    for (const int role : {NameRole, RewritesRole, LinesRole, InstructionsRole, RegistersRole, SpillsRole,
                           TimeRole, RatioRole, VerdictRole})
      row << textOf(*v, role);
    rows << row;
  }
  return writeTable(path, names, rows);
}

} // namespace uopscope
