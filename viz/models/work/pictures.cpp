#include "viz/models/work/pictures.h"

#include <algorithm>
#include <list>
#include <optional>

namespace uopscope {
namespace {

// Passes whose layout is kept.
constexpr size_t kKeptViews = 6;

/// Layouts and provenance of the passes looked at last. Lives on the lane, beside its reader.
class PictureMaker {
public:
  struct Drawn {
    PicturePtr picture;
    QVariantMap step;
    qlonglong followed = -1;
  };
  static PictureMaker& of(Jobs::Job& job) {
    if (!job.kept) job.kept = std::make_shared<PictureMaker>(job.trace());
    auto& maker = *std::static_pointer_cast<PictureMaker>(job.kept);
    maker.keepUp(job.refreshed);
    return maker;
  }
  explicit PictureMaker(Trace& trace) : trace_(trace) {}
  /// Nothing where it was stopped.
  std::optional<Drawn> draw(const PictureQuestion& question, const std::atomic<bool>& stop);
  std::shared_ptr<PassView> view(const PictureQuestion& question, const std::atomic<bool>& stop);
  Provenance* provenance(ScopeId scope);

private:
  void keepUp(uint64_t refreshed) {
    if (refreshed == refreshed_) return;
    refreshed_ = refreshed;
    provenance_.reset();
    provenanceScope_ = -1;
    // A pass that was still going on has more steps now: its layout is made anew.
    views_.remove_if([&](const auto& v) { return trace_.pass(v->pass()).steps != v->steps(); });
  }
  NodeId follow(PassView& view, NodeId node, const Picture& picture);

  Trace& trace_;
  uint64_t refreshed_ = 0;
  std::list<std::shared_ptr<PassView>> views_; ///< newest first
  std::unique_ptr<Provenance> provenance_;
  ScopeId provenanceScope_ = -1;
};

std::shared_ptr<PassView> PictureMaker::view(const PictureQuestion& question, const std::atomic<bool>& stop) {
  for (auto it = views_.begin(); it != views_.end(); ++it)
    if ((*it)->pass() == question.pass && (*it)->options() == question.options) {
      views_.splice(views_.begin(), views_, it);
      return views_.front();
    }
  auto fresh = std::make_shared<PassView>(trace_, question.pass, question.options);
  if (!fresh->prepare(&stop)) return nullptr;
  views_.push_front(fresh);
  if (views_.size() > kKeptViews) views_.pop_back();
  return fresh;
}

Provenance* PictureMaker::provenance(ScopeId scope) {
  if (!provenance_ || provenanceScope_ != scope) {
    provenance_ = std::make_unique<Provenance>(trace_, scope);
    provenanceScope_ = scope;
  }
  return provenance_.get();
}

// A node of another pass is looked for among the nodes it was made from and those made from it, nearest first.
NodeId PictureMaker::follow(PassView& v, NodeId node, const Picture& picture) {
  const NodeId here = v.counterpart(node, picture);
  if (here != kNoNode || node == kNoNode || node >= kFirstViewNode) return here;
  try {
    Provenance* p = provenance(v.cursor().info().scope);
    for (const auto& links : {p->fate(node), p->chain(node)})
      for (const ProvenanceLink& l : links)
        for (const NodeId candidate : {l.node, l.from})
          if (candidate != kNoNode && v.counterpart(candidate, picture) != kNoNode)
            return v.counterpart(candidate, picture);
  } catch (const Error&) { // a node of another scope: it has no story in this one
  }
  return kNoNode;
}

std::optional<PictureMaker::Drawn> PictureMaker::draw(const PictureQuestion& question,
                                                      const std::atomic<bool>& stop) {
  const auto v = view(question, stop);
  if (!v || !v->arrange(question.arrangement, &stop) || stop) return {};
  auto picture = v->at(question.step, question.interval);
  QVariantMap step = stepReport(trace_, *v, std::clamp<int64_t>(question.step, 0, v->steps()));
  if (stop) return {};
  NodeId followed = follow(*v, question.follow, *picture);
  const bool layers = question.arrangement.groupBy == GroupBy::Layer;
  const bool leavesOut =
      layers || (picture->map && (picture->elsewhere || picture->foldedExpressions || picture->groups));
  if (followed == kNoNode && question.follow != kNoNode && leavesOut) {
    // What one looks at is drawn, however far it is from the change and whatever would stand for it.
    Arrangement with = question.arrangement;
    with.kept = layers ? question.follow : follow(*v, question.follow, *picture->map);
    if (with.kept != kNoNode) {
      if (!v->arrange(with, &stop) || stop) return {};
      picture = v->at(question.step, question.interval);
      followed = follow(*v, with.kept, *picture);
      if (!picture->find(followed)) followed = kNoNode;
    }
  }
  return Drawn{std::move(picture), std::move(step),
               followed == kNoNode ? -1 : static_cast<qlonglong>(followed)};
}

std::shared_ptr<std::vector<StatsRow>> rowsOf(Trace& trace, const StatsQuestion& question) {
  auto rows = std::make_shared<std::vector<StatsRow>>();
  for (const MatchTotals& t : trace.matchTotals(question.group, question.scope, question.pass)) {
    StatsRow row;
    row.totals = t;
    row.rule = t.rule;
    if (question.group == MatchGroup::Rule && t.rule) {
      const RuleInfo& r = trace.rule(t.rule);
      row.name = QString::fromStdString(r.name);
      row.place = shortPlace(r.at);
      row.text = QString::fromStdString(r.text);
    } else if (t.scope) {
      const ScopeInfo& s = trace.scope(t.scope);
      row.name = QString::fromStdString(s.name);
      row.place = shortPlace(s.script);
    } else {
      row.name = QString::fromStdString(question.group == MatchGroup::Pass ? t.passName : t.op);
    }
    rows->push_back(std::move(row));
  }
  return rows;
}

} // namespace

void Pictures::askPicture(const PictureQuestion& question) {
  jobs_.ask(Channel::Picture, [this, question](Jobs::Job& job) -> Jobs::Answer {
    auto drawn = PictureMaker::of(job).draw(question, job.stop);
    if (!drawn) return {};
    return [this, d = std::move(*drawn)] { Q_EMIT pictureReady(d.picture, d.step, d.followed); };
  });
}

void Pictures::askNode(const PictureQuestion& question, NodeId node) {
  jobs_.ask(Channel::Node, [this, question, node](Jobs::Job& job) -> Jobs::Answer {
    PictureMaker& maker = PictureMaker::of(job);
    const auto v = maker.view(question, job.stop);
    if (!v || job.stale()) return {};
    QVariantMap report =
        static_cast<int64_t>(node) >= kFirstGroupId
            ? groupReport(*v, node)
            : nodeReport(job.trace(), *v, question.step, node, maker.provenance(v->cursor().info().scope));
    return
        [this, node, report = std::move(report)] { Q_EMIT nodeReady(static_cast<qlonglong>(node), report); };
  });
}

void Pictures::askStats(const StatsQuestion& question) {
  jobs_.ask(Channel::Stats, [this, question](Jobs::Job& job) -> Jobs::Answer {
    return [this, rows = rowsOf(job.trace(), question)] { Q_EMIT statsReady(rows); };
  });
}

void Pictures::askText(ScopeId scope, const QString& kind) {
  jobs_.ask(Channel::Text, [this, scope, kind](Jobs::Job& job) -> Jobs::Answer {
    const auto text = job.trace().artifact(scope, kind.toStdString());
    std::shared_ptr<const LineRegisters> registers;
    try {
      if (text) registers = LineRegisters::of(job.trace(), scope, kind.toStdString());
    } catch (const Error&) { // of a program that cannot be made again; its text can be read all the same
    }
    return [this, scope, kind, text, registers] {
      Q_EMIT textReady(scope, kind, QString::fromStdString(text.value_or("")), text.has_value(), registers);
    };
  });
}

} // namespace uopscope
