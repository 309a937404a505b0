// Where one has been, as links. Moving on replaces the present entry while it is the same pass, so Back leads
// to places and not through every step.
//
//   History h;  h.visit("kernel=1&pass=2&step=0", "1/2");  h.back()
#pragma once
#include <QString>
#include <vector>

namespace uopscope {

class History {
public:
  /// `place` tells what counts as the same place (kernel, pass and tab).
  void visit(const QString& link, const QString& place) {
    if (at_ >= 0 && entries_[static_cast<size_t>(at_)].place == place) {
      entries_[static_cast<size_t>(at_)].link = link;
      return;
    }
    entries_.resize(static_cast<size_t>(at_ + 1));
    if (entries_.size() == kMost) entries_.erase(entries_.begin());
    entries_.push_back({link, place});
    at_ = static_cast<int>(entries_.size()) - 1;
  }
  bool canGoBack() const { return at_ > 0; }
  bool canGoForward() const { return at_ + 1 < static_cast<int>(entries_.size()); }
  /// The link to go to; empty if there is none.
  QString back() { return canGoBack() ? entries_[static_cast<size_t>(--at_)].link : QString(); }
  QString forward() { return canGoForward() ? entries_[static_cast<size_t>(++at_)].link : QString(); }
  void clear() {
    entries_.clear();
    at_ = -1;
  }

private:
  static constexpr size_t kMost = 200;
  struct Entry {
    QString link, place;
  };
  std::vector<Entry> entries_;
  int at_ = -1;
};

} // namespace uopscope
