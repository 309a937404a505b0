// What if the compiler had done something else: the kernel in front compiled again without a rule, a rewrite or an
// Opt, with other Opts, or with an alternative of a decision. A row per variant, below the kernel as it is.
//
//   WhatIfModel lab(session);  lab.withoutRule("cut-arithmetic");  lab.opts("UPCAST 0 4");  lab.alternative(1);
//
// `uopscope whatif` does the work, in a process of its own: first the code, in a moment, then the times, in a
// sandbox unless this window recorded the trace itself. Variants stay until the trace is closed, each with its kernel. One
// with a name is kept beside the trace (replay/teach/kept_variants.h): it is a row again the next time, and is compiled when
// it is chosen. A link may name it.
#pragma once
#include "viz/models/compare/compared_lines.h"
#include "viz/models/session/session.h"

#include <QJsonObject>
#include <QProcess>
#include <QTemporaryDir>
#include <deque>

namespace uopscope {

class WhatIfModel : public QAbstractListModel {
  Q_OBJECT
  Q_PROPERTY(int count READ count NOTIFY changed)
  Q_PROPERTY(int current READ current WRITE setCurrent NOTIFY changed)
  Q_PROPERTY(bool busy READ busy NOTIFY changed)
  /// What the last request lacked; empty where it was fine.
  Q_PROPERTY(QString problem READ problem NOTIFY changed)
  /// Of the chosen variant: where it parts from the kernel as it is, or why there is nothing to see.
  Q_PROPERTY(QString sentence READ sentence NOTIFY changed)
  /// The Opts of the chosen row, as the field for Opts takes them.
  Q_PROPERTY(QString chosenOpts READ chosenOpts NOTIFY changed)
  /// The pass in which the chosen variant parts from the kernel as it is; empty where no pass does.
  Q_PROPERTY(QString partingPass READ partingPass NOTIFY changed)
  /// The name that the chosen variant is kept under; empty: none.
  Q_PROPERTY(QString keptName READ keptName NOTIFY changed)
  /// A link to the chosen variant; empty where it has no name.
  Q_PROPERTY(QString link READ link NOTIFY changed)
  /// The role that the rows are sorted by: "instructions"; empty: in the order in which they were asked for.
  Q_PROPERTY(QString sort READ sortColumn NOTIFY changed)
  Q_PROPERTY(bool descending READ descending NOTIFY changed)
  /// Names of the rules that applied in this kernel, those that applied most often first.
  Q_PROPERTY(QStringList rules READ rules NOTIFY changed)
  /// The code of the chosen variant beside the code as it is.
  Q_PROPERTY(uopscope::ComparedLines* lines READ lines CONSTANT)

public:
  enum Roles {
    NameRole = Qt::UserRole + 1,
    RewritesRole,
    LinesRole,
    InstructionsRole,
    RegistersRole,
    SpillsRole,
    TimeRole,
    RatioRole,
    VerdictRole,
    ToneRole, ///< "" | "bad" | "better" | "worse" | "working"
    BaseRole
  };
  explicit WhatIfModel(Session& session, QObject* parent = nullptr);
  ~WhatIfModel() override;

  /// Looks up the rules of the kernel in front; the pane asks when it is shown.
  Q_INVOKABLE void prepare();
  Q_INVOKABLE void withoutRule(const QString& rule);
  /// Without the rewrite, or the Opt, of the step in front.
  Q_INVOKABLE void withoutStep();
  /// With an alternative of the decision in front, counted from 1.
  Q_INVOKABLE void alternative(int number);
  /// "UPCAST 0 4; UNROLL 0 8", or "none".
  Q_INVOKABLE void opts(const QString& text);
  /// "PLACE:RULE,RULE", as `whatif --by-hand` takes it.
  Q_INVOKABLE void byHand(const QString& text);
  /// What a person typed: names of rules, or Opts.
  Q_INVOKABLE void add(const QString& text);
  /// A variant with a name is no longer kept either.
  Q_INVOKABLE void remove(int row);
  /// Keeps the chosen variant under this name, or gives it another one. Empty: it is no longer kept.
  Q_INVOKABLE void keep(const QString& name);
  /// Chooses the variant of this name, in whatever kernel it is, and compiles it.
  void openKept(const QString& name);
  /// Sorts by a role; again: the other way round.
  Q_INVOKABLE void sortBy(const QString& role);
  Q_INVOKABLE void cancel();
  /// The kernel as it is and the chosen variant as two corpora, to be stepped through together; empty where it did not
  /// compile.
  Q_INVOKABLE QStringList both() const;
  /// To the pass where the chosen variant parts from the kernel as it is.
  Q_INVOKABLE void goToParting();
  /// The program that compiles; the default is this program, and tests set another.
  void setProgram(const QString& program) { program_ = program; }

  int count() const { return static_cast<int>(shown_.size()); }
  int current() const { return current_; }
  void setCurrent(int row);
  bool busy() const { return !waiting_.empty() || process_.state() != QProcess::NotRunning; }
  QString problem() const { return problem_; }
  QString sentence() const;
  QString chosenOpts() const;
  QString partingPass() const;
  QString keptName() const { return chosen() ? chosen()->kept : QString(); }
  QString link() const;
  QString sortColumn() const { return sort_; }
  bool descending() const { return descending_; }
  QStringList rules() const { return rules_; }
  ComparedLines* lines() { return &lines_; }
  /// The rows as a table; an empty string where it was written, the fault otherwise.
  Q_INVOKABLE QString exportTo(const QString& path) const;

  int rowCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  QHash<int, QByteArray> roleNames() const override;

Q_SIGNALS:
  void changed();
  /// A variant was asked for: the pane comes to the front.
  void asked();

private:
  struct Variant {
    qlonglong scope = 0;
    QStringList arguments; ///< of `uopscope whatif`; none for the kernel as it is
    QString name, problem; ///< problem: why it cannot be compiled at all
    QJsonObject result;    ///< empty until it has been compiled
    bool timed = false;
    bool refused = false; ///< the question itself was wrong: a rule or an Opt that does not exist
    QString corpora = {}; ///< prefix of the corpora of both
    QString kept = {};    ///< the name it is kept under
    bool asked = true;    ///< to be compiled; a kept variant is when it is chosen
  };
  struct Run {
    std::shared_ptr<Variant> variant;
    bool times = false;
  };
  void ask(const QStringList& arguments, const QString& name);
  void next();
  void ended(int code, QProcess::ExitStatus status);
  void compile(const std::shared_ptr<Variant>& variant);
  void show();
  void arrange();
  void showLines();
  void loadKept();
  /// A number or a text; invalid where the row has none yet.
  QVariant sortKey(const Variant& v) const;
  const Variant* chosen() const;
  QVariant textOf(const Variant& v, int role) const;

  Session& session_;
  std::vector<std::shared_ptr<Variant>> all_;
  std::vector<std::shared_ptr<Variant>> shown_; ///< of the present kernel; the first is the kernel as it is
  std::deque<Run> waiting_;
  Run running_;
  QProcess process_;
  QTemporaryDir folder_;
  ComparedLines lines_;
  QStringList rules_;
  QString problem_, program_, sort_,
      wanted_; ///< wanted_: the kept variant to choose when its kernel is in front
  bool descending_ = false;
  qlonglong scope_ = 0, rulesOf_ = 0;
  int current_ = 0;
};

} // namespace uopscope
