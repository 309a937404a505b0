// The candidates of a search (BEAM) of the kernel in front, as dots of a cloud: the price that the cost model gives, the
// time that was measured. `uopscope show TRACE KERNEL --what candidates` has the same.
//
//   CandidatesModel c(session);  c.load();  c.dots();     // [{opts, micros, price, chosen, message}]
#pragma once
#include "viz/models/session/session.h"

namespace uopscope {

class CandidatesModel : public QObject {
  Q_OBJECT
  /// Of the kernel in front; 0 where no search was made.
  Q_PROPERTY(int count READ count NOTIFY changed)
  /// [{opts, micros (0: it did not run), price (0: none), chosen, message}], fastest first
  Q_PROPERTY(QVariantList dots READ dots NOTIFY changed)
  /// In a sentence: how many ran, the fastest beside the chosen one, and how well price and time agree.
  Q_PROPERTY(QString summary READ summary NOTIFY changed)

public:
  explicit CandidatesModel(Session& session, QObject* parent = nullptr);
  int count() const { return static_cast<int>(dots_.size()); }
  QVariantList dots() const { return dots_; }
  QString summary() const { return summary_; }
  /// Reads those of the kernel in front, once.
  Q_INVOKABLE void load();

Q_SIGNALS:
  void changed();

private:
  Session& session_;
  ScopeId loaded_ = 0;
  QVariantList dots_;
  QString summary_;
};

} // namespace uopscope
