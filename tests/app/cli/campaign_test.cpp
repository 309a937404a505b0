// A campaign of the built program: its parts give, byte for byte, the results of one run, and a killed worker
// changes nothing.
#include "tests/app/cli/support.h"

using namespace uopscope;
using namespace uopscope::test;

TEST_CASE("campaign: parts give the bytes of one run, with a worker killed in the middle of its work") {
  Folder f;
  const std::string corpus = f.file("c.uopcorpus"), one = f.file("one.uopcorpus");
  const std::string script = f.file("s.py", "from tinygrad import Tensor\n"
                                            "x = Tensor.rand(4, 25).realize()\n"
                                            "print((x @ x.T).softmax().sum().item())\n");
  REQUIRE(call(f, {"replay", "capture", "-q", script, "-o", corpus}).code == 0);
  REQUIRE(call(f, {"replay", "run", "-q", corpus, "-o", one}).code == 0);
  const std::string alone = call(f, {"replay", "ls", "--results", one}).out;
  CHECK(std::count(alone.begin(), alone.end(), '\n') > 100);
  CHECK(alone.find("_ns") == std::string::npos);

  // The first worker of the second part kills the program and itself.
  const std::string killed = f.file("killed"), program = f.file("program");
  std::ofstream(program) << "#!/bin/sh\ncase \"$*\" in *'--part 2/3'*) if [ ! -e " << shell(killed)
                         << " ]; then touch " << shell(killed) << "; " << shell(kProgram)
                         << " \"$@\" & sleep 0.05; kill -9 $! $$; fi ;; esac\nexec " << shell(kProgram)
                         << " \"$@\"\n";
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  const Result r = call(f, {"campaign", "replay", corpus, "-o", f.file("campaign"), "--parts", "3", "--on",
                            "local:2", "--program", program, "--json"});
  REQUIRE_MESSAGE(r.code == 0, r.err);
  CHECK(partOf(r, "lost") == 1);
  CHECK(call(f, {"replay", "ls", "--results", f.file("campaign/replayed.uopcorpus")}).out == alone);

  // A result that differs shows: without a rule, kernels change.
  const std::string other = f.file("other.uopcorpus");
  REQUIRE(call(f, {"replay", "run", "-q", corpus, "--without", "mul-one", "-o", other}).code == 0);
  CHECK(call(f, {"replay", "ls", "--results", other}).out != alone);

  // A folder that cannot be made is a sentence, and wrong usage.
  const Result wrong = call(f, {"campaign", "replay", corpus, "-o", corpus});
  CHECK(wrong.code == 2);
  CHECK(wrong.err.find("c.uopcorpus/parts: Not a directory") != std::string::npos);
}
