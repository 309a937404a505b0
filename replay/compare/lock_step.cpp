// A stretch starts at the beginning of a pass or the end of a nested pass, and ends where the next stretch
// starts. Stretches are aligned first, so a rewrite is never paired with a rewrite of a different pass.
#include "replay/compare/lock_step.h"

#include "replay/read/text_diff.h"

#include <algorithm>

namespace uopscope {

namespace {

struct Stretch {
  uint64_t key = 0;
  std::vector<int> events;
};

struct Side {
  const Story& story;
  std::vector<Stretch> stretches;
  std::vector<LockPlace> places; ///< by event

  explicit Side(const Story& s) : story(s), places(s.events().size()) {
    struct Open {
      uint64_t name;
      LockPlace at;
    };
    std::vector<Open> open;
    int passes = 0;
    stretches.emplace_back();
    for (size_t i = 0; i < s.events().size(); ++i) {
      const StoryEvent& e = s.events()[i];
      if (e.kind == StoryEvent::PassEnd) {
        if (!open.empty()) open.pop_back();
        stretches.push_back({open.empty() ? 1 : hashMix(open.back().name, 2), {}});
        continue;
      }
      if (e.kind == StoryEvent::PassBegin) {
        open.push_back({hashText(s.word(e.word)), {passes++, 0}});
        stretches.push_back({hashMix(open.back().name, open.size() + 2), {}});
      } else if (!open.empty()) {
        ++open.back().at.step;
      }
      places[i] = open.empty() ? LockPlace{} : open.back().at;
      stretches.back().events.push_back(static_cast<int>(i));
    }
    std::erase_if(stretches, [](const Stretch& x) { return x.events.empty(); });
  }
  const StoryEvent& event(int i) const { return story.events()[static_cast<size_t>(i)]; }
  uint64_t content(int i) const {
    const StoryEvent& e = event(i);
    if (e.kind == StoryEvent::PassBegin) return hashText(story.word(e.word));
    return hashMix(hashMix(e.kind, story.hash(e.before)), story.hash(e.after));
  }
  uint64_t rule(int i) const {
    const StoryEvent& e = event(i);
    return hashMix(hashMix(e.kind, hashText(story.word(e.word))), hashText(story.op(e.before)));
  }
};

class Walk {
public:
  Walk(const Story& before, const Story& after) : a_(before), b_(after) {}

  std::vector<LockRow> run() {
    auto keys = [](const Side& s) {
      std::vector<uint64_t> out;
      for (const Stretch& x : s.stretches) out.push_back(x.key);
      return out;
    };
    for (const auto& [i, j] : alignItems(keys(a_), keys(b_))) {
      static const std::vector<int> nothing;
      const auto& x = i < 0 ? nothing : a_.stretches[static_cast<size_t>(i)].events;
      const auto& y = j < 0 ? nothing : b_.stretches[static_cast<size_t>(j)].events;
      align(x, y);
    }
    return std::move(rows_);
  }

private:
  template <typename Key>
  static std::vector<uint64_t> keysOf(const std::vector<int>& events, Key key) {
    std::vector<uint64_t> out;
    for (const int e : events) out.push_back(key(e));
    return out;
  }
  static int at(const std::vector<int>& events, int i) { return i < 0 ? -1 : events[static_cast<size_t>(i)]; }

  void align(const std::vector<int>& x, const std::vector<int>& y) {
    std::vector<int> left, right; // events since the last rewrite that both sides make
    auto flush = [&] {
      const auto rules = alignItems(keysOf(left, [&](int e) { return a_.rule(e); }),
                                    keysOf(right, [&](int e) { return b_.rule(e); }));
      for (const auto& [i, j] : rules) add(at(left, i), at(right, j), i < 0 ? '+' : j < 0 ? '-' : '~');
      left.clear(), right.clear();
    };
    for (const auto& [i, j] : alignItems(keysOf(x, [&](int e) { return a_.content(e); }),
                                         keysOf(y, [&](int e) { return b_.content(e); }))) {
      if (i >= 0 && j >= 0) {
        flush();
        const StoryEvent &p = a_.event(at(x, i)), &q = b_.event(at(y, j));
        add(at(x, i), at(y, j), a_.story.hash(p.before) == b_.story.hash(q.before) ? ' ' : '~');
      } else if (i >= 0) {
        left.push_back(at(x, i));
      } else {
        right.push_back(at(y, j));
      }
    }
    flush();
  }

  void add(int before, int after, char mark) {
    if (before >= 0) before_ = a_.places[static_cast<size_t>(before)];
    if (after >= 0) after_ = b_.places[static_cast<size_t>(after)];
    rows_.push_back({before, after, mark, before_, after_});
  }

  Side a_, b_;
  LockPlace before_, after_;
  std::vector<LockRow> rows_;
};

} // namespace

LockStep::LockStep(const Story& before, const Story& after) : rows_(Walk(before, after).run()) {}

size_t LockStep::rowOf(const Divergence& d) const {
  using Kind = Divergence::Kind;
  const int event = static_cast<int>(d.event);
  const bool ofAfter = d.kind == Kind::RuleAdded || d.kind == Kind::PassAdded;
  const auto named = std::find_if(rows_.begin(), rows_.end(), [&](const LockRow& r) {
    return r.mark != ' ' && (ofAfter ? r.after : r.before) == event;
  });
  if (d.found() && named != rows_.end()) return static_cast<size_t>(named - rows_.begin());
  const auto first = std::find_if(rows_.begin(), rows_.end(), [](const LockRow& r) { return r.mark != ' '; });
  return first == rows_.end() ? 0 : static_cast<size_t>(first - rows_.begin());
}

} // namespace uopscope
