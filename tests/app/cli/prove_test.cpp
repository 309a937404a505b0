// uopscope prove: no rule of the engine is refuted, the page of rules contains all of them, and rules of a
// script are proved like the engine's.
#include "engine/prove/known_status.h"
#include "tests/app/cli/support.h"

#include <doctest/doctest.h>

using namespace uopscope;
using namespace uopscope::test;

namespace {

/// Without Z3 the verb only tells what to install, so there is nothing else to test.
bool hasZ3(const Folder& f) {
  Result r = call(f, {"prove", "not-not"});
  if (r.code == 0) return true;
  CHECK(contains(r.err, "libz3-dev"));
  return false;
}

} // namespace

TEST_CASE("no rule is refuted, each has a status, and the page of rules has it") {
  Folder f;
  if (!hasZ3(f)) return;
  Result r = call(f, {"prove", "--json"});
  CHECK(r.code == 0);
  Json rules = Json::parse(r.out);
  CHECK(rules.size() > 150);
  for (const Json& rule : rules) {
    CAPTURE(rule.dump(1));
    CHECK(rule["status"] != "refuted");
    CHECK_MESSAGE(
        !prove::knownStatus(rule["file"].get<std::string>(), rule["rule"].get<std::string>()).empty(),
        "run `uopscope prove --markdown >docs/design/rules.md`");
  }
}

TEST_CASE("one rule, several by their letters, and none of a name") {
  Folder f;
  if (!hasZ3(f)) return;
  Json one = Json::parse(call(f, {"prove", "not-not", "--json"}).out);
  REQUIRE(one.size() == 1);
  CHECK(one[0]["status"] == "proved");
  CHECK(one[0]["integer"] == true);
  CHECK(Json::parse(call(f, {"prove", "shl-*", "--json"}).out).size() == 1);
  Result none = call(f, {"prove", "no-such-rule"});
  CHECK(none.code == 2);
  CHECK(contains(none.err, "no rule is called 'no-such-rule'"));
}

TEST_CASE("rules of a script are proved, a wrong one is refuted") {
  Folder f;
  if (!hasZ3(f)) return;
  std::string right = f.file("right.py", R"(
from tinygrad.uop.ops import PatternMatcher, UPat, Ops
from tinygrad.dtype import dtypes
rules = PatternMatcher([(UPat.var("x", dtypes.ints) * 2, lambda x: x + x)])
)");
  Result r = call(f, {"prove", "--rules", right, "--json"});
  CAPTURE(r.err);
  CHECK(r.code == 0);
  Json proofs = Json::parse(r.out);
  REQUIRE(proofs.size() == 1);
  CHECK(proofs[0]["status"] == "proved");
  std::string wrong = f.file("wrong.py", R"(
from tinygrad.uop.ops import PatternMatcher, UPat, Ops
from tinygrad.dtype import dtypes
rules = PatternMatcher([((UPat.var("x", dtypes.int32) * 2) // 2, lambda x: x)])
)");
  Result w = call(f, {"prove", "--rules", wrong});
  CHECK(w.code == 1);
  CHECK(contains(w.out, "refuted"));
  CHECK(contains(w.out, "ast = "));
  CHECK(call(f, {"prove", "--rules", f.file("none.py", "x = 1\n")}).code == 2);
}
