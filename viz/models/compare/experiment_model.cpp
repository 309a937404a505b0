// Reads experiments on a thread of its own and hands them to the rows; texts about them are made here.
#include "viz/models/compare/experiment_model.h"

#include "engine/base/error.h"
#include "replay/experiment/bench_html.h"
#include "viz/models/work/reports.h"
#include "viz/models/work/table_text.h"
#include "viz/models/work/text.h"

#include <QFile>
#include <QFileInfo>
#include <algorithm>

namespace uopscope {
namespace {

constexpr int kMostKernels = 400;

/// Reads and compares; null where nobody waits for it any more.
std::shared_ptr<const ExperimentData> read(const std::string& path, const std::string& other,
                                           const std::atomic<bool>& stop) {
  const auto stopped = [&stop] { return stop.load(std::memory_order_relaxed); };
  auto data = std::make_shared<ExperimentData>();
  data->before = measured(path, stopped);
  if (!other.empty()) {
    data->after = measured(other, stopped);
    data->found = pairsBetween(data->before, *data->after);
    data->remark = incomparable(data->before, *data->after);
    if (data->found.pairs.empty())
      throw Error(ErrorKind::Value,
                  path + " and " + other + " have no cell of equal settings, so nothing can be compared");
  } else {
    data->found = pairsWithin(data->before);
  }
  for (const CellPair& pair : data->found.pairs) {
    if (stopped()) return nullptr;
    auto& row = data->compared.emplace_back();
    for (const Metric metric : kMetrics) row[static_cast<size_t>(metric)] = compareMetric(pair, metric);
  }
  return data;
}

} // namespace

ExperimentModel::ExperimentModel(Session& session, QObject* parent)
    : FilePage(session, QStringLiteral("empty"), parent) {
  connect(&session_, &Session::experimentAsked, this, [this](const QString& path) { openFiles({path}); });
  connect(&rows_, &ExperimentRows::changed, this, &ExperimentModel::changed);
  connect(&rows_, &ExperimentRows::currentChanged, this, &ExperimentModel::detailChanged);
}

void ExperimentModel::setShown(bool on) {
  if (!on && is("working")) cancel();
  FilePage::setShown(on);
}

void ExperimentModel::openFiles(const QStringList& paths) {
  if (paths.isEmpty()) return;
  path_ = localPath(paths[0]);
  other_ = paths.size() > 1 ? localPath(paths[1]) : QString();
  load();
}

void ExperimentModel::compareWith(const QString& path) {
  if (path_.isEmpty()) return openFiles({path});
  other_ = localPath(path);
  load();
}

void ExperimentModel::swap() {
  if (other_.isEmpty()) return;
  std::swap(path_, other_);
  load();
}

void ExperimentModel::cancel() {
  jobs_.cancelAll();
  if (!is("working")) return;
  if (!data_) shown_ = false;
  setState(data_ ? QStringLiteral("ready") : QStringLiteral("empty"));
}

void ExperimentModel::load() {
  shown_ = true;
  state_ = QStringLiteral("working");
  error_.clear();
  show(nullptr);
  jobs_.ask(
      Open,
      [this, path = path_.toStdString(), other = other_.toStdString()](Jobs::Job& job) -> Jobs::Answer {
        auto data = read(path, other, job.stop);
        if (!data) return {};
        return [this, data] {
          state_ = QStringLiteral("ready");
          show(data);
          session_.preferences()->addRecent(path_);
        };
      },
      [this](const QString& what) { fail(what); });
}

void ExperimentModel::show(std::shared_ptr<const ExperimentData> data) {
  data_ = std::move(data);
  rows_.setRows(data_, data_ && data_->after);
  Q_EMIT changed();
  Q_EMIT detailChanged();
}

void ExperimentModel::setComparing(bool on) {
  if (!data_ || on == comparing() || (on && !hasPairs()) || (!on && data_->after)) return;
  rows_.setRows(data_, on);
}

QString ExperimentModel::fileName() const {
  return QFileInfo(path_).fileName();
}

QString ExperimentModel::title() const {
  return data_ ? QFileInfo(text(data_->before.at("script"))).fileName() : QString();
}

QString ExperimentModel::about() const {
  if (!data_) return {};
  auto at = [this](const char* key) { return text(data_->before.at(key)); };
  return tr("%1 · %2 · %3 runs of each cell after %4 to warm up, seed %5")
      .arg(at("machine"), at("started"), at("repeat"), at("warmup"), at("seed"));
}

QString ExperimentModel::headline() const {
  if (!data_) return {};
  if (!comparing()) return counted(rows_.total(), tr("1 cell"), tr("%1 cells"));
  auto count = [this](Verdict v) { return rows_.count(rows_.metric(), v); };
  QStringList words;
  for (const Verdict v : {Verdict::Slower, Verdict::Faster, Verdict::NoDifference, Verdict::TooFew})
    if (const int n = count(v); n > 0) words << QStringLiteral("%1 %2").arg(n).arg(verdictText(v));
  return words.join(QStringLiteral(", "));
}

QString ExperimentModel::warning() const {
  if (!data_) return {};
  QStringList words;
  if (!data_->remark.empty()) words << text(data_->remark);
  int64_t failed = 0;
  for (const Measured* e : {&data_->before, data_->after ? &*data_->after : nullptr})
    if (e)
      for (const MeasuredCell& c : e->cells) failed += c.failed;
  if (failed > 0)
    words << counted(failed, tr("1 run failed; it is not counted."),
                     tr("%1 runs failed; they are not counted."));
  if (data_->found.left > 0)
    words << counted(static_cast<int64_t>(data_->found.left), tr("1 further pair is left out."),
                     tr("%1 further pairs are left out."));
  return words.join(QLatin1Char(' '));
}

QString ExperimentModel::metric() const {
  return QLatin1String(metricName(rows_.metric()));
}

void ExperimentModel::setMetric(const QString& metric) {
  for (const Metric m : kMetrics)
    if (metric == QLatin1String(metricName(m))) rows_.setMetric(m);
}

QVariantList ExperimentModel::metrics() const {
  struct Words {
    Metric metric;
    QString text, tip;
  };
  const Words words[] = {{Metric::Wall, tr("Wall time"), tr("From the start to the end of the process")},
                         {Metric::Cpu, tr("Processor time"), tr("User and system time of the process")},
                         {Metric::Kernel, tr("Kernels"), tr("Sum of the times of all launches")},
                         {Metric::Compile, tr("Compile"), tr("Lowering, rendering and compiling of kernels")},
                         {Metric::Schedule, tr("Schedule"), tr("From tensors to kernels")},
                         {Metric::Search, tr("Search"), tr("Candidates of BEAM compiled and timed")},
                         {Metric::Peak, tr("Peak memory"), tr("Largest resident size of the process")},
                         {Metric::DeviceBytes, tr("Buffers"), tr("Largest sum of live buffers on devices")}};
  QVariantList out;
  if (!data_) return out;
  for (const Words& w : words) {
    const bool known = std::ranges::any_of(data_->before.cells,
                                           [&](const MeasuredCell& c) { return !c.of(w.metric).empty(); });
    if (known)
      out << QVariantMap{{"value", QLatin1String(metricName(w.metric))},
                         {"text", w.text},
                         {"tip", w.tip},
                         {"worse", rows_.count(w.metric, Verdict::Slower)},
                         {"better", rows_.count(w.metric, Verdict::Faster)}};
  }
  return out;
}

const MeasuredCell* ExperimentModel::cell(bool after) const {
  const int at = rows_.current();
  if (!data_ || at < 0) return nullptr;
  if (!comparing()) return after ? nullptr : &data_->before.cells[static_cast<size_t>(at)];
  const CellPair& pair = data_->found.pairs[static_cast<size_t>(at)];
  return after ? pair.after : pair.before;
}

QVariantList ExperimentModel::facts() const {
  const MeasuredCell *before = cell(false), *after = cell(true);
  QVariantList out;
  for (const QVariant& m : before ? metrics() : QVariantList()) {
    const QVariantMap words = m.toMap();
    const auto metric = *std::ranges::find_if(
        kMetrics, [&](Metric x) { return words["value"] == QLatin1String(metricName(x)); });
    auto median = [&](const MeasuredCell* c) {
      return !c                      ? QString()
             : c->of(metric).empty() ? QStringLiteral("–")
                                     : amountOf(metric, c->summary(metric).median);
    };
    const Summary& s = before->summary(metric);
    QVariantMap row{{"name", words["text"]}, {"before", median(before)}, {"after", median(after)}};
    row["interval"] = before->of(metric).empty()
                          ? QString()
                          : amountOf(metric, s.low) + QStringLiteral(" – ") + amountOf(metric, s.high);
    if (after) {
      const Comparison& c =
          data_->compared[static_cast<size_t>(rows_.current())][static_cast<size_t>(metric)];
      row["change"] = text(changeText(c.ratio));
      row["verdict"] = verdictText(c.verdict);
      row["tone"] = toneOf(c.verdict);
    }
    out << row;
  }
  return out;
}

QVariantList ExperimentModel::kernels() const {
  const MeasuredCell *before = cell(false), *after = cell(true);
  QVariantList out;
  if (!before) return out;
  auto time = [](int64_t ns) { return amountOf(Metric::Kernel, static_cast<double>(ns)); };
  for (const BenchKernel& k : before->kernels) {
    if (out.size() == kMostKernels) break;
    QString other;
    if (after)
      for (const BenchKernel& x : after->kernels)
        if (x.name == k.name) {
          other = time(x.medianNs);
          break;
        }
    out << QVariantMap{{"name", text(k.name)},
                       {"launches", grouped(k.launches)},
                       {"before", time(k.medianNs)},
                       {"after", other}};
  }
  return out;
}

int ExperimentModel::kernelsLeft() const {
  const MeasuredCell* c = cell(false);
  return c ? std::max(0, static_cast<int>(c->kernels.size()) - kMostKernels) : 0;
}

QString ExperimentModel::source(int kernel) const {
  const MeasuredCell* c = cell(false);
  if (!c || kernel < 0 || static_cast<size_t>(kernel) >= c->kernels.size()) return {};
  return text(c->kernels[static_cast<size_t>(kernel)].source);
}

bool ExperimentModel::hasCompilations() const {
  const MeasuredCell *before = cell(false), *after = cell(true);
  return before && after && before->captured && after->captured;
}

void ExperimentModel::compareCompilations() {
  if (!hasCompilations()) return;
  ++taken_;
  struct Side {
    std::string file;
    int64_t cell;
    QString to;
  };
  std::vector<Side> sides;
  for (const bool after : {false, true}) {
    const std::string& file = after && data_->after ? data_->after->path : data_->before.path;
    sides.push_back({file, cell(after)->cell.id,
                     folder_.filePath(QStringLiteral("%1-%2.uopcorpus")
                                          .arg(after ? QStringLiteral("after") : QStringLiteral("before"))
                                          .arg(taken_))});
  }
  jobs_.ask(
      Compilations,
      [this, sides](Jobs::Job&) -> Jobs::Answer {
        QStringList files;
        for (const Side& side : sides) {
          const auto corpus = Experiment::open(side.file).compilations(side.cell);
          QFile out(side.to);
          if (!corpus || !out.open(QIODevice::WriteOnly) ||
              out.write(corpus->data(), static_cast<qint64>(corpus->size())) < 0)
            throw Error(ErrorKind::File, side.file + ": its compilations cannot be taken out");
          files << side.to;
        }
        return [this, files] { Q_EMIT compilationsReady(files); };
      },
      [this](const QString& what) { session_.showNotice(what); });
}

QString ExperimentModel::failure() const {
  for (const bool after : {false, true})
    if (const MeasuredCell* c = cell(after); c && c->failed) return text(c->failure);
  return {};
}

QString ExperimentModel::exportTo(const QString& path) const {
  if (!data_) return tr("There is nothing to export.");
  if (path.endsWith(QLatin1String(".html")))
    return writeText(
        path, text(comparing()
                       ? comparisonPage(data_->before, data_->after ? &*data_->after : nullptr, data_->found)
                       : benchPage(data_->before)));
  const auto [columns, rows] = rows_.table();
  return writeTable(path, columns, rows);
}

bool ExperimentModel::trigger(const QString& action) {
  const auto asks = [&](const char* id) { return action == QLatin1String(id); };
  if (!shown_) return false;
  if (asks("replay")) {
    setShown(false);
    return false; // the page of replays comes to the front
  }
  if (asks("next-pass") || asks("next-kernel") || asks("next-step")) {
    rows_.move(1);
  } else if (asks("previous-pass") || asks("previous-kernel") || asks("previous-step")) {
    rows_.move(-1);
  } else if (asks("search") || asks("filter")) {
    Q_EMIT uiAction(QStringLiteral("search"));
  } else if (asks("escape") || asks("close")) {
    setShown(false);
  } else {
    return belongsToTrace(action);
  }
  return true;
}

} // namespace uopscope
