// A typed query for nodes: words, or fields with wildcards, comparisons and regular expressions.
//
//   op:ADD dtype:float*   shape:3x*   line:12   users>3   -op:RANGE   text:/L[01]\*/   #456
//
// All terms must hold. Fields: op dtype arg shape line id users ports tag mark pass origin axis text.
#pragma once
#include "viz/models/graph/node_facts.h"
#include "viz/pictures/picture.h"

#include <QRegularExpression>
#include <QString>
#include <vector>

namespace uopscope {

class NodeQuery {
public:
  static NodeQuery parse(const QString& text);
  bool empty() const { return terms_.empty(); }
  /// The error in the query, in words; empty if there is none.
  const QString& problem() const { return problem_; }
  /// Whether the query has a field that only NodeFact knows.
  bool wantsFacts() const { return wantsFacts_; }
  bool matches(const PictureNode& node, const NodeFact* fact) const;
  static QStringList fields();

private:
  enum class Compare { Text, Equal, Less, More };
  struct Term {
    QString field, value;
    QRegularExpression pattern;
    Compare compare = Compare::Text;
    double number = 0;
    bool negated = false;
  };
  bool holds(const Term& term, const PictureNode& node, const NodeFact* fact) const;
  std::vector<Term> terms_;
  QString problem_;
  bool wantsFacts_ = false;
};

} // namespace uopscope
