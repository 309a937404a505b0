// Shows where compile time goes: script > schedule > kernel > pass > rule as one tree of times, for the flame
// graph and the treemap. It also lists faults of rules (dead, without effect, undoing each other), and
// compares two traces.
//
//   ProfilePtr p = buildProfile(trace);     // p->nodes[0] is everything
#pragma once
#include "viz/models/session/session.h"

namespace uopscope {

struct ProfileNode {
  std::string name, kind; ///< "trace", "script", "schedule", "kernel", "pass", "rule"
  int64_t ns = 0;         ///< including all children
  uint32_t parent = 0;
  std::vector<uint32_t> children; ///< most time first
  ScopeId scope = 0;
  PassId pass = 0;
  RuleId rule = 0;
};
struct Profile {
  std::vector<ProfileNode> nodes;
};
using ProfilePtr = std::shared_ptr<const Profile>;
/// Calls `stop` now and then; returns the part built by then.
ProfilePtr buildProfile(Trace& trace, const std::function<bool()>& stop = {});
/// Passes and rules alone: without the time of compiling machine code and running it. A kernel is the sum of
/// its passes.
ProfilePtr rewritesOf(const Profile& profile);

/// A rectangle of the flame graph or treemap, in the unit square.
struct ProfileBox {
  uint32_t node = 0;
  float x = 0, y = 0, width = 0, height = 0;
  int depth = 0;
};
/// Rows from the top; width is time. Boxes narrower than `least` are left out.
std::vector<ProfileBox> flame(const Profile& profile, uint32_t root, int rows, float least);
/// Squarified, nested: area is time.
std::vector<ProfileBox> treemap(const Profile& profile, uint32_t root, int depth, float aspect, float least);

class ProfileModel : public QObject {
  Q_OBJECT
  Q_PROPERTY(bool ready READ ready NOTIFY changed)
  /// "everything", or "rewrites": passes and rules alone.
  Q_PROPERTY(QString what READ what WRITE setWhat NOTIFY changed)
  /// The node that fills the view, and the way to it: [{node, name, time}].
  Q_PROPERTY(int root READ root WRITE setRoot NOTIFY rootChanged)
  Q_PROPERTY(QVariantList way READ way NOTIFY rootChanged)
  /// [{kind, title, detail, rule, step}]
  Q_PROPERTY(QVariantList findings READ findings NOTIFY changed)
  /// Of another trace: [{name, ns, otherNs, delta, matches, otherMatches}], biggest change first.
  Q_PROPERTY(QVariantList comparison READ comparison NOTIFY changed)
  Q_PROPERTY(QString other READ other NOTIFY changed)

public:
  explicit ProfileModel(Session& session, QObject* parent = nullptr);
  bool ready() const { return profile_ != nullptr; }
  const ProfilePtr& profile() const { return what_ == QLatin1String("rewrites") ? rewrites_ : profile_; }
  QString what() const { return what_; }
  void setWhat(const QString& what);
  int root() const { return static_cast<int>(root_); }
  void setRoot(int node);
  QVariantList way() const;
  QVariantList findings() const { return findings_; }
  QVariantList comparison() const { return comparison_; }
  QString other() const { return other_; }
  /// Requests missing data; called when the view is shown.
  Q_INVOKABLE void load();
  Q_INVOKABLE void compareWith(const QString& path);
  /// Moves from the node that fills the view: "in" to its largest part, "out" to its parent, or to the "next"
  /// or "previous" sibling.
  Q_INVOKABLE void walk(const QString& where);
  /// Goes to the subject of a box: a pass, a kernel, the first step of a rule.
  Q_INVOKABLE void follow(int node);
  Q_INVOKABLE QString describe(int node) const;
  /// Writes "findings" or "comparison" as .csv or .json. Returns an error text, empty on success.
  Q_INVOKABLE QString exportTable(const QString& which, const QString& path) const;

Q_SIGNALS:
  void changed();
  void rootChanged();

private:
  Session& session_;
  ProfilePtr profile_, rewrites_;
  QString what_ = QStringLiteral("everything");
  uint32_t root_ = 0;
  QVariantList findings_, comparison_;
  QString other_;
};

} // namespace uopscope
