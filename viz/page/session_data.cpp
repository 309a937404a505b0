// Takes passes in order until the size is used up: kernels first, since lessons are mostly about them.
#include "viz/page/session_data.h"

#include "replay/read/decisions.h"
#include "replay/read/opening.h"
#include "replay/read/print.h"
#include "replay/read/provenance.h"
#include "replay/read/readable.h"
#include "replay/read/text_diff.h"
#include "replay/teach/pass_words.h"
#include "viz/page/picture_deltas.h"
#include "viz/pictures/pass_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace uopscope {

using Json = nlohmann::json;

namespace {

std::string withSteps(const std::string& name, int64_t steps) {
  return fmt::format("{} ({} {})", name, steps, steps == 1 ? "step" : "steps");
}

// Most work of a walk (steps times nodes): larger ones would take minutes.
constexpr int64_t kMostWork = 40'000'000;
// Limits: lines of a difference and of the trees it compares; characters of an expression, a text and a file.
constexpr size_t kDiffLines = 40, kTreeLines = 160, kExpression = 400, kText = 60'000, kFile = 200'000;

std::string placeText(const FileLine& at) {
  return at.known() ? fmt::format("{}:{}", at.file, at.line) : std::string();
}

const char* kindName(ScopeKind kind) {
  switch (kind) {
  case ScopeKind::Kernel: return "kernel";
  case ScopeKind::Schedule: return "schedule";
  case ScopeKind::Script: return "script";
  default: return "rewriting";
  }
}

std::string cut(std::string text, size_t most) {
  if (text.size() <= most) return text;
  const size_t lines =
      static_cast<size_t>(std::count(text.begin() + static_cast<int64_t>(most), text.end(), '\n'));
  text.resize(text.rfind('\n', most) == std::string::npos ? most : text.rfind('\n', most) + 1);
  return text + fmt::format("... {} more lines are not in this file\n", lines);
}

/// Changed lines with their surroundings, at most kDiffLines.
std::vector<std::string> shortDiff(const std::string& before, const std::string& after) {
  std::vector<std::string> all = lineDiff(before, after), out;
  std::vector<bool> near(all.size(), all.size() <= kDiffLines);
  for (size_t i = 0; i < all.size(); ++i)
    if (all[i].starts_with('+') || all[i].starts_with('-'))
      for (size_t j = i > 0 ? i - 1 : 0; j < std::min(all.size(), i + 2); ++j) near[j] = true;
  size_t hidden = 0;
  for (size_t i = 0; i < all.size(); ++i) {
    if (near[i] && out.size() < kDiffLines)
      out.push_back(all[i]);
    else
      ++hidden;
  }
  if (hidden) out.push_back(fmt::format("... {} more lines", hidden));
  return out;
}

} // namespace

int64_t PageWords::of(const std::string& text) {
  const auto [at, isNew] = numbers_.emplace(text, static_cast<int64_t>(words_.size()));
  if (isNew) words_.push_back(text), bytes_ += text.size() + 4;
  return at->second;
}

void PageWords::keep(size_t count) {
  for (; words_.size() > count; words_.pop_back()) {
    bytes_ -= words_.back().size() + 4;
    numbers_.erase(words_.back());
  }
}

int64_t SessionData::ruleNumber(RuleId id) {
  const auto known = rules_.find(id);
  if (known != rules_.end()) return known->second;
  const RuleInfo& r = trace_.rule(id);
  json_["rules"].push_back({r.name, placeText(r.at), r.text, r.pattern});
  bytes_ += r.name.size() + r.text.size() + r.pattern.size() + 40;
  return rules_[id] = static_cast<int64_t>(rules_.size());
}

void SessionData::addFile(const std::string& path) {
  if (path.empty() || json_["files"].contains(path)) return;
  const auto text = trace_.fileText(path);
  if (!text) return;
  json_["files"][path] = cut(*text, kFile);
  bytes_ += std::min(text->size(), kFile);
}

void SessionData::tell(double share) const {
  if (choice_.progress && !choice_.progress(share))
    throw Error(ErrorKind::Runtime, "interrupted: the page was not written");
}

size_t SessionData::room() const {
  const size_t used = bytes_ + words_.bytes();
  return used < choice_.mostBytes ? choice_.mostBytes - used : 0;
}

// Rows of [rule, before, after, error, lines of the difference].
Json SessionData::stepRows(const PassInfo& pass) {
  Json rows = Json::array();
  auto read = trace_.nodes().reader();
  for (const StepInfo& s : trace_.steps(pass.id)) {
    Json lines = Json::array();
    const std::string after = s.after ? printTree(read, s.after, kTreeLines) : std::string();
    for (const std::string& line : shortDiff(printTree(read, s.before, kTreeLines), after))
      lines.push_back(words_.of(line));
    bytes_ += 24 + lines.size() * 5;
    rows.push_back({ruleNumber(s.rule), words_.of(readableExpression(read, s.before, 8, kExpression)),
                    s.after ? words_.of(readableExpression(read, s.after, 8, kExpression)) : -1,
                    s.kind == StepKind::RewriteError ? Json(trace_.stepMessage(s.id)) : Json(0),
                    std::move(lines)});
  }
  return rows;
}

Json SessionData::passJson(const PassInfo& pass, size_t number) {
  Json out{{"name", pass.name},   {"no", number},        {"about", std::string(aboutPass(pass.name))},
           {"steps", pass.steps}, {"depth", pass.depth}, {"at", placeText(pass.at)}};
  if (pass.outcome && !pass.message.empty()) out["message"] = pass.message;
  if (!room()) return out;
  PassView view(trace_, pass.id, {});
  const auto nodes = static_cast<int64_t>(view.cursor().graphAt(0).size());
  if ((pass.steps + 1) * std::max<int64_t>(nodes, 50) > kMostWork || !view.prepare()) return out;
  const size_t before = bytes_, words = words_.all().size();
  auto tooLarge = [&] {
    bytes_ = before;
    words_.keep(words);
    return out;
  };
  PictureDeltas deltas(words_);
  for (int64_t k = 0; k <= view.steps(); ++k) {
    deltas.add(*view.at(k));
    if (deltas.bytes() > room()) return tooLarge();
  }
  Json rows = stepRows(pass);
  bytes_ += deltas.bytes();
  if (bytes_ + words_.bytes() > choice_.mostBytes + choice_.mostBytes / 10) return tooLarge();
  out["pictures"] = deltas.json();
  out["rows"] = std::move(rows);
  return out;
}

Json SessionData::scopeJson(ScopeId id, PassId only) {
  const ScopeInfo scope = trace_.scope(id);
  Json out{
      {"id", id}, {"name", scope.name}, {"kind", kindName(scope.kind)}, {"script", placeText(scope.script)}};
  addFile(scope.script.file);
  out["texts"] = Json::object();
  for (const char* kind : {"source", "ir", "asm"})
    if (auto text = trace_.artifact(id, kind)) {
      out["texts"][kind] = cut(*text, kText);
      bytes_ += std::min(text->size(), kText);
    }
  const std::vector<PassInfo> passes = trace_.passes(id);
  std::map<PassId, size_t> numbers;
  for (size_t i = 0; i < passes.size(); ++i) numbers[passes[i].id] = i + 1;
  out["decisions"] = Json::array();
  for (const DecidedStep& d : decidedSteps(trace_, id))
    out["decisions"].push_back({numbers[d.pass], d.k, d.made.reason, priceText(d.made)});
  Provenance provenance(trace_, id);
  out["lines"] = Json::array();
  std::set<std::string> seen;
  if (scope.root != kNoNode)
    for (const OriginInfo& o : provenance.origins(scope.root))
      if (o.script.known() && seen.insert(placeText(o.script) + o.operation).second) {
        addFile(o.script.file);
        out["lines"].push_back({o.script.file, o.script.line, o.operation});
      }
  out["passes"] = Json::array();
  std::vector<std::string> absent;
  for (const PassInfo& pass : passes) {
    if (only && pass.id != only) continue;
    Json p = passJson(pass, numbers[pass.id]);
    if (!p.contains("rows") && pass.steps) absent.push_back(withSteps(pass.name, pass.steps));
    out["passes"].push_back(std::move(p));
  }
  full_ |= !absent.empty();
  if (!absent.empty())
    limits_.push_back(fmt::format("of {} {} (number {}), {} of {} passes are named without their steps: {}",
                                  kindName(scope.kind), scope.name, id, absent.size(), passes.size(),
                                  fmt::join(absent, ", ")));
  if (only) limits_.push_back(fmt::format("of {}, one of {} passes was chosen", scope.name, passes.size()));
  return out;
}

// "kernel=3&pass=12&step=5": the rewrite worth a look, or the first that the page has of the kernel.
std::string SessionData::opening(ScopeId id) const {
  const auto scope = std::ranges::find(json_["scopes"], Json(id), [](const Json& s) { return s["id"]; });
  if (scope == json_["scopes"].end()) return {};
  const std::vector<PassInfo> passes = trace_.passes(id);
  if (const auto at = openingOf(trace_, id))
    for (const Json& p : (*scope)["passes"])
      if (p.contains("rows") && passes[p["no"].get<size_t>() - 1].id == at->pass)
        return fmt::format("kernel={}&pass={}&step={}", id, p["no"].get<size_t>(), at->step.k);
  return fmt::format("kernel={}", id);
}

SessionData::SessionData(Trace& trace, const SessionChoice& choice) : trace_(trace), choice_(choice) {
  json_ = {{"script", trace.scriptName()}, {"recorded", trace.meta("time.began")},
           {"status", trace.status()},     {"version", trace.meta("version")},
           {"rules", Json::array()},       {"files", Json::object()},
           {"scopes", Json::array()}};
  if (!choice.pass.empty() && choice.kernel.empty())
    throw Error(ErrorKind::Value, "--pass needs --kernel: passes of which kernel?");
  std::vector<ScopeId> wanted;
  PassId only = 0;
  if (!choice.kernel.empty()) {
    wanted.push_back(trace.findScope(choice.kernel));
    if (!choice.pass.empty()) only = trace.findPass(wanted[0], choice.pass);
  } else {
    for (bool kernels : {true, false})
      for (const ScopeInfo& s : trace.scopes())
        if ((s.kind == ScopeKind::Kernel) == kernels && !trace.passes(s.id).empty()) wanted.push_back(s.id);
  }
  if (wanted.empty())
    throw Error(ErrorKind::Value,
                fmt::format("{}: no kernel and no schedule was recorded: there is nothing to step through",
                            trace.path()));
  addFile(trace.meta("script"));
  const ScopeId first = fullestScope(trace); // it is what the page opens at, so it gets room before others
  if (const auto at = std::ranges::find(wanted, first); at != wanted.end())
    std::rotate(wanted.begin(), at, at + 1);
  std::vector<std::string> absent;
  for (size_t i = 0; i < wanted.size(); ++i) {
    tell(static_cast<double>(i) / static_cast<double>(wanted.size()));
    if (room())
      json_["scopes"].push_back(scopeJson(wanted[i], only));
    else
      absent.push_back(withSteps(trace.scope(wanted[i]).name, trace.scope(wanted[i]).steps));
  }
  if (!choice.kernel.empty())
    limits_.push_back(
        fmt::format("one of the {} kernels and schedules of the trace was chosen", trace.scopes().size()));
  full_ |= !absent.empty();
  if (!absent.empty())
    limits_.push_back(fmt::format("{} of {} kernels and schedules are not in this file: {}", absent.size(),
                                  wanted.size(), fmt::join(absent, ", ")));
  if (full_)
    limits_.emplace_back("--megabytes makes a larger page; --kernel and --pass choose what is in it");
  std::sort(json_["scopes"].begin(), json_["scopes"].end(),
            [](const Json& a, const Json& b) { return a["id"] < b["id"]; });
  json_["opening"] = opening(wanted.front());
  json_["words"] = words_.all();
  json_["limits"] = limits_;
}

} // namespace uopscope
