// Tells why a rule did not fire on a node: the first test of its pattern that fails, and the place in the
// graph. Without a chosen rule it lists the rules of the pass that came nearest.
//
//   WhyModel why(session);  why.ask();              // about the selected node, all rules
//   why.ask("add-zero");                            // this rule; its pattern is drawn over the graph
#pragma once
#include "engine/rewrite/matcher.h"
#include "viz/models/session/session.h"

namespace uopscope {

/// The progress of a pattern on a node.
struct MatchAttempt {
  size_t passed = 0, total = 0; ///< number of tests
  std::string reason;           ///< empty: the structure matches
  struct Place {
    UOp node;
    std::string wanted; ///< the pattern's requirement or binding there
    bool fits = true;
  };
  std::vector<Place> places;
};
/// The match variant that passed most tests.
/// `ctx`: what the rule's pass knows, such as its target.
MatchAttempt attemptMatch(const Rule& rule, UOp node, const PassContext& ctx = {});

class WhyModel : public QAbstractListModel {
  Q_OBJECT
  /// The subject of the question: "ADD #456"
  Q_PROPERTY(QString about READ about NOTIFY changed)
  Q_PROPERTY(QString rule READ rule NOTIFY changed)
  Q_PROPERTY(QString answer READ answer NOTIFY changed)
  Q_PROPERTY(QString pattern READ pattern NOTIFY changed)
  Q_PROPERTY(bool open READ open WRITE setOpen NOTIFY changed)
  Q_PROPERTY(int count READ count NOTIFY changed)
  Q_PROPERTY(QStringList rules READ rules NOTIFY changed)

public:
  enum Roles { RuleRole = Qt::UserRole + 1, ReasonRole, NearRole, PlaceRole, TextRole };
  explicit WhyModel(Session& session, QObject* parent = nullptr);
  QString about() const { return about_; }
  QString rule() const { return rule_; }
  QString answer() const { return answer_; }
  QString pattern() const { return pattern_; }
  bool open() const { return open_; }
  void setOpen(bool open);
  int count() const { return static_cast<int>(rows_.size()); }
  QStringList rules() const { return names_; }
  /// Asks about the selected node; an empty name asks for all rules.
  Q_INVOKABLE void ask(const QString& rule = {});

  int rowCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  QHash<int, QByteArray> roleNames() const override;

Q_SIGNALS:
  void changed();

private:
  struct Row {
    QString rule, reason, place, text;
    double near = 0; ///< share of the tests passed
  };
  Session& session_;
  std::vector<Row> rows_;
  QStringList names_;
  QString about_, rule_, answer_, pattern_;
  bool open_ = false;
};

} // namespace uopscope
