// The rule bench: rules in Python, written in the window or opened from a file, tried on the open trace. Where they match,
// what they make, whether they are right, what the kernels gain; saved as a file that `record --rules` takes.
//
//   RuleModel bench(session);  bench.setText("rules = PatternMatcher([...])");  bench.run();
//   bench.places(); bench.kernels(); bench.complete("UPat.v")           // {"UPat.var"}
//
// `uopscope rule` does the work, in a process of its own with a limit of time. Python runs only when a person asks for
// it; opening a file or a trace runs nothing.
#pragma once
#include "viz/models/session/session.h"

#include <QJsonObject>
#include <QProcess>
#include <QTemporaryDir>

namespace uopscope {

class RuleModel : public QObject {
  Q_OBJECT
  Q_PROPERTY(QString text READ text WRITE setText NOTIFY textChanged)
  /// The file that the text was read from or saved to; empty: none yet.
  Q_PROPERTY(QString file READ file NOTIFY changed)
  Q_PROPERTY(bool busy READ busy NOTIFY changed)
  /// The fault of the file, with its line; empty where it ran.
  Q_PROPERTY(QString problem READ problem NOTIFY changed)
  Q_PROPERTY(int problemLine READ problemLine NOTIFY changed)
  /// [{rule, line, verdict, tone}]: a sentence about each rule.
  Q_PROPERTY(QVariantList rules READ rules NOTIFY changed)
  /// [{rule, kernel, passName, joins, nodes, before, after, scope, pass, node}]; those where the rules run come first
  Q_PROPERTY(QVariantList places READ places NOTIFY changed)
  /// [{kernel, scope, rewrites, instructions, registers, time, verdict, tone}]
  Q_PROPERTY(QVariantList kernels READ kernels NOTIFY changed)
  Q_PROPERTY(QString summary READ summary NOTIFY changed)
  /// The place whose rewrite is drawn; -1: none.
  Q_PROPERTY(int chosen READ chosen WRITE setChosen NOTIFY chosenChanged)
  Q_PROPERTY(uopscope::GraphSource* pattern READ pattern CONSTANT)
  Q_PROPERTY(uopscope::GraphSource* rewrite READ rewrite CONSTANT)

public:
  explicit RuleModel(Session& session, QObject* parent = nullptr);
  ~RuleModel() override;
  QString text() const { return text_; }
  void setText(const QString& text);
  QString file() const { return file_; }
  bool busy() const { return process_.state() != QProcess::NotRunning; }
  QString problem() const { return problem_; }
  int problemLine() const { return problemLine_; }
  QVariantList rules() const;
  QVariantList places() const;
  QVariantList kernels() const;
  QString summary() const;
  int chosen() const { return chosen_; }
  /// Draws the pattern of its rule, and the result of the rule on the first node there.
  void setChosen(int place);
  GraphSource* pattern() { return &pattern_; }
  GraphSource* rewrite() { return &rewrite_; }

  /// Tries the text on the open trace; `times` also runs and times the kernels that change.
  Q_INVOKABLE void run(bool times = false);
  Q_INVOKABLE void cancel();
  Q_INVOKABLE void open(const QString& path);
  /// Returns an error text, empty on success.
  Q_INVOKABLE QString save(const QString& path);
  /// Records the script of the trace again with these rules; they are saved first where they have a file.
  Q_INVOKABLE void record();
  /// To the first node that the rule of this place rewrites.
  Q_INVOKABLE void goTo(int place);
  /// Names that continue the word before the cursor.
  Q_INVOKABLE QStringList complete(const QString& word) const;
  /// The program that works; the default is this program, and tests set another.
  void setProgram(const QString& program) { program_ = program; }

Q_SIGNALS:
  void textChanged();
  void changed();
  void chosenChanged();

private:
  void ended(int code, QProcess::ExitStatus status);
  QString written();
  Session& session_;
  QProcess process_;
  QTemporaryDir folder_;
  QString text_, file_, problem_, program_;
  QJsonObject result_;
  GraphSource pattern_, rewrite_;
  int problemLine_ = 0, chosen_ = -1;
  bool cancelled_ = false;
};

} // namespace uopscope
