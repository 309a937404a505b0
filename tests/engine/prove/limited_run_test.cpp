// Work in a copy of the process: its text comes back, and what never ends, ends.
#include "engine/prove/limited_run.h"

#include <doctest/doctest.h>

#include <csignal>
#include <stdexcept>

using uopscope::prove::runLimited;

TEST_CASE("limited work: the text, whatever is in it") {
  CHECK(runLimited(5, [] { return std::string(); }) == "");
  const std::string long_(200'000, 'x');
  CHECK(runLimited(5, [&] { return long_ + '\0' + "\n\n"; }) == long_ + '\0' + "\n\n");
}

TEST_CASE("limited work: none if it is stopped, fails or crashes") {
  CHECK_FALSE(runLimited(1, [] {
    volatile bool isOver = false;
    while (!isOver) {
    }
    return std::string();
  }));
  CHECK_FALSE(runLimited(5, []() -> std::string { throw std::runtime_error("no"); }));
  CHECK_FALSE(runLimited(5, [] {
    raise(SIGKILL);
    return std::string("never");
  }));
}

TEST_CASE("limited work changes nothing here") {
  int seen = 1;
  CHECK(runLimited(5, [&] { return std::to_string(++seen); }) == "2");
  CHECK(seen == 1);
}
