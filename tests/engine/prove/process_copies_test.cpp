// Work in copies of the process: texts come back, in order, what never ends, ends, and what a copy lost is done here.
#include "engine/prove/process_copies.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <csignal>
#include <stdexcept>
#include <string>
#include <vector>

using uopscope::prove::runLimited;
using uopscope::prove::runShared;

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

namespace {

std::vector<std::string> shared(size_t count, size_t copies, const std::function<std::string(size_t)>& work) {
  std::vector<std::string> texts;
  runShared(count, copies, work, [&](std::string text) { texts.push_back(std::move(text)); });
  return texts;
}

} // namespace

TEST_CASE("shared work: all texts, in order, whatever is in them and whoever made them") {
  const auto text = [](size_t i) { return std::string(i * 997, 'a') + '\0' + std::to_string(i); };
  std::vector<std::string> wanted;
  for (size_t i = 0; i < 40; ++i) wanted.push_back(text(i));
  for (size_t copies : {0, 1, 2, 7, 100}) CHECK(shared(40, copies, text) == wanted);
  CHECK(shared(0, 3, text).empty());
}

TEST_CASE("shared work is done in copies, and what a copy lost is done here") {
  const pid_t here = getpid();
  const auto who = [&](size_t) { return std::string(getpid() == here ? "here" : "there"); };
  CHECK(shared(3, 2, who) == std::vector<std::string>(3, "there"));
  const auto dies = [&](size_t i) {
    if (i == 2 && getpid() != here) raise(SIGKILL);
    return who(i);
  };
  CHECK(shared(5, 2, dies).at(2) == "here");
  const auto throws = [](size_t i) -> std::string {
    if (i == 1) throw std::runtime_error("no");
    return {};
  };
  CHECK_THROWS_WITH(shared(4, 2, throws), "no");
}
