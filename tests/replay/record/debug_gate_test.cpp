// Stops a recording at breakpoints over a socket, as the window does.
#include "replay/record/debug_gate.h"
#include "tests/replay/support.h"

#include <doctest/doctest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <thread>

using namespace uopscope;
using namespace uopscope::test;

namespace {

/// A debugger: a script of answers to the messages it receives.
class Orders {
public:
  explicit Orders(std::vector<std::string> first)
      : path_("/tmp/uopscope-gate-" + std::to_string(getpid()) + ".sock") {
    unlink(path_.c_str());
    listener_ = socket(AF_UNIX, SOCK_STREAM, 0);
    sockaddr_un a{};
    a.sun_family = AF_UNIX;
    std::memcpy(a.sun_path, path_.c_str(), path_.size() + 1);
    REQUIRE(bind(listener_, reinterpret_cast<const sockaddr*>(&a), sizeof a) == 0);
    REQUIRE(listen(listener_, 1) == 0);
    thread_ = std::thread([this, first] {
      const int peer = accept(listener_, nullptr, nullptr);
      for (const std::string& o : first) say(peer, o);
      std::string text;
      char c;
      while (recv(peer, &c, 1, 0) == 1) {
        if (c != '\n') {
          text += c;
          continue;
        }
        heard_.push_back(text);
        if (text.rfind("paused", 0) == 0) {
          if (answers.empty()) break; // hangs up
          say(peer, answers.front());
          answers.erase(answers.begin());
        }
        text.clear();
      }
      close(peer);
    });
  }
  ~Orders() {
    heard();
    close(listener_);
    unlink(path_.c_str());
  }
  static void say(int peer, const std::string& order) {
    const std::string line = order + "\n";
    send(peer, line.data(), line.size(), MSG_NOSIGNAL);
  }
  const std::string& path() const { return path_; }
  /// All messages, once the recording is over and has closed its end.
  const std::vector<std::string>& heard() {
    if (thread_.joinable()) thread_.join();
    return heard_;
  }
  std::vector<std::string> answers;

private:
  std::vector<std::string> heard_;
  std::string path_;
  int listener_ = -1;
  std::thread thread_;
};

struct Counting : Observer {
  int rewrites = 0;
  Control onRewrite(const RewriteEvent&) override {
    ++rewrites;
    return Control::Apply;
  }
};

/// Number of rewrites that passed, of an expression with four uses of the rules of tests/replay/support.h.
int runUnder(Orders& orders, int* settled = nullptr) {
  Counting inner;
  DebugGate gate(inner, orders.path(), [&] {
    if (settled) ++*settled;
  });
  ObserverScope scope(&gate);
  Pool pool;
  PoolScope in(pool);
  const UOp r = UOp::range(4, 0), s = UOp::range(7, 1);
  graphRewrite(UOp::sink(std::vector<UOp>{(r + 0) * 1, (s + 0) * 1}), shrinking(), {.name = "shrink"});
  return inner.rewrites;
}

} // namespace

TEST_CASE("breakpoints: fields and stars; what is not a field is said") {
  const GatePlace place{"add-zero", "ADD", "RANGE", "shrink", "r_4"};
  CHECK(Breakpoint::parse("rule=add-* op=ADD").holds(place));
  CHECK_FALSE(Breakpoint::parse("rule=add-* op=MUL").holds(place));
  CHECK(Breakpoint::parse("pass=shrink kernel=r_*").holds(place));
  CHECK_THROWS_WITH_AS(Breakpoint::parse("line=3"), doctest::Contains("line=3"), Error);
}

TEST_CASE("gate: runs free without breakpoints") {
  Orders orders({"continue"});
  CHECK(runUnder(orders) >= 4);
  CHECK(std::none_of(orders.heard().begin(), orders.heard().end(),
                     [](auto& l) { return l.rfind("paused", 0) == 0; }));
}

TEST_CASE(
    "gate: stops before the first rewrite, steps, and goes on; everything is settled before each stop") {
  int settled = 0;
  {
    Orders orders({"pause"});
    orders.answers = {"step", "step", "continue"};
    CHECK(runUnder(orders, &settled) >= 4);
  }
  CHECK(settled == 3);
}

TEST_CASE("gate: finish stops where the next pass begins") {
  Orders orders({"pause"});
  orders.answers = {"finish", "continue"};
  {
    Counting inner;
    DebugGate gate(inner, orders.path(), [] {});
    ObserverScope scope(&gate);
    Pool pool;
    PoolScope in(pool);
    for (const char* pass : {"first", "second"}) {
      const UOp r = UOp::range(4, 0), s = UOp::range(7, 1);
      graphRewrite(UOp::sink(std::vector<UOp>{(r + 0) * 1, (s + 0) * 1}), shrinking(), {.name = pass});
    }
    CHECK(inner.rewrites >= 8);
  }
  std::vector<std::string> stops;
  for (const std::string& line : orders.heard())
    if (line.rfind("paused", 0) == 0) stops.push_back(line);
  REQUIRE(stops.size() == 2);
  CHECK(stops[0].find("\tfirst\t0\t") != std::string::npos);
  CHECK(stops[1].find("\tsecond\t0\t") != std::string::npos);
}

TEST_CASE("gate: a skipped rewrite is not made") {
  int all, some;
  {
    Orders orders({"continue"});
    all = runUnder(orders);
  }
  {
    Orders orders({"break op=MUL", "continue"});
    orders.answers = {"skip", "continue", "continue", "continue", "continue"};
    some = runUnder(orders);
  }
  CHECK(some < all);
}

TEST_CASE("gate: whoever gave orders hangs up, and the program runs on") {
  Orders orders({"break op=ADD", "continue"});
  CHECK(runUnder(orders) >= 4);
}

TEST_CASE("gate: nobody listening is an error that says what to do") {
  Counting inner;
  CHECK_THROWS_WITH_AS(DebugGate(inner, "/tmp/no-such-socket-at-all", [] {}),
                       doctest::Contains("/tmp/no-such-socket-at-all"), Error);
}
