// Experiments (.uopbench) in the window: one as a table with a plot, or two of them compared. The file is read and
// compared on a thread; the page and its keys use this object.
//
//   ExperimentModel e(session);  e.openFiles({"before.uopbench", "after.uopbench"});  e.rows()->sortBy("change");
#pragma once
#include "viz/models/compare/experiment_rows.h"
#include "viz/models/compare/file_page.h"

#include <QTemporaryDir>

namespace uopscope {

class ExperimentModel : public uopscope::FilePage { // named in full for the registrar of QML types
  Q_OBJECT
  Q_PROPERTY(QString path READ path NOTIFY changed)
  Q_PROPERTY(QString other READ other NOTIFY changed)
  Q_PROPERTY(QString fileName READ fileName NOTIFY changed)
  /// The script of the experiment, without its folder.
  Q_PROPERTY(QString title READ title NOTIFY changed)
  /// Machine, date, number of runs and seed, in one line.
  Q_PROPERTY(QString about READ about NOTIFY changed)
  /// "2 worse, 1 better, 3 without a difference" in the chosen metric, or "4 cells".
  Q_PROPERTY(QString headline READ headline NOTIFY changed)
  Q_PROPERTY(QString warning READ warning NOTIFY changed)
  /// Whether pairs are shown in place of cells, and whether there are pairs.
  Q_PROPERTY(bool comparing READ comparing WRITE setComparing NOTIFY changed)
  Q_PROPERTY(bool hasPairs READ hasPairs NOTIFY changed)
  /// "wall", "cpu" ...: which metric rows and plot show.
  Q_PROPERTY(QString metric READ metric WRITE setMetric NOTIFY changed)
  /// [{value, text, tip, worse, better}] of the metrics that were measured.
  Q_PROPERTY(QVariantList metrics READ metrics NOTIFY changed)
  /// Every metric of the chosen row: [{name, before, interval, after, change, verdict, tone}]
  Q_PROPERTY(QVariantList facts READ facts NOTIFY detailChanged)
  /// Kernels of the chosen row: [{name, launches, before, after}]; the time is the median of the first run.
  Q_PROPERTY(QVariantList kernels READ kernels NOTIFY detailChanged)
  /// Number of kernels beyond those listed.
  Q_PROPERTY(int kernelsLeft READ kernelsLeft NOTIFY detailChanged)
  /// Whether the file has the compilations of both cells of the chosen pair.
  Q_PROPERTY(bool hasCompilations READ hasCompilations NOTIFY detailChanged)
  /// The end of the output of the chosen cell's first failed run, or empty.
  Q_PROPERTY(QString failure READ failure NOTIFY detailChanged)
  Q_PROPERTY(uopscope::ExperimentRows* rows READ rows CONSTANT)

public:
  explicit ExperimentModel(Session& session, QObject* parent = nullptr);

  /// Shows one experiment, or the comparison of two.
  Q_INVOKABLE void openFiles(const QStringList& paths);
  /// Compares the open experiment with a second one.
  Q_INVOKABLE void compareWith(const QString& path);
  Q_INVOKABLE void swap();
  void cancel() override;
  /// Compares the compilations of the chosen pair, rewrite by rewrite: emits compilationsReady with two corpora.
  Q_INVOKABLE void compareCompilations();
  /// The source of a listed kernel.
  Q_INVOKABLE QString source(int kernel) const;
  /// Writes the visible table (.csv, .json) or the page (.html). Returns an error text, empty on success.
  Q_INVOKABLE QString exportTo(const QString& path) const;

  /// A page that is closed while it reads stops reading.
  void setShown(bool on) override;
  QString path() const { return path_; }
  QString other() const { return other_; }
  QString fileName() const;
  QString title() const;
  QString about() const;
  QString headline() const;
  QString warning() const;
  bool comparing() const { return rows_.comparing(); }
  void setComparing(bool on);
  bool hasPairs() const { return data_ && !data_->found.pairs.empty(); }
  QString metric() const;
  void setMetric(const QString& metric);
  QVariantList metrics() const;
  QVariantList facts() const;
  QVariantList kernels() const;
  int kernelsLeft() const;
  bool hasCompilations() const;
  QString failure() const;
  ExperimentRows* rows() { return &rows_; }
  bool trigger(const QString& action) override;

Q_SIGNALS:
  void detailChanged();
  /// Two corpora in the folder of temporary files.
  void compilationsReady(const QStringList& files);

private:
  enum Channel { Open, Compilations };
  void load();
  void show(std::shared_ptr<const ExperimentData> data);
  const MeasuredCell* cell(bool after) const;

  ExperimentRows rows_;
  std::shared_ptr<const ExperimentData> data_;
  QTemporaryDir folder_; ///< corpora taken out of experiments
  int taken_ = 0;
  QString path_, other_;
};

} // namespace uopscope
