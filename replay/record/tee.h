// Combines two observers: both receive every call, and the first answer that is not Apply wins.
//
//   Tee both(&recorder, &capture);  ObserverScope scope(&both);
#pragma once
#include "engine/rewrite/observer.h"

namespace uopscope {

class Tee : public Observer {
public:
  Tee(Observer* first, Observer* second) : a_(first), b_(second) {}

  bool wantsRewrites() const override { return a_->wantsRewrites() || b_->wantsRewrites(); }
  bool wantsCounts() const override { return a_->wantsCounts() || b_->wantsCounts(); }
  bool wantsMachineTexts() const override { return a_->wantsMachineTexts() || b_->wantsMachineTexts(); }
  const std::atomic<bool>* stopFlag() const override {
    return a_->stopFlag() ? a_->stopFlag() : b_->stopFlag();
  }
  void onScopeBegin(const ScopeBegin& e) override { a_->onScopeBegin(e), b_->onScopeBegin(e); }
  void onScopeEnd() override { a_->onScopeEnd(), b_->onScopeEnd(); }
  void onPassBegin(const PassBegin& e) override { a_->onPassBegin(e), b_->onPassBegin(e); }
  void onPassEnd(const PassEnd& e) override { a_->onPassEnd(e), b_->onPassEnd(e); }
  Control onRewrite(const RewriteEvent& e) override {
    Control first = a_->wantsRewrites() ? a_->onRewrite(e) : Control::Apply;
    if (first == Control::Skip) return first;
    Control second = b_->wantsRewrites() ? b_->onRewrite(e) : Control::Apply;
    return first == Control::Apply ? second : first;
  }
  void onGate(UOp node) override { a_->onGate(node), b_->onGate(node); }
  void onUnchanged(const Rule& rule, UOp node) override {
    if (a_->wantsRewrites()) a_->onUnchanged(rule, node);
    if (b_->wantsRewrites()) b_->onUnchanged(rule, node);
  }
  void onProgram(std::span<const UOp> program) override { a_->onProgram(program), b_->onProgram(program); }
  void onPhase(const Phase& phase) override { a_->onPhase(phase), b_->onPhase(phase); }
  void onCandidate(const Candidate& c) override { a_->onCandidate(c), b_->onCandidate(c); }
  void onDecision(const Decision& d) override { a_->onDecision(d), b_->onDecision(d); }
  void onBuffer(const BufferEvent& buffer) override { a_->onBuffer(buffer), b_->onBuffer(buffer); }
  void onOutput(std::string_view stream, std::string_view text) override {
    a_->onOutput(stream, text), b_->onOutput(stream, text);
  }
  void onRuleError(const Rule& rule, UOp before, std::string_view message) override {
    a_->onRuleError(rule, before, message), b_->onRuleError(rule, before, message);
  }
  void onCounts(const PassCounts& counts) override { a_->onCounts(counts), b_->onCounts(counts); }
  void onDeclines(std::span<const DeclineCount> declines) override {
    a_->onDeclines(declines), b_->onDeclines(declines);
  }
  void onArtifact(const Artifact& artifact) override { a_->onArtifact(artifact), b_->onArtifact(artifact); }
  void onLaunch(const Launch& launch) override { a_->onLaunch(launch), b_->onLaunch(launch); }
  void onOrigin(const Origin& origin) override { a_->onOrigin(origin), b_->onOrigin(origin); }
  void poolRetired(Pool& pool) override { a_->poolRetired(pool), b_->poolRetired(pool); }
  void poolDone(std::shared_ptr<Pool> pool) override { a_->poolDone(pool), b_->poolDone(std::move(pool)); }
  std::unique_ptr<Observer> fork(uint64_t ordinal) override {
    auto first = a_->fork(ordinal), second = b_->fork(ordinal);
    if (!first || !second) return nullptr;
    auto both = std::make_unique<Tee>(first.get(), second.get());
    both->ownA_ = std::move(first), both->ownB_ = std::move(second);
    return both;
  }
  void join(std::unique_ptr<Observer> child) override {
    auto* both = dynamic_cast<Tee*>(child.get());
    if (!both) return;
    a_->join(std::move(both->ownA_));
    b_->join(std::move(both->ownB_));
  }

private:
  Observer *a_, *b_;
  std::unique_ptr<Observer> ownA_, ownB_; ///< the observers of a fork
};

} // namespace uopscope
