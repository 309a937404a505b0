// An observer that passes all events on to an inner observer. An observer that filters rewrites derives from
// it and overrides the functions it needs.
//
//   struct NoDivisions : ForwardingObserver {
//     using ForwardingObserver::ForwardingObserver;
//     Control onRewrite(const RewriteEvent& e) override {
//       return isDivision(e) ? Control::Skip : inner_.onRewrite(e);
//     }
//   };
//
// All work stays on the thread of the script, since such an observer decides about rewrites in their order.
#pragma once
#include "engine/rewrite/observer.h"

namespace uopscope {

class ForwardingObserver : public Observer {
public:
  explicit ForwardingObserver(Observer& inner) : inner_(inner) {}

  bool wantsRewrites() const override { return true; }
  bool wantsCounts() const override { return inner_.wantsCounts(); }
  const std::atomic<bool>* stopFlag() const override { return inner_.stopFlag(); }
  void onScopeBegin(const ScopeBegin& begin) override { inner_.onScopeBegin(begin); }
  void onScopeEnd() override { inner_.onScopeEnd(); }
  void onPassBegin(const PassBegin& begin) override { inner_.onPassBegin(begin); }
  void onPassEnd(const PassEnd& end) override { inner_.onPassEnd(end); }
  Control onRewrite(const RewriteEvent& event) override {
    return inner_.wantsRewrites() ? inner_.onRewrite(event) : Control::Apply;
  }
  void onGate(UOp node) override {
    if (inner_.wantsRewrites()) inner_.onGate(node);
  }
  void onUnchanged(const Rule& rule, UOp node) override {
    if (inner_.wantsRewrites()) inner_.onUnchanged(rule, node);
  }
  void onProgram(std::span<const UOp> program) override { inner_.onProgram(program); }
  void onPhase(const Phase& phase) override { inner_.onPhase(phase); }
  void onCandidate(const Candidate& candidate) override { inner_.onCandidate(candidate); }
  void onDecision(const Decision& decision) override {
    if (inner_.wantsRewrites()) inner_.onDecision(decision);
  }
  void onBuffer(const BufferEvent& buffer) override { inner_.onBuffer(buffer); }
  void onOutput(std::string_view stream, std::string_view text) override { inner_.onOutput(stream, text); }
  void onRuleError(const Rule& rule, UOp before, std::string_view message) override {
    inner_.onRuleError(rule, before, message);
  }
  void onCounts(std::span<const MatchCount> counts) override { inner_.onCounts(counts); }
  void onDeclines(std::span<const DeclineCount> declines) override { inner_.onDeclines(declines); }
  void onArtifact(const Artifact& artifact) override { inner_.onArtifact(artifact); }
  void onLaunch(const Launch& launch) override { inner_.onLaunch(launch); }
  void onOrigin(const Origin& origin) override { inner_.onOrigin(origin); }
  void poolRetired(Pool& pool) override { inner_.poolRetired(pool); }
  std::unique_ptr<Observer> fork(uint64_t) override { return nullptr; }
  void join(std::unique_ptr<Observer> child) override { inner_.join(std::move(child)); }

protected:
  Observer& inner_;
};

} // namespace uopscope
