// The verb `search`: parts that make the whole, files that do not fit together, and results that later compilations take.
#ifdef UOPSCOPE_HAVE_PYTHON
#include "tests/app/cli/support.h"

using namespace uopscope::test;

namespace {

const char* kMatmulScript = "from tinygrad import Tensor\n"
                            "a = Tensor.ones(12, 8).contiguous().realize()\n"
                            "b = Tensor.ones(8, 24).contiguous().realize()\n"
                            "print(a.matmul(b).sum().item(), (a + 1).tolist()[0][0])\n";

/// The part of a kernel's search that depends on no time: the candidates of rounds 0 and 1.
Json steady(const Json& kernel) {
  Json out{{"name", kernel["kernel"]}, {"candidates", Json::array()}};
  for (const Json& c : kernel["candidates"])
    if (c["round"] < 2) out["candidates"].push_back({{"opts", c["opts"]}, {"refusal", c["refusal"]}});
  return out;
}

struct Searched {
  Folder f;
  std::string script = f.file("model.py", kMatmulScript), corpus = f.file("model.uopcorpus");
  std::string cache = "CCACHE=1 XDG_CACHE_HOME=" + f.file("cache");

  Searched() { REQUIRE(call(f, {"replay", "capture", "-q", script, "-o", corpus}).code == 0); }
  std::string search(const std::string& part) {
    const std::string file = f.file("part-" + part.substr(0, 1) + "-" + part.substr(2) + ".uopsearch");
    const Result r =
        call(f, {"search", "run", corpus, "--trust", "--beam", "2", "--part", part, "-o", file}, cache);
    REQUIRE_MESSAGE(r.code == 0, r.err);
    return file;
  }
  Json show(const std::string& file) { return Json::parse(call(f, {"search", "show", file, "--json"}).out); }
};

} // namespace

TEST_CASE("search: the parts have the kernels and candidates of one run, whatever their number") {
  Searched s;
  const Json whole = s.show(s.search("1/1"));
  REQUIRE(whole.size() >= 3);
  const std::string merged = s.f.file("merged.uopsearch");
  const Result r =
      call(s.f, {"search", "merge", s.search("2/3"), s.search("1/3"), s.search("3/3"), "-o", merged});
  REQUIRE_MESSAGE(r.code == 0, r.err);
  const Json all = s.show(merged);
  REQUIRE(all.size() == whole.size());
  size_t candidates = 0;
  for (size_t k = 0; k < all.size(); ++k) {
    CHECK(steady(all[k]) == steady(whole[k]));
    CHECK(all[k]["skipped"] == "");
    CHECK(all[k]["best_ns"] > 0);
    candidates += all[k]["candidates"].size();
  }
  CHECK(candidates > all.size());
}

TEST_CASE("search: what was found is taken by later compilations, and by none of another width") {
  Searched s;
  const std::string file = s.search("1/1");
  auto candidates = [&](const char* beam) { // lines that DEBUG=3 prints while it searches
    const Result r = call(s.f, {"run", s.script}, s.cache + " DEBUG=3 BEAM=" + beam);
    REQUIRE_MESSAGE(r.code == 0, r.err);
    size_t n = 0;
    for (size_t at = 0; (at = r.out.find("BEAM ", at)) != std::string::npos; ++at) ++n;
    return n;
  };
  const Result used = call(s.f, {"search", "use", file}, s.cache);
  REQUIRE_MESSAGE(used.code == 0, used.err);
  CHECK(used.out.find("BEAM=2") != std::string::npos);
  CHECK(candidates("2") == 0);
  CHECK(candidates("1") > 0);
}

TEST_CASE("search: parts that do not fit together, and files that are none, are refused in words") {
  Searched s;
  const std::string first = s.search("1/2"), out = s.f.file("out.uopsearch");
  const Result half = call(s.f, {"search", "merge", first, "-o", out});
  CHECK(half.code == 2);
  CHECK(half.err.find("are in no part") != std::string::npos);
  const Result twice = call(s.f, {"search", "merge", first, first, "-o", out});
  CHECK(twice.code == 2);
  CHECK(twice.err.find("give each part once") != std::string::npos);
  CHECK(call(s.f, {"search", "merge", first, "-o", first}).code == 2);
  for (const std::string& bad : {s.f.file("bad", "{"), s.f.file("deep", std::string(100'000, '[')),
                                 s.f.file("none"), s.f.file("form", "{\"format\": 3}"), s.corpus}) {
    CAPTURE(bad);
    const Result r = call(s.f, {"search", "show", bad});
    CHECK(r.code == 2);
    CHECK(r.err.find("no file of a search") != std::string::npos);
    CHECK(call(s.f, {"search", "use", bad}).code == 2);
  }
  CHECK(call(s.f, {"search", "run", s.corpus, "--trust", "--part", "3/2", "-o", out}).code == 2);
}

TEST_CASE("search: Opts of a file that do not fit the kernel are not taken") {
  Searched s;
  const std::string file = s.search("1/1");
  std::ifstream in(file);
  std::string text((std::istreambuf_iterator<char>(in)), {});
  for (size_t at = 0; (at = text.find("\"best\":[", at)) != std::string::npos; ++at) {
    const size_t end = text.find(",\"candidates\"", at);
    text.replace(at, end - at, "\"best\":[[\"UPCAST\",57,[3]],[\"UNROLL\",-4,[0]]]");
  }
  const std::string wrong = s.f.file("wrong.uopsearch", text);
  REQUIRE(call(s.f, {"search", "use", wrong}, s.cache).code == 0);
  const Result r = call(s.f, {"run", s.script}, s.cache + " BEAM=2");
  CHECK_MESSAGE(r.code == 0, r.err);
  CHECK(r.out.find("2304") != std::string::npos);
}
#endif
