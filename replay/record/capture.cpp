// From observed events to compilations.
#include "replay/record/capture.h"

#include "engine/base/clock.h"
#include "engine/base/context_var.h"
#include "engine/rewrite/rule.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace uopscope {

namespace {
/// Settings about output, recording and speed of the run, not about what is made.
bool isAboutOutput(std::string_view name) {
  static constexpr std::string_view names[] = {"DEBUG",
                                               "VIZ",
                                               "SPEC",
                                               "TRACK_MATCH_STATS",
                                               "CAPTURE_PROCESS_REPLAY",
                                               "CCACHE",
                                               "TRACEMETA",
                                               "IGNORE_BEAM_CACHE",
                                               "JIT",
                                               "REWRITE_STACK_LIMIT"};
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

int64_t numberOrUnknown(const nlohmann::json& j, const char* name) {
  auto it = j.find(name);
  return it != j.end() && it->is_number_integer() ? it->get<int64_t>() : -1;
}
} // namespace

std::string settingsJson() {
  nlohmann::ordered_json j = nlohmann::ordered_json::object();
  for (const ContextVar* v : ContextVar::all())
    if (!isAboutOutput(v->name())) j[v->name()] = v->value();
  return j.dump();
}

uint64_t Compilation::inputHash() const {
  uint64_t h = hashMix(static_cast<uint64_t>(kind), hashText(graph));
  return hashMix(hashMix(h, hashText(device)), hashText(settings));
}

uint64_t Compilation::outputHash() const {
  uint64_t h = hashMix(hashText(status), hashText(source));
  return hashMix(hashMix(h, hashText(ir)), hashText(launch));
}

void CaptureObserver::onScopeBegin(const ScopeBegin& begin) {
  ++scopes_;
  if (open_ || !begin.root || (begin.kind != ScopeKind::Kernel && begin.kind != ScopeKind::Schedule)) return;
  Open& o = open_.emplace();
  o.depth = scopes_;
  o.made.kind = begin.kind;
  o.made.name = begin.name;
  o.made.file = begin.script.file;
  o.made.line = begin.script.line;
  o.made.settings = settingsJson();
  o.made.graph = graphToText(begin.root);
  o.root = o.graph.add(begin.root);
  o.beganNs = nowNs();
}

void CaptureObserver::onScopeEnd() {
  if (scopes_-- && open_ && open_->depth == scopes_ + 1) {
    Open done = std::move(*open_);
    open_.reset();
    passes_.clear();
    if (!done.sawPass) return; // found in a cache: nothing was compiled
    Compilation& c = done.made;
    c.compileNs = (done.sourceNs ? done.sourceNs : nowNs()) - done.beganNs;
    c.story = done.graph.take();
    c.story.events = std::move(done.events);
    c.story.root = done.root;
    if (c.kind == ScopeKind::Kernel && c.source.empty() && c.status == "ok") {
      c.status = "failed";
      if (c.message.empty()) c.message = "the compilation ended before there was source";
    }
    sink_(std::move(c));
  }
}

void CaptureObserver::event(StoryEvent::Kind kind, std::string_view word, uint32_t node) {
  uint64_t w = kind == StoryEvent::PassEnd ? 0 : open_->graph.word(word);
  putVarint(open_->events, w << 2 | kind);
  putVarint(open_->events, node);
}

void CaptureObserver::onPassBegin(const PassBegin& begin) {
  passes_.emplace_back(begin.name);
  if (!open_) return;
  open_->sawPass = true;
  event(StoryEvent::PassBegin, begin.name, open_->graph.add(begin.root));
}

void CaptureObserver::onPassEnd(const PassEnd& end) {
  if (!passes_.empty()) passes_.pop_back();
  if (!open_) return;
  event(StoryEvent::PassEnd, {}, open_->graph.add(end.root));
  if (end.outcome != PassOutcome::Done && open_->made.message.empty()) {
    open_->made.status = "failed";
    open_->made.message = end.message;
  }
}

Control CaptureObserver::onRewrite(const RewriteEvent& e) {
  if (open_) {
    event(StoryEvent::Step, e.rule->name(), open_->graph.add(e.before));
    putVarint(open_->events, open_->graph.add(e.after));
  }
  return Control::Apply;
}

void CaptureObserver::onRuleError(const Rule& rule, UOp before, std::string_view message) {
  if (!open_) return;
  event(StoryEvent::Error, rule.name(), open_->graph.add(before));
  open_->made.status = "failed";
  open_->made.message = message;
}

void CaptureObserver::onCounts(std::span<const MatchCount> counts) {
  std::string pass = passes_.empty() ? "" : passes_.back();
  for (const MatchCount& c : counts) {
    RuleCount& total = counts_[{pass, c.rule->name(), c.rule->file(), c.rule->line()}];
    for (int i = 0; i < kOutcomeCount; ++i) {
      total.count[i] += c.count[i];
      total.ns += c.ns[i];
    }
  }
}

void CaptureObserver::onArtifact(const Artifact& a) {
  if (!open_) return;
  Compilation& c = open_->made;
  if (a.kind == "name")
    c.name = a.text;
  else if (a.kind == "source")
    c.source = a.text, open_->sourceNs = nowNs();
  else if (a.kind == "ir")
    c.ir = a.text;
  else if (a.kind == "asm")
    c.assembly = a.text;
  else if (a.kind == "opts")
    c.opts = a.text;
  else if (a.kind == "launch") {
    auto j = nlohmann::json::parse(a.text, nullptr, false);
    if (j.is_object()) {
      c.device = j.value("device", "");
      if (auto e = j.find("estimates"); e != j.end())
        c.flops = numberOrUnknown(*e, "ops"), c.bytes = numberOrUnknown(*e, "mem");
    }
    c.launch = a.text;
  }
}

void CaptureObserver::poolRetired(Pool& pool) {
  if (open_) open_->graph.forget(pool);
}

std::unique_ptr<Observer> CaptureObserver::fork(uint64_t) {
  auto held = std::make_shared<std::vector<Compilation>>();
  auto child = std::make_unique<CaptureObserver>([held](Compilation c) { held->push_back(std::move(c)); });
  child->held_ = held;
  return child;
}

void CaptureObserver::join(std::unique_ptr<Observer> child) {
  auto* c = dynamic_cast<CaptureObserver*>(child.get());
  if (!c || !c->held_) return;
  for (Compilation& made : *c->held_) sink_(std::move(made));
  for (const auto& [place, count] : c->counts_) {
    RuleCount& total = counts_[place];
    for (int i = 0; i < kOutcomeCount; ++i) total.count[i] += count.count[i];
    total.ns += count.ns;
  }
}

} // namespace uopscope
