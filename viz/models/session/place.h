// A place in a trace, as a value: pass, step, selected node, tab. A link names it in words.
//
//   Place at = placeOf(trace, "kernel=r_16&pass=devectorize&step=12", here);  linkTo(trace, at)
#pragma once
#include "viz/models/work/trace_index.h"

#include <QString>
#include <vector>

namespace uopscope {

struct Place {
  ScopeId scope = 0;
  PassId pass = 0;
  int64_t step = 0;
  int interval = 1; ///< how many steps' changes are shown at once
  qlonglong node = -1;
  QString tab = QStringLiteral("graph");
  bool operator==(const Place&) const = default;
  /// The same rewrite, whatever is seen of it.
  bool sameStep(const Place& other) const {
    return pass == other.pass && step == other.step && node == other.node;
  }
};

const QStringList& tabs();
/// Empty where the place is in no trace.
QString linkTo(const TraceIndex& trace, const Place& place);
/// The scope that a link names, or the present one: its passes have to be known for placeOf(). 0: none.
ScopeId scopeOf(const TraceIndex& trace, const QString& link, const Place& here);
/// What a link leaves out stays as it is in `here`: "step=12" is a place in the pass one looks at. A pass of 0
/// means the scope as a whole. Error says what does not fit.
Place placeOf(const TraceIndex& trace, const QString& link, const Place& here);

/// Where one has been. Moving on replaces the present entry while it is the same pass and tab, so Back leads to
/// places and not through every step.
class History {
public:
  void visit(const Place& place) {
    if (at_ >= 0 && here().pass == place.pass && here().tab == place.tab) {
      here() = place;
      return;
    }
    places_.resize(static_cast<size_t>(at_) + 1);
    if (places_.size() == kMost) places_.erase(places_.begin());
    places_.push_back(place);
    at_ = static_cast<int>(places_.size()) - 1;
  }
  bool canGoBack() const { return at_ > 0; }
  bool canGoForward() const { return at_ + 1 < static_cast<int>(places_.size()); }
  /// Only where one can.
  const Place& back() { return --at_, here(); }
  const Place& forward() { return ++at_, here(); }
  void clear() {
    places_.clear();
    at_ = -1;
  }

private:
  static constexpr size_t kMost = 200;
  Place& here() { return places_[static_cast<size_t>(at_)]; }
  std::vector<Place> places_;
  int at_ = -1;
};

} // namespace uopscope
