// Variants kept beside a trace: written and read, renamed and forgotten; a file of somebody else is not believed.
#include "engine/base/error.h"
#include "replay/read/link.h"
#include "replay/teach/kept_variants.h"
#include "tests/replay/support.h"

#include <doctest/doctest.h>

#include <fstream>

using namespace uopscope;
using namespace uopscope::test;

namespace {

struct Place : TempTrace {
  ~Place() { std::filesystem::remove(KeptVariants::fileFor(path)); }
};

} // namespace

TEST_CASE("kept variants: two readers of one file see each other's changes") {
  const Place at;
  KeptVariants window(at.path), line(at.path);
  window.keep({"plain loops", 3, {"--opts", "none"}});
  line.keep({"no folding", 3, {"--without", "fold-add"}});
  window.rename("plain loops", "loops \u2013 plain");
  KeptVariants again(at.path);
  REQUIRE(again.all().size() == 2);
  CHECK(again.find("loops \u2013 plain").arguments == std::vector<std::string>{"--opts", "none"});
  CHECK(again.find("no folding").kernel == 3);
  CHECK_THROWS_WITH_AS(again.find("x"), doctest::Contains("no folding"), Error);
  CHECK_THROWS_AS(window.rename("no folding", "loops \u2013 plain"), Error);
  CHECK_THROWS_AS(window.rename("nobody", "x"), Error);
  window.keep({"no folding", 4, {"--without", "mul-one"}}); // in place of the other
  CHECK(KeptVariants(at.path).find("no folding").kernel == 4);
  line.forget("no folding");
  CHECK(KeptVariants(at.path).all().size() == 1);
  CHECK_THROWS_AS(line.forget("no folding"), Error);
}

TEST_CASE("kept variants: what is no name or no variant is refused, and left out of a file") {
  const Place at;
  KeptVariants kept(at.path);
  CHECK_THROWS_AS(kept.keep({"", 3, {"--opts", "none"}}), Error);
  CHECK_THROWS_AS(kept.keep({"two\nlines", 3, {"--opts", "none"}}), Error);
  CHECK_THROWS_AS(kept.keep({std::string(101, 'a'), 3, {"--opts", "none"}}), Error);
  CHECK_THROWS_AS(kept.keep({"a", 3, {"--trust", "yes"}}), Error);
  CHECK_THROWS_AS(kept.keep({"a", 3, {"--opts"}}), Error);
  CHECK(!std::filesystem::exists(KeptVariants::fileFor(at.path)));
  std::ofstream(KeptVariants::fileFor(at.path))
      << R"([{"name":"good","kernel":3,"arguments":["--opts","none"]},
             {"name":"good","kernel":4,"arguments":["--opts","none"]},
             {"name":"bad","kernel":3,"arguments":["--keep","/etc/passwd"]},
             {"name":"bad","kernel":3,"arguments":["--opts","none","--trust"]},
             {"name":7,"kernel":3,"arguments":["--opts","none"]}, 5, null,
             {"name":"far","kernel":"3","arguments":{}}, {"kernel":3}])";
  const KeptVariants read(at.path);
  REQUIRE(read.all().size() == 1);
  CHECK(read.find("good").kernel == 3);
  // What was not understood is somebody's: nothing is written over it.
  CHECK_THROWS_WITH_AS(KeptVariants(at.path).forget("good"), doctest::Contains("did not write"), Error);
  std::ofstream(KeptVariants::fileFor(at.path)) << "[{\"name\": ";
  CHECK(KeptVariants(at.path).all().empty());
  CHECK_THROWS_WITH_AS(KeptVariants(at.path).keep({"a", 3, {"--opts", "none"}}),
                       doctest::Contains("left as it is"), Error);
  CHECK(std::filesystem::file_size(KeptVariants::fileFor(at.path)) == 10);
  CHECK(Link::parse("kernel=3&variant=wide+tiles").variant == "wide tiles");
  CHECK(Link::parse(Link::parse("kernel=3&variant=a%26b").str()).variant == "a&b");
  CHECK_THROWS_AS(KeptVariants("/nowhere/x.uoptrace").keep({"a", 3, {"--opts", "none"}}), Error);
}
