// Judges and groups the changes. Compilations of equal inputs are found by a map; the remaining ones are
// paired within the same script line or name, best likeness first, so the cost stays near linear.
#include "replay/compare/difference.h"

#include "engine/base/error.h"
#include "replay/compare/align.h"
#include "replay/read/text_diff.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

namespace uopscope {

std::string_view statusName(Change::Status status) {
  static constexpr std::string_view names[] = {"same",  "other way", "changed", "failed",
                                               "fixed", "added",     "removed"};
  return names[static_cast<size_t>(status)];
}

int speedOf(int64_t beforeNs, int64_t afterNs, const DiffOptions& options) {
  if (beforeNs <= 0 || std::abs(afterNs - beforeNs) <= options.slowerNs) return 0;
  const double ratio = static_cast<double>(afterNs) / static_cast<double>(beforeNs);
  return ratio > options.slowerFactor ? 1 : ratio < 1 / options.slowerFactor ? -1 : 0;
}

namespace {

using Status = Change::Status;

/// Launch sizes and buffers, without the parts that differ by machine or build alone.
std::string launchShape(const std::string& launch) {
  auto j = nlohmann::ordered_json::parse(launch, nullptr, false);
  if (!j.is_object()) return launch;
  j.erase("estimates");
  j.erase("name");
  return j.dump();
}

class Differ {
public:
  Differ(const Corpus& before, const Corpus& after, const DiffOptions& o) : a_(before), b_(after), o_(o) {}

  CorpusDiff run() {
    d_.beforeName = a_.title(), d_.afterName = b_.title();
    d_.beforeCommit = a_.meta("commit"), d_.afterCommit = b_.meta("commit");
    for (const Corpus* c : {&a_, &b_})
      if (std::string w = c->warning(); !w.empty()) d_.warnings.push_back(w);
    align();
    size_t done = 0;
    for (Change& c : d_.changes) {
      judge(c);
      if (o_.progress) o_.progress(++done, d_.changes.size());
    }
    blameSchedules();
    forgetFalseRenames();
    d_.rules = diffRules(a_.counts(), b_.counts(), d_.renamedRules);
    d_.measuredAlike = a_.meta("measured") == b_.meta("measured");
    nameSettings();
    group();
    return std::move(d_);
  }

private:
  void align() {
    std::vector<CorpusEntry> before = a_.entries(), after = b_.entries();
    std::unordered_map<uint64_t, size_t> byInput;
    for (size_t i = 0; i < after.size(); ++i) byInput.emplace(after[i].inputHash, i);
    std::vector<bool> taken(after.size());
    std::vector<CorpusEntry> leftBefore, leftAfter;
    for (CorpusEntry& e : before) {
      auto it = byInput.find(e.inputHash);
      if (it == byInput.end()) {
        leftBefore.push_back(std::move(e));
        continue;
      }
      taken[it->second] = true;
      Change& c = d_.changes.emplace_back();
      c.before = std::move(e);
      c.after = after[it->second];
    }
    for (size_t i = 0; i < after.size(); ++i)
      if (!taken[i]) leftAfter.push_back(std::move(after[i]));
    std::vector<bool> paired(leftAfter.size());
    std::vector<Pairing> pairs = pairByLikeness(a_, leftBefore, b_, leftAfter);
    for (size_t i = 0; i < leftBefore.size(); ++i) {
      Change& c = d_.changes.emplace_back();
      c.before = leftBefore[i];
      if (pairs[i].other) {
        c.after = leftAfter[*pairs[i].other];
        c.confidence = pairs[i].likeness;
        paired[*pairs[i].other] = true;
      } else {
        c.status = Status::Removed;
      }
    }
    for (size_t i = 0; i < leftAfter.size(); ++i) {
      if (paired[i]) continue;
      Change& c = d_.changes.emplace_back();
      c.after = leftAfter[i];
      c.status = Status::Added;
    }
  }

  /// Warns of different settings before all their consequences.
  void nameSettings() {
    std::string text;
    for (const auto& [setting, count] : settings_)
      text += fmt::format("{}{} ({} compilation{})", text.empty() ? "" : ", ", setting, count,
                          count == 1 ? "" : "s");
    if (!text.empty()) d_.warnings.insert(d_.warnings.begin(), "settings differ: " + text);
  }

  /// One text such as "NOOPT 0 to 1" for each setting that differs.
  static std::vector<std::string> settingsBetween(const std::string& before, const std::string& after) {
    std::vector<std::string> out;
    if (before == after) return out;
    auto x = nlohmann::json::parse(before, nullptr, false), y = nlohmann::json::parse(after, nullptr, false);
    if (!x.is_object() || !y.is_object()) return out;
    auto value = [](const nlohmann::json& j, const std::string& key) {
      return j.contains(key) ? j[key].dump() : "unset";
    };
    std::set<std::string> names;
    for (const auto* j : {&x, &y})
      for (const auto& item : j->items()) names.insert(item.key());
    for (const std::string& name : names)
      if (value(x, name) != value(y, name))
        out.push_back(fmt::format("{} {} to {}", name, value(x, name), value(y, name)));
    return out;
  }

  void judge(Change& c) {
    if (!c.before || !c.after) {
      c.cause = c.before ? "only in the first" : "only in the second";
      ++(c.before ? d_.removed : d_.added);
      return;
    }
    const CorpusEntry &x = *c.before, &y = *c.after;
    if (x.isKernel()) {
      d_.compileNsBefore += x.compileNs, d_.compileNsAfter += y.compileNs;
      const int speed = speedOf(x.compileNs, y.compileNs, o_);
      d_.slower += speed > 0, d_.faster += speed < 0;
    }
    bool sameInput = x.inputHash == y.inputHash;
    if (sameInput && x.outputHash == y.outputHash && x.storyHash == y.storyHash) {
      ++d_.same;
      return;
    }
    bool okBefore = x.status == "ok", okAfter = y.status == "ok";
    if (!okBefore && !okAfter && x.status == y.status && x.message == y.message) {
      ++d_.same;
      return;
    }
    Compilation before = a_.load(x), after = b_.load(y);
    const std::vector<std::string> settings = settingsBetween(before.settings, after.settings);
    for (const std::string& s : settings) ++settings_[s];
    // The hash of an input covers the settings. Where only settings differ, the results decide.
    if (!settings.empty()) sameInput = before.graph == after.graph && before.device == after.device;
    auto text = [&](const std::string& s) { return o_.ignoreNames ? withoutNames(s) : s; };
    c.source = text(before.source) != text(after.source);
    c.ir = text(before.ir) != text(after.ir);
    c.launch = launchShape(before.launch) != launchShape(after.launch);
    bool lastGraphDiffers = false;
    if (!before.story.events.empty() && !after.story.events.empty()) {
      Story s(std::move(before.story)), t(std::move(after.story));
      c.divergence = firstDivergence(s, t);
      d_.renamedRules.insert(c.divergence.renamedRules.begin(), c.divergence.renamedRules.end());
      lastGraphDiffers = !x.isKernel() && lastGraph(s) != lastGraph(t);
    }
    bool otherCode = c.source || c.ir || c.launch || lastGraphDiffers || !sameInput;
    if (okBefore != okAfter) {
      c.status = okAfter ? Status::Fixed : Status::Failed;
      ++(okAfter ? d_.fixed : d_.failed);
      if (!okAfter) c.cause = fmt::format("{}: {}", y.status, y.message.substr(0, y.message.find('\n')));
    } else if (otherCode) {
      c.status = Status::Changed;
      ++d_.changed;
    } else if (c.divergence.found() && o_.rewrites) {
      c.status = Status::OtherWay;
      ++d_.otherWay;
    } else {
      ++d_.same; // only names of rules in the stories, or names in the sources, differ
      return;
    }
    if (c.cause.empty())
      c.cause = c.divergence.found()   ? c.divergence.cause()
                : x.device != y.device ? "another device"
                                       : "the text of the renderer changed, the program did not";
    if (!settings.empty() && c.divergence.found())
      c.cause = fmt::format("{}: {}", fmt::join(settings, ", "), c.cause);
  }

  static uint64_t lastGraph(const Story& s) {
    for (size_t i = s.events().size(); i-- > 0;)
      if (s.events()[i].kind == StoryEvent::PassEnd) return s.hash(s.events()[i].after);
    return s.hash(s.root());
  }

  /// A kernel with a changed input has its cause in a schedule: the schedule of its script line, or the only
  /// changed schedule.
  void blameSchedules() {
    std::map<std::string, std::string> byPlace;
    std::set<std::string> causes;
    for (const Change& c : d_.changes)
      if (!c.entry().isKernel() && c.divergence.found() && c.status == Status::Changed) {
        byPlace.emplace(c.entry().place(), c.cause);
        causes.insert(c.cause);
      }
    if (causes.empty()) return;
    for (Change& c : d_.changes) {
      bool fromElsewhere = c.status == Status::Added || c.status == Status::Removed ||
                           c.divergence.kind == Divergence::Kind::InputDiffers;
      if (!c.entry().isKernel() || !fromElsewhere) continue;
      auto it = byPlace.find(c.entry().place());
      if (it != byPlace.end())
        c.cause = "schedule: " + it->second;
      else if (causes.size() == 1)
        c.cause = "schedule: " + *causes.begin();
    }
    for (Change& c : d_.changes)
      if (!c.entry().isKernel() && !c.cause.empty()) c.cause = "schedule: " + c.cause;
  }

  /// Drops a renaming where a corpus has the rule's name on the other side too: there, a different rule
  /// merely gave the same result.
  void forgetFalseRenames() {
    std::set<std::string> before, after;
    for (const auto& [place, n] : a_.counts()) before.insert(place.rule);
    for (const auto& [place, n] : b_.counts()) after.insert(place.rule);
    std::erase_if(d_.renamedRules, [&](const auto& name) {
      return after.contains(name.first) || before.contains(name.second);
    });
  }

  void group() {
    std::map<std::string, ChangeGroup> byCause;
    for (size_t i = 0; i < d_.changes.size(); ++i) {
      const Change& c = d_.changes[i];
      if (c.cause.empty()) continue;
      std::string cause = c.status == Status::OtherWay ? c.cause + " (the code is the same)" : c.cause;
      ChangeGroup& g = byCause[cause];
      g.cause = cause;
      g.changes.push_back(i);
      ++(c.entry().isKernel() ? g.kernels : g.schedules);
    }
    for (auto& [cause, g] : byCause) d_.groups.push_back(std::move(g));
    auto weight = [&](const ChangeGroup& g) {
      bool code = d_.changes[g.changes[0]].status != Status::OtherWay;
      return std::pair(code, g.changes.size());
    };
    std::stable_sort(d_.groups.begin(), d_.groups.end(),
                     [&](const ChangeGroup& x, const ChangeGroup& y) { return weight(x) > weight(y); });
  }

  const Corpus &a_, &b_;
  const DiffOptions& o_;
  std::map<std::string, size_t> settings_; ///< "NOOPT 0 to 1" -> number of pairs that differ in it
  CorpusDiff d_;
};

} // namespace

CorpusDiff diffCorpora(const Corpus& before, const Corpus& after, const DiffOptions& options) {
  return Differ(before, after, options).run();
}

} // namespace uopscope
