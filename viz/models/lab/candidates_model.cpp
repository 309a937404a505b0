#include "viz/models/lab/candidates_model.h"

#include "replay/teach/candidates.h"
#include "viz/models/work/reports.h"

#include <algorithm>

namespace uopscope {
namespace {

/// Of all pairs of candidates with a price, the share that price and time put in the same order; -1: too few.
double agreement(const std::vector<PricedCandidate>& all) {
  int64_t same = 0, pairs = 0;
  for (size_t i = 0; i < all.size(); ++i)
    for (size_t j = i + 1; j < all.size(); ++j) { // sorted by time
      const auto &a = all[i], &b = all[j];
      if (!a.ns || !b.ns || !a.price || !b.price || *a.price == *b.price) continue;
      ++pairs;
      same += *a.price < *b.price;
    }
  constexpr int64_t kFew = 10;
  return pairs < kFew ? -1 : static_cast<double>(same) / static_cast<double>(pairs);
}

} // namespace

CandidatesModel::CandidatesModel(Session& session, QObject* parent) : QObject(parent), session_(session) {
  connect(&session_, &Session::opened, this, [this] {
    loaded_ = 0;
    dots_.clear();
    Q_EMIT changed();
  });
  connect(&session_, &Session::grown, this, [this] { loaded_ = 0; });
}

void CandidatesModel::load() {
  if (!session_.trace() || loaded_ == session_.scope()) return;
  loaded_ = session_.scope();
  dots_.clear();
  summary_.clear();
  Q_EMIT changed();
  session_.jobs().ask(
      Channel::Candidates,
      [this, scope = loaded_](Jobs::Job& job) -> Jobs::Answer {
        const std::vector<PricedCandidate> found = pricedCandidates(job.trace(), scope);
        QVariantList dots;
        for (const PricedCandidate& c : found)
          dots << QVariantMap{{"opts", QString::fromStdString(c.opts)},
                              {"micros", c.ns ? static_cast<double>(*c.ns) / 1000 : 0.0},
                              {"time", c.ns ? duration(*c.ns) : QString()},
                              {"price", c.price.value_or(0)},
                              {"chosen", c.chosen},
                              {"message", QString::fromStdString(c.message)}};
        const auto ran = std::ranges::count_if(found, [](const auto& c) { return c.ns.has_value(); });
        QString summary;
        if (!found.empty()) {
          summary = tr("%1 candidates, %2 ran; the fastest: %3, %4")
                        .arg(found.size())
                        .arg(ran)
                        .arg(QString::fromStdString(found.front().opts),
                             found.front().ns ? duration(*found.front().ns) : QString());
          if (const double share = agreement(found); share >= 0)
            summary += tr("; price and time put %1 of 100 pairs in the same order").arg(qRound(100 * share));
        }
        return [this, dots, summary] {
          dots_ = dots;
          summary_ = summary;
          Q_EMIT changed();
        };
      },
      [this](const QString& what) {
        summary_ = what;
        Q_EMIT changed();
      });
}

} // namespace uopscope
