// The entry point of every test program; tests/<part>/**/*_test.cpp are linked into it. Nothing compiled is
// taken from the cache of the user, or left there.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <cstdlib>

namespace {
/// Before settings read the environment, which they do once.
[[gnu::constructor(101)]] void keepNothing() {
  setenv("CCACHE", "0", 0);
}
} // namespace

int main(int argc, char** argv) {
  return doctest::Context(argc, argv).run();
}
