// CaptureObserver turns observed events into compilations. A scope opens a compilation, and the end of the
// scope hands it to the sink.
#include "replay/record/capture.h"

#include "engine/base/clock.h"
#include "engine/base/error.h"
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
  std::string* field = kind == "name"        ? &c.name
                       : kind == "source"    ? &c.source
                       : kind == "ir"        ? &c.ir
                       : kind == "asm"       ? &c.assembly
                       : kind == "opts"      ? &c.opts
                       : kind == "settings"  ? &c.settings
                       : kind == "launch"    ? &c.launch
                       : kind == "registers" ? &c.registers
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
  Open& o = open_.emplace(Open{});
  if (stories_)
    ofOpen_->clear(); // its tables of rules stay: to find each rule again would take longer than the sums
  o.depth = scopes_;
  o.made.kind = begin.kind;
  o.made.name = begin.name;
  o.made.file = begin.script.file;
  o.made.line = begin.script.line;
  if (stories_) {
    o.made.settings = settings_.json();
    o.made.graph = graphToText(begin.root);
    o.root = graph_.add(begin.root);
  }
  o.beganNs = nowNs();
}

void CaptureObserver::onScopeEnd() {
  const size_t depth = scopes_;
  scopes_ -= depth > 0;
  if (depth > 0 && open_ && open_->depth == depth) {
    Open done = std::move(*open_);
    open_.reset();
    passes_.clear();
    PackedStory story = graph_.take();
    if (!done.sawPass) return; // the kernel came from a cache: nothing was compiled
    Compilation& c = done.made;
    c.compileNs = (done.sourceNs ? done.sourceNs : nowNs()) - done.beganNs;
    c.story = std::move(story);
    c.story.events = std::move(done.events);
    c.story.root = done.root;
    if (c.kind == ScopeKind::Kernel && c.source.empty() && c.status == "ok") {
      c.status = "failed";
      if (c.message.empty()) c.message = "the compilation ended before there was source";
    }
    if (held_) {
      held_->push_back({std::move(c), stories_ ? std::exchange(ofOpen_, tally_->fork()) : nullptr});
    } else if (sink_(std::move(c)) && stories_) {
      tally_->add(*ofOpen_);
    }
  }
}

void CaptureObserver::event(StoryEvent::Kind kind, std::string_view word, uint32_t node) {
  uint64_t w = kind == StoryEvent::PassEnd ? 0 : graph_.word(word);
  putVarint(open_->events, w << 2 | kind);
  putVarint(open_->events, node);
}

void CaptureObserver::onPassBegin(const PassBegin& begin) {
  OpenPass& pass = passes_.emplace_back(OpenPass{std::string(begin.name)});
  if (!open_) return;
  open_->sawPass = true;
  if (!stories_) return;
  pass.begin = open_->events.size();
  event(StoryEvent::PassBegin, begin.name, graph_.add(begin.root));
  pass.body = open_->events.size();
}

void CaptureObserver::onPassEnd(const PassEnd& end) {
  if (passes_.empty()) return;
  OpenPass pass = std::move(passes_.back());
  passes_.pop_back();
  if (!open_) return;
  if (stories_ && !passes_.empty() && end.outcome == PassOutcome::Done && open_->events.size() == pass.body) {
    open_->events.resize(pass.begin); // ran inside a rule without a step: no part of the story
    return;
  }
  if (stories_) event(StoryEvent::PassEnd, {}, graph_.add(end.root));
  if (end.outcome != PassOutcome::Done && open_->made.message.empty()) {
    open_->made.status = "failed";
    open_->made.message = end.message;
  }
}

Control CaptureObserver::onRewrite(const RewriteEvent& e) {
  if (open_) {
    event(StoryEvent::Step, e.rule->name(), graph_.add(e.before));
    putVarint(open_->events, graph_.add(e.after));
  }
  return Control::Apply;
}

void CaptureObserver::onRuleError(const Rule& rule, UOp before, std::string_view message) {
  if (!open_) return;
  if (stories_) event(StoryEvent::Error, rule.name(), graph_.add(before));
  open_->made.status = "failed";
  open_->made.message = message;
}

void CaptureObserver::onCounts(const PassCounts& counts) {
  if (stories_ && !open_) return; // a pass of no compilation, which no replay makes again
  RuleTally& tally = stories_ ? *ofOpen_ : *tally_;
  applied_ += tally.add(passes_.empty() ? std::string_view() : passes_.back().name, counts);
}

void CaptureObserver::onArtifact(const Artifact& a) {
  if (!open_) return;
  if (!stories_ && a.kind == "launch")
    open_->made.launch = a.text; // what it says of device and work comes from the input
  else if (a.kind == "held" && stories_)
    open_->made.graph += heldLine(a.text);
  else if (!setText(open_->made, a.kind, a.text))
    return;
  if (a.kind == "source") open_->sourceNs = nowNs();
}

void CaptureObserver::poolRetired(Pool& pool) {
  if (open_) graph_.forget(pool);
}

std::unique_ptr<Observer> CaptureObserver::fork(uint64_t) {
  auto child = std::make_unique<CaptureObserver>(nullptr, detail_);
  child->held_ = std::make_shared<std::vector<Held>>();
  child->tally_ = tally_->fork();
  if (stories_) child->ofOpen_ = tally_->fork();
  return child;
}

void CaptureObserver::join(std::unique_ptr<Observer> child) {
  auto* c = dynamic_cast<CaptureObserver*>(child.get());
  if (!c || !c->held_) return;
  for (Held& held : *c->held_)
    if (held_)
      held_->push_back(std::move(held));
    else if (sink_(std::move(held.made)) && held.counts)
      tally_->add(*held.counts);
  tally_->add(*c->tally_);
  applied_ += c->applied_;
}

uint64_t appliedIn(const PackedStory& story) {
  std::vector<uint64_t> hashes(story.words.size()), passes;
  for (size_t i = 0; i < hashes.size(); ++i) hashes[i] = hashText(story.words[i]);
  uint64_t sum = 0;
  for (size_t at = 0; at < story.events.size();) {
    uint64_t head = getVarint(story.events, at), word = head >> 2;
    getVarint(story.events, at);
    auto kind = static_cast<StoryEvent::Kind>(head & 3);
    if (kind == StoryEvent::PassEnd) {
      if (!passes.empty()) passes.pop_back();
      continue;
    }
    if (word >= hashes.size()) throw Error(ErrorKind::File, "a stored story names a word it does not have");
    if (kind == StoryEvent::PassBegin) passes.push_back(hashes[word]);
    if (kind == StoryEvent::Step) {
      getVarint(story.events, at);
      sum += appliedHash(passes.empty() ? hashText("") : passes.back(), hashes[word]);
    }
  }
  return sum;
}

} // namespace uopscope
