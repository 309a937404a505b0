// Escape sequences of a file never reach the terminal, whatever its content; our own colours do.
#include "tests/app/cli/support.h"

using namespace uopscope::test;

TEST_CASE("escape sequences of files are shown, not sent") {
  Folder f;
  const std::string hostile = "\x1b]0;owned\a\x1b[2J\xc2\x9b"
                              "31m \r over\x1b";
  f.file("lesson.md", "# A lesson " + hostile + "\n\nTime: 5 minutes\n\nText " + hostile +
                          "\n\n```run\nuopscope ls x" + hostile + "\n```\n");
  const std::string trace = sampleTrace(f);
  {
    uopscope::Database db = uopscope::Database::openForWriting(trace);
    uopscope::Statement s = db.prepare("UPDATE string SET value = value || ?");
    s.bind(1, std::string_view(hostile)).run();
    s = db.prepare("UPDATE rule SET name = name || ?");
    s.bind(1, std::string_view(hostile)).run();
  }
  for (const std::vector<std::string>& call :
       std::vector<std::vector<std::string>>{{"lesson", "lesson.md", "--teacher"},
                                             {"lesson", "lesson.md"},
                                             {"ls", trace},
                                             {"ls", trace, "--json"},
                                             {"ls", trace, "2"},
                                             {"stats", trace},
                                             {"show", trace, "2"},
                                             {"replay", "ls", trace},
                                             {"replay", "diff", trace, trace},
                                             {"replay", "show", trace, "1", "--what", "story"},
                                             {"ls", trace, "nothing" + hostile}}) {
    CAPTURE(call[0]);
    CAPTURE(call[1]);
    for (const char* environment : {"NO_COLOR=1", "CLICOLOR_FORCE=1"}) {
      const Result r = uopscope::test::call(f, call, environment);
      CHECK((r.out + r.err).find("\x1b]") == std::string::npos);
      CHECK((r.out + r.err).find("\x1b[2J") == std::string::npos);
      CHECK((r.out + r.err).find("\xc2\x9b") == std::string::npos);
      CHECK((r.out + r.err).find('\r') == std::string::npos);
      if (std::string_view(environment) == "NO_COLOR=1")
        CHECK((r.out + r.err).find('\x1b') == std::string::npos);
    }
  }
  CHECK(uopscope::test::call(f, {"ls", trace}, "CLICOLOR_FORCE=1").out.find("\x1b[1m") != std::string::npos);
}
