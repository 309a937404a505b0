// A session on a trace with its tools, settled after each step: what the tests of tools have before them.
//
//   Desk d(compiledTrace());  d.goToPass("devectorize");  d.trigger("last-step");
#pragma once
#include "tests/viz/support.h"
#include "viz/models/session/tools.h"

#include <doctest/doctest.h>

#include <string>

namespace uopscope::test {

/// It opens the trace and goes to its fullest kernel; every member function waits until the session is settled.
struct Desk {
  QGuiApplication& app = application();
  Session session;
  Tools tools{session};
  explicit Desk(const QString& file) {
    session.setStepAlone(false);
    session.open(file);
    settle();
    if (session.state() == "ready") goToFullest(session);
    settle();
  }
  void settle() {
    REQUIRE(waitFor([&] { return session.settled(); }));
  }
  void trigger(const char* action) {
    session.trigger(QLatin1String(action));
    settle();
  }
  /// The first pass of this name with more than two steps.
  void goToPass(const std::string& name) {
    for (const ScopeInfo& s : session.trace()->scopes())
      for (const PassInfo& p : session.trace()->passes(s.id))
        if (p.name == name && p.steps > 2) {
          session.goToPass(s.id, p.id);
          settle();
          return;
        }
    FAIL("no such pass");
  }
  const Picture& picture() { return *session.graph()->picture(); }
};

} // namespace uopscope::test
