#include "viz/models/lab/rule_model.h"

#include "engine/codegen/kernel_passes.h"
#include "viz/models/work/program_of_verbs.h"
#include "viz/models/work/reports.h"
#include "viz/models/work/table_text.h"
#include "viz/pictures/rule_picture.h"

#include <sys/prctl.h>

#include <QFile>
#include <QFileInfo>
#include <QJsonArray>
#include <QJsonDocument>
#include <QRegularExpression>
#include <csignal>
#include <utility>

namespace uopscope {
namespace {

constexpr const char* kFirst = R"(from tinygrad import dtypes
from tinygrad.uop.ops import UOp, UPat, Ops, PatternMatcher

after = "initial symbolic"  # the pass that the rules follow

def power_of_two(x, c):
  if not isinstance(c.arg, int) or c.arg < 1: return None  # declined: a vector, or no power of two
  bits = c.arg.bit_length() - 1
  if c.arg != 1 << bits: return None
  return x.alu(Ops.SHL, x.const_like(bits))

rules = PatternMatcher([
  (UPat.var("x", dtypes.ints) * UPat.cvar("c"), power_of_two),
])
)";

QString str(const QJsonObject& o, const char* key) {
  return o[QLatin1String(key)].toString();
}
qlonglong number(const QJsonObject& o, const char* key) {
  return o[QLatin1String(key)].toInteger();
}

const QStringList& names() {
  static const QStringList all = [] {
    QStringList out{QStringLiteral("PatternMatcher"),
                    QStringLiteral("UPat"),
                    QStringLiteral("UPat.var"),
                    QStringLiteral("UPat.cvar"),
                    QStringLiteral("UPat.const"),
                    QStringLiteral("UPat.any"),
                    QStringLiteral("UOp"),
                    QStringLiteral("UOp.const"),
                    QStringLiteral("x.alu"),
                    QStringLiteral("const_like"),
                    QStringLiteral("replace"),
                    QStringLiteral("vmin"),
                    QStringLiteral("vmax"),
                    QStringLiteral("dtype"),
                    QStringLiteral("src"),
                    QStringLiteral("arg"),
                    QStringLiteral("name"),
                    QStringLiteral("allow_any_len"),
                    QStringLiteral("dtypes.int"),
                    QStringLiteral("dtypes.ints"),
                    QStringLiteral("dtypes.float"),
                    QStringLiteral("dtypes.floats"),
                    QStringLiteral("dtypes.index"),
                    QStringLiteral("dtypes.bool"),
                    QStringLiteral("dtypes.half"),
                    QStringLiteral("dtypes.long"),
                    QStringLiteral("dtypes.uint"),
                    QStringLiteral("after"),
                    QStringLiteral("rules"),
                    QStringLiteral("return None")};
    for (int op = 0; op < static_cast<int>(kOpCount); ++op)
      out << QStringLiteral("Ops.") +
                 QString::fromUtf8(opName(static_cast<Op>(op)).data(),
                                   static_cast<qsizetype>(opName(static_cast<Op>(op)).size()));
    for (const std::string_view pass : kernelPassNames())
      out << QLatin1Char('"') + QString::fromUtf8(pass.data(), static_cast<qsizetype>(pass.size())) +
                 QLatin1Char('"');
    return out;
  }();
  return all;
}

} // namespace

RuleModel::RuleModel(Session& session, QObject* parent)
    : QObject(parent), session_(session), text_(QString::fromUtf8(kFirst)), program_(programOfVerbs()) {
  process_.setChildProcessModifier([] { prctl(PR_SET_PDEATHSIG, SIGTERM); });
  connect(&process_, &QProcess::finished, this, &RuleModel::ended);
  connect(&process_, &QProcess::errorOccurred, this, [this](QProcess::ProcessError e) {
    if (e != QProcess::FailedToStart) return;
    problem_ = tr("%1 cannot be started: %2").arg(program_, process_.errorString());
    Q_EMIT changed();
  });
  connect(&session_, &Session::opened, this, [this] {
    cancel();
    result_ = {};
    setChosen(-1);
    Q_EMIT changed();
  });
}

RuleModel::~RuleModel() {
  process_.disconnect(this);
  process_.kill();
  process_.waitForFinished(1000);
}

void RuleModel::setText(const QString& text) {
  if (text == text_) return;
  text_ = text;
  Q_EMIT textChanged();
}

/// The path of the text, written to a file of this window's own.
QString RuleModel::written() {
  const QString name = file_.isEmpty() ? QStringLiteral("rules.py") : QFileInfo(file_).fileName();
  QString path = folder_.filePath(name);
  if (const QString fault = writeText(path, text_); !fault.isEmpty()) {
    problem_ = fault;
    return {};
  }
  return path;
}

void RuleModel::run(bool times) {
  if (busy()) return;
  problem_.clear();
  problemLine_ = 0;
  result_ = {};
  setChosen(-1);
  const QString path = session_.trace() ? written() : QString();
  if (!session_.trace()) problem_ = tr("Open a trace first: rules are tried on its graphs.");
  if (!path.isEmpty()) {
    QStringList arguments{QStringLiteral("rule"), path, session_.path(), QStringLiteral("--json")};
    if (times) arguments << QStringLiteral("--times");
    if (times && session_.ownRecording()) arguments << QStringLiteral("--trust");
    process_.start(program_, arguments);
  }
  Q_EMIT changed();
}

void RuleModel::cancel() {
  if (!busy()) return;
  cancelled_ = true;
  process_.kill(); // its own child dies with it
  process_.waitForFinished(1000);
}

void RuleModel::ended(int code, QProcess::ExitStatus status) {
  const QByteArray out = process_.readAllStandardOutput();
  QString fault = QString::fromUtf8(process_.readAllStandardError()).trimmed().section(QLatin1Char('\n'), -1);
  fault.remove(QRegularExpression(QStringLiteral("^uopscope: ")));
  result_ = QJsonDocument::fromJson(out).object();
  if (std::exchange(cancelled_, false)) {
    problem_ = tr("Cancelled.");
  } else if (result_.isEmpty()) {
    problem_ = status == QProcess::NormalExit && !fault.isEmpty()
                   ? fault
                   : tr("It ended with exit code %1.").arg(code);
    problem_.remove(folder_.path() + QLatin1Char('/'));
    static const QRegularExpression line(QStringLiteral("\\.py:(\\d+): "));
    if (const auto m = line.match(problem_); m.hasMatch()) problemLine_ = m.captured(1).toInt();
  }
  Q_EMIT changed();
  setChosen(places().isEmpty() ? -1 : 0);
}

void RuleModel::setChosen(int place) {
  const QVariantList all = places();
  chosen_ = place >= 0 && place < all.size() ? place : -1;
  const QVariantMap at = chosen_ < 0 ? QVariantMap() : all[chosen_].toMap();
  auto drawn = [&](const char* key) -> PicturePtr {
    const QByteArray text = at[QLatin1String(key)].toByteArray();
    return text.isEmpty() ? nullptr : pictureOf(nlohmann::json::parse(text.toStdString(), nullptr, false));
  };
  pattern_.setPicture(drawn("pattern"));
  rewrite_.setPicture(drawn("picture"));
  Q_EMIT chosenChanged();
}

void RuleModel::open(const QString& path) {
  QFile in(path);
  if (!in.open(QIODevice::ReadOnly)) {
    problem_ = tr("%1 cannot be read: %2").arg(path, in.errorString());
  } else {
    file_ = path;
    setText(QString::fromUtf8(in.readAll()));
    problem_.clear();
  }
  Q_EMIT changed();
}

QString RuleModel::save(const QString& path) {
  const QString fault = writeText(path, text_);
  if (fault.isEmpty()) file_ = path;
  Q_EMIT changed();
  return fault;
}

void RuleModel::record() {
  if (!file_.isEmpty()) save(file_);
  const QString path = file_.isEmpty() ? written() : file_;
  if (path.isEmpty()) return;
  session_.recorder()->setRules(path);
  session_.recordAgain();
  session_.recorder()->setRules({});
}

QVariantList RuleModel::rules() const {
  QVariantList out;
  const QJsonArray all = result_[QLatin1String("rules")].toArray(),
                   proofs = result_[QLatin1String("proofs")].toArray();
  for (const QJsonValue v : all) {
    const QJsonObject r = v.toObject();
    const QJsonArray differ = r[QLatin1String("differ")].toArray();
    QString verdict, tone;
    if (!str(r, "problem").isEmpty()) {
      verdict = tr("it fails: %1").arg(str(r, "problem"));
      tone = QStringLiteral("bad");
    } else if (!differ.isEmpty()) {
      const QJsonObject f = differ[0].toObject();
      verdict = tr("wrong: %1 → %2 gives %3 before and %4 after")
                    .arg(str(f, "expression"), str(f, "result"), str(f, "before"), str(f, "after"));
      if (!str(f, "where").isEmpty()) verdict += tr(", for %1").arg(str(f, "where"));
      tone = QStringLiteral("bad");
    } else if (number(r, "nodes") == 0) {
      verdict = tr("rewrites no node there");
    } else {
      verdict = tr("rewrites %1 nodes; %2 checked and right, %3 not evaluated")
                    .arg(number(r, "nodes"))
                    .arg(number(r, "same"))
                    .arg(number(r, "unknown"));
      tone = QStringLiteral("good");
    }
    for (const QJsonValue p : proofs)
      if (str(p.toObject(), "rule") == str(r, "rule"))
        verdict += tr(" · prove: %1").arg(str(p.toObject(), "status"));
    out << QVariantMap{
        {"rule", str(r, "rule")}, {"line", number(r, "line")}, {"verdict", verdict}, {"tone", tone}};
  }
  return out;
}

QVariantList RuleModel::places() const {
  QVariantList joined, others;
  for (const QJsonValue v : result_[QLatin1String("rules")].toArray()) {
    const QJsonObject r = v.toObject();
    for (const QJsonValue at : r[QLatin1String("places")].toArray()) {
      const QJsonObject p = at.toObject();
      const bool joins = p[QLatin1String("joins")].toBool();
      (joins ? joined : others) << QVariantMap{
          {"rule", str(r, "rule")},
          {"kernel", str(p, "kernel")},
          {"passName", str(p, "pass_name")},
          {"joins", joins},
          {"nodes", number(p, "nodes")},
          {"before", str(p, "before")},
          {"after", str(p, "after")},
          {"scope", number(p, "scope")},
          {"pass", number(p, "pass")},
          {"node", number(p, "first")},
          {"picture", QJsonDocument(p[QLatin1String("picture")].toObject()).toJson(QJsonDocument::Compact)},
          {"pattern", QJsonDocument(r[QLatin1String("pattern")].toObject()).toJson(QJsonDocument::Compact)}};
    }
  }
  return joined + others;
}

QVariantList RuleModel::kernels() const {
  QVariantList out;
  for (const QJsonValue v : result_[QLatin1String("kernels")].toArray()) {
    const QJsonObject k = v.toObject(), base = k[QLatin1String("base")].toObject(),
                      with = k[QLatin1String("variants")].toArray().at(0).toObject();
    auto both = [&](const char* key) {
      return grouped(number(base, key)) + QStringLiteral(" → ") + grouped(number(with, key));
    };
    const double ratio = with[QLatin1String("ratio")].toDouble(1),
                 seconds = with[QLatin1String("seconds")].toDouble();
    const bool sure =
        with[QLatin1String("low")].toDouble(1) > 1 || with[QLatin1String("high")].toDouble(1) < 1;
    const QString problem = str(with, "problem");
    const bool wrong = with[QLatin1String("wrong")].toBool();
    out << QVariantMap{{"kernel", str(k, "kernel")},
                       {"rewrites", both("rewrites")},
                       {"instructions", both("instructions")},
                       {"registers", both("registers")},
                       {"time", seconds <= 0 ? QString()
                                : !sure      ? tr("within noise")
                                : ratio < 1  ? tr("%1 × as fast").arg(1 / ratio, 0, 'f', 2)
                                             : tr("%1 × as long").arg(ratio, 0, 'f', 2)},
                       {"verdict", !problem.isEmpty() ? tr("does not compile: %1").arg(problem)
                                   : wrong            ? tr("other results")
                                                      : str(with, "difference")},
                       {"tone", !problem.isEmpty() || wrong ? QStringLiteral("bad") : QString()}};
  }
  return out;
}

QString RuleModel::summary() const {
  if (result_.isEmpty()) return {};
  return tr("After %1: %2 kernels compiled with the rules, the code of %3 changes")
      .arg(str(result_, "after"))
      .arg(number(result_, "compiled"))
      .arg(result_[QLatin1String("kernels")].toArray().size());
}

void RuleModel::goTo(int place) {
  const QVariantList all = places();
  if (place < 0 || place >= all.size()) return;
  const QVariantMap p = all[place].toMap();
  const qlonglong pass = p[QStringLiteral("pass")].toLongLong(),
                  node = p[QStringLiteral("node")].toLongLong();
  session_.goToPass(p[QStringLiteral("scope")].toLongLong(), pass);
  session_.goTo(pass, session_.stepCount(), node);
  session_.setTab(QStringLiteral("graph"));
  Q_EMIT session_.focusAsked(node);
}

QStringList RuleModel::complete(const QString& word) const {
  constexpr int kMost = 12;
  QStringList out;
  if (word.isEmpty()) return out;
  for (const QString& name : names())
    if (name != word && name.startsWith(word, Qt::CaseInsensitive) && out.size() < kMost) out << name;
  return out;
}

} // namespace uopscope
