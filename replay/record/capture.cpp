// From observed events to compilations.
#include "replay/record/capture.h"

#include "engine/base/clock.h"
#include "engine/rewrite/rule.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace uopscope {

namespace {
int64_t numberOrUnknown(const nlohmann::json& j, const char* name) {
  auto it = j.find(name);
  return it != j.end() && it->is_number_integer() ? it->get<int64_t>() : -1;
}
} // namespace

bool setText(Compilation& c, std::string_view kind, std::string_view text) {
  std::string* field = kind == "name"       ? &c.name
                       : kind == "source"   ? &c.source
                       : kind == "ir"       ? &c.ir
                       : kind == "asm"      ? &c.assembly
                       : kind == "opts"     ? &c.opts
                       : kind == "settings" ? &c.settings
                       : kind == "launch"   ? &c.launch
                                            : nullptr;
  if (!field) return false;
  *field = text;
  if (field != &c.launch) return true;
  auto j = nlohmann::json::parse(text, nullptr, false);
  if (!j.is_object()) return true;
  if (auto device = j.find("device"); device != j.end() && device->is_string()) c.device = *device;
  if (auto e = j.find("estimates"); e != j.end() && e->is_object())
    c.flops = numberOrUnknown(*e, "ops"), c.bytes = numberOrUnknown(*e, "mem");
  return true;
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
  o.made.settings = settings_.json();
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
  OpenPass& pass = passes_.emplace_back(OpenPass{std::string(begin.name)});
  if (!open_) return;
  open_->sawPass = true;
  pass.begin = open_->events.size();
  event(StoryEvent::PassBegin, begin.name, open_->graph.add(begin.root));
  pass.body = open_->events.size();
}

void CaptureObserver::onPassEnd(const PassEnd& end) {
  if (passes_.empty()) return;
  OpenPass pass = std::move(passes_.back());
  passes_.pop_back();
  if (!open_) return;
  if (!passes_.empty() && end.outcome == PassOutcome::Done && open_->events.size() == pass.body) {
    open_->events.resize(pass.begin); // run inside a rule, without a step: no part of the story
    return;
  }
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
  std::string pass = passes_.empty() ? "" : passes_.back().name;
  for (const MatchCount& c : counts) {
    RuleCount& total = counts_[{pass, c.rule->name(), c.rule->file(), c.rule->line()}];
    for (int i = 0; i < kOutcomeCount; ++i) {
      total.count[i] += c.count[i];
      total.ns += c.ns[i];
    }
  }
}

void CaptureObserver::onArtifact(const Artifact& a) {
  if (!open_ || !setText(open_->made, a.kind, a.text)) return;
  if (a.kind == "source") open_->sourceNs = nowNs();
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
