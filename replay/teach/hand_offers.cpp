#include "replay/teach/hand_offers.h"

#include "engine/base/error.h"

#include <fmt/format.h>

#include <utility>

namespace uopscope {
namespace {

// A pass that repeats until nothing changes would repeat for ever, since nothing changes.
constexpr int kMostWalks = 6;
constexpr size_t kMostOffers = 4000;

/// Ends a pass that has answered enough.
struct Enough : std::exception {
  const char* what() const noexcept override { return "asked often enough"; }
};

class Asking : public Observer {
public:
  explicit Asking(HandOffers& to) : to_(to) {}
  void onPassBegin(const PassBegin&) override {
    if (depth_ == 0 && ++walks_ > kMostWalks) throw Enough();
    ++depth_;
  }
  void onPassEnd(const PassEnd&) override { --depth_; }
  void onDecision(const Decision& decision) override {
    if (depth_ == 1) reason_ = decision.reason;
  }
  Control onRewrite(const RewriteEvent& event) override {
    if (depth_ != 1) return Control::Apply;
    if (to_.all.size() == kMostOffers) throw Enough();
    to_.all.push_back({event.rule, event.before, event.after, std::exchange(reason_, {})});
    return Control::Skip;
  }

private:
  HandOffers& to_;
  std::string reason_;
  int depth_ = 0, walks_ = 0;
};

} // namespace

HandOffers offersOf(const KernelPass& pass, UOp graph, const Target& target) {
  HandOffers out;
  Asking asking(out);
  ObserverScope scope(&asking);
  try {
    runKernelPass(pass, graph, target);
  } catch (const Enough&) {
    if (out.all.size() == kMostOffers)
      out.why = fmt::format("it offers more than {} rewrites; the first are listed", kMostOffers);
  } catch (const std::exception& e) {
    out.why = e.what();
  }
  return out;
}

} // namespace uopscope
