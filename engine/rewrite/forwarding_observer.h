// An observer that passes all events on to an inner observer. An observer that filters rewrites derives from
// it and overrides the functions it needs.
//
//   struct NoDivisions : ForwardingObserver {
//     using ForwardingObserver::ForwardingObserver;
//     Control onRewrite(const RewriteEvent& e) override {
//       return isDivision(e) ? Control::Skip : inner().onRewrite(e);
//     }
//   };
//
// All work stays on the thread of the script, since such an observer decides about rewrites in their order.
#pragma once
#include "engine/rewrite/observer.h"

namespace uopscope {

class ForwardingObserver : public Observer {
public:
  explicit ForwardingObserver(Observer& inner) : inner_(&inner) {}

  bool wantsRewrites() const override { return true; }
  bool wantsCounts() const override { return inner().wantsCounts(); }
  bool wantsMachineTexts() const override { return inner().wantsMachineTexts(); }
  const std::atomic<bool>* stopFlag() const override { return inner().stopFlag(); }
  void onScopeBegin(const ScopeBegin& begin) override { inner().onScopeBegin(begin); }
  void onScopeEnd() override { inner().onScopeEnd(); }
  void onPassBegin(const PassBegin& begin) override { inner().onPassBegin(begin); }
  void onPassEnd(const PassEnd& end) override { inner().onPassEnd(end); }
  Control onRewrite(const RewriteEvent& event) override {
    return inner().wantsRewrites() ? inner().onRewrite(event) : Control::Apply;
  }
  void onGate(UOp node) override {
    if (inner().wantsRewrites()) inner().onGate(node);
  }
  void onUnchanged(const Rule& rule, UOp node) override {
    if (inner().wantsRewrites()) inner().onUnchanged(rule, node);
  }
  void onProgram(std::span<const UOp> program) override { inner().onProgram(program); }
  void onPhase(const Phase& phase) override { inner().onPhase(phase); }
  void onCandidate(const Candidate& candidate) override { inner().onCandidate(candidate); }
  void onDecision(const Decision& decision) override {
    if (inner().wantsRewrites()) inner().onDecision(decision);
  }
  void onBuffer(const BufferEvent& buffer) override { inner().onBuffer(buffer); }
  void onOutput(std::string_view stream, std::string_view text) override { inner().onOutput(stream, text); }
  void onRuleError(const Rule& rule, UOp before, std::string_view message) override {
    inner().onRuleError(rule, before, message);
  }
  void onCounts(const PassCounts& counts) override { inner().onCounts(counts); }
  void onDeclines(std::span<const DeclineCount> declines) override { inner().onDeclines(declines); }
  void onArtifact(const Artifact& artifact) override { inner().onArtifact(artifact); }
  void onLaunch(const Launch& launch) override { inner().onLaunch(launch); }
  void onOrigin(const Origin& origin) override { inner().onOrigin(origin); }
  void poolRetired(Pool& pool) override { inner().poolRetired(pool); }
  void poolDone(std::shared_ptr<Pool> pool) override { inner().poolDone(std::move(pool)); }
  std::unique_ptr<Observer> fork(uint64_t) override { return nullptr; }
  void join(std::unique_ptr<Observer> child) override { inner().join(std::move(child)); }

protected:
  Observer& inner() const { return *inner_; }
  void forwardTo(Observer& inner) { inner_ = &inner; }

private:
  Observer* inner_;
};

} // namespace uopscope
