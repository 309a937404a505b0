// Each kernel is searched in a child process, which answers in the JSON of the file.
#include "replay/compare/searched.h"

#include "engine/base/context_var.h"
#include "engine/base/error.h"
#include "engine/runtime/disk_cache.h"
#include "engine/runtime/search.h"
#include "replay/compare/kernel_run.h"
#include "replay/compare/recompile.h"
#include "replay/compare/story_view.h"
#include "replay/record/corpus.h"
#include "replay/record/machine.h"
#include "replay/record/story.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

namespace uopscope {

namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kFormat = "uopscope search 1";
constexpr std::uintmax_t kMostBytes = 256u << 20;

Json jsonOf(const SearchedKernel& k) {
  Json candidates = Json::array();
  for (const SearchedCandidate& c : k.candidates) {
    Json one{{"opts", Json::parse(packOpts(c.opts))}, {"round", c.round}, {"ns", c.ns}};
    if (!c.refusal.empty()) one["refusal"] = c.refusal;
    candidates.push_back(std::move(one));
  }
  Json out{{"number", k.number}, {"name", k.name}, {"device", k.device}};
  if (!k.skipped.empty()) {
    out["skipped"] = k.skipped;
    return out;
  }
  out["content"] = k.content;
  out["machine"] = k.machine;
  out["NOLOCALS"] = k.noLocals;
  out["TC"] = k.tensorCores;
  out["TC_SELECT"] = k.onlyCore;
  out["best"] = Json::parse(packOpts(k.best));
  out["candidates"] = std::move(candidates);
  return out;
}

std::vector<Opt> optsOf(const Json& j) {
  auto opts = unpackOpts(j.dump());
  if (!opts) throw Error(ErrorKind::File, "it names Opts that this build does not know");
  return *opts;
}

SearchedKernel kernelOf(const Json& j) {
  SearchedKernel k;
  k.number = j.at("number").get<size_t>();
  k.name = j.at("name").get<std::string>();
  k.device = j.at("device").get<std::string>();
  k.skipped = j.value("skipped", std::string());
  if (!k.skipped.empty()) return k;
  k.content = j.at("content").get<std::string>();
  k.machine = j.at("machine").get<std::string>();
  k.noLocals = j.at("NOLOCALS").get<int64_t>();
  k.tensorCores = j.at("TC").get<int64_t>();
  k.onlyCore = j.value("TC_SELECT", int64_t{-1});
  k.best = optsOf(j.at("best"));
  for (const Json& c : j.at("candidates"))
    k.candidates.push_back({optsOf(c.at("opts")), c.at("round").get<int>(), c.at("ns").get<int64_t>(),
                            c.value("refusal", std::string())});
  return k;
}

/// In the child process.
std::string searchOne(const Compilation& input, SearchedKernel k, int width) {
  const ContextScope settings(settingsOf(input));
  Device& device = Device::get(input.device);
  Pool pool;
  PoolScope scope(pool);
  const UOp root = graphFromText(input.graph);
  const bool given =
      root.arg().kind() == ArgKind::Kernel &&
      (root.arg().as<KernelInfo>().hasOptsToApply || !root.arg().as<KernelInfo>().appliedOpts.empty());
  if (given)
    k.skipped = "its script chose its options";
  else if (!device.isTimed())
    k.skipped = fmt::format("{} does not time kernels", input.device);
  else if (vars::noopt)
    k.skipped = "NOOPT=1: it is compiled without options";
  if (!k.skipped.empty()) return jsonOf(k).dump();
  k.content = searchContent(root);
  k.machine = machineText();
  k.noLocals = vars::nolocals.value();
  k.tensorCores = vars::tc.value();
  k.onlyCore = vars::tcSelect.value();
  SearchResult r = searchAnew(root, device, width);
  k.best = std::move(r.best);
  for (SearchCandidate& c : r.candidates)
    k.candidates.push_back({std::move(c.opts), c.round, c.ns, std::move(c.refusal)});
  return jsonOf(k).dump();
}

/// Kernels, devices and inputs: equal for copies of a corpus, whatever build replayed it.
std::string hashOf(const std::vector<CorpusEntry>& kernels) {
  uint64_t hash = 0;
  for (const CorpusEntry& e : kernels) hash = hashMix(hashMix(hash, e.inputHash), hashText(e.device));
  return fmt::format("{:016x}", hash);
}

} // namespace

Searches searchCorpus(const std::string& path, const SearchCorpusOptions& o) {
  const Corpus corpus = Corpus::open(path);
  std::vector<CorpusEntry> kernels = corpus.entries();
  std::erase_if(kernels, [](const CorpusEntry& e) { return !e.isKernel(); });
  Searches out{hashOf(kernels), kernels.size(), o.width, buildIdentity(), {}};
  size_t total = 0, done = 0;
  for (size_t i = 0; i < kernels.size(); ++i) total += !o.wants || o.wants(i);
  for (size_t i = 0; i < kernels.size(); ++i) {
    if (o.wants && !o.wants(i)) continue;
    if (o.stop && o.stop->load())
      throw Error(ErrorKind::Runtime, "the search was stopped; nothing is written");
    const CorpusEntry& e = kernels[i];
    if (o.progress) o.progress(done, total, e.name);
    SearchedKernel k;
    k.number = i, k.name = e.name, k.device = e.device;
    const Compilation input = corpus.load(e);
    try {
      k = kernelOf(Json::parse(isolated([&] { return searchOne(input, k, o.width); }, o.timeoutSeconds)));
    } catch (const std::exception& error) {
      k.skipped = error.what();
    }
    out.found.push_back(std::move(k));
    ++done;
  }
  return out;
}

Searches mergeSearches(const std::vector<std::pair<std::string, Searches>>& parts) {
  Searches out;
  std::vector<bool> there;
  for (const auto& [path, part] : parts) {
    if (&path == &parts.front().first) {
      out = part;
      out.found.clear();
      there.resize(part.kernels);
    }
    for (const auto& [what, same] :
         {std::pair("corpora", part.corpus == out.corpus && part.kernels == out.kernels),
          std::pair("widths", part.width == out.width), std::pair("builds", part.build == out.build)})
      if (!same)
        throw Error(ErrorKind::Value,
                    fmt::format("{} and {} are parts of different searches: their {} differ",
                                parts.front().first, path, what));
    for (const SearchedKernel& k : part.found) {
      if (k.number >= there.size() || there[k.number])
        throw Error(ErrorKind::Value,
                    fmt::format("{}: {} (kernel {}) is in a different part too; give each part once", path,
                                k.name, k.number));
      there[k.number] = true;
      out.found.push_back(k);
    }
  }
  const auto missing = std::ranges::count(there, false);
  if (missing)
    throw Error(ErrorKind::Value,
                fmt::format("{} of {} kernels are in no part (number {} is the first); give all parts",
                            missing, there.size(), std::ranges::find(there, false) - there.begin()));
  std::ranges::sort(out.found, {}, &SearchedKernel::number);
  return out;
}

void writeSearches(const Searches& s, const std::string& path) {
  // A line a kernel: files of two searches can be compared by diff.
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out << fmt::format("{{\"format\":{},\"corpus\":{},\"kernels\":{},\"width\":{},\"build\":{},\"found\":[",
                     Json(kFormat).dump(), Json(s.corpus).dump(), s.kernels, s.width, Json(s.build).dump());
  for (const SearchedKernel& k : s.found)
    out << (&k == s.found.data() ? "\n" : ",\n")
        << jsonOf(k).dump(-1, ' ', false, Json::error_handler_t::replace);
  out << "\n]}\n";
  out.close();
  if (!out) throw Error(ErrorKind::File, fmt::format("{}: cannot be written", path));
}

Searches readSearches(const std::string& path) {
  auto refuse = [&](const std::string& why) -> Searches {
    throw Error(ErrorKind::File,
                fmt::format("{}: is no file of a search: {}; `uopscope search run CORPUS -o FILE` makes one",
                            path, why));
  };
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return refuse("there is no such file");
  if (std::filesystem::file_size(path, ignored) > kMostBytes) return refuse("it is larger than 256 MB");
  std::ifstream in(path, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(in)), {});
  try {
    // Our files are nested five deep; a deeper one would end dump() by a stack overflow.
    const Json j = Json::parse(text, [](int depth, Json::parse_event_t, Json&) {
      if (depth > 16) throw Error(ErrorKind::File, "it is nested too deep");
      return true;
    });
    if (!j.is_object() || j.value("format", std::string()) != kFormat)
      return refuse("its format is unknown to this build");
    Searches s{j.at("corpus").get<std::string>(),
               j.at("kernels").get<size_t>(),
               j.at("width").get<int>(),
               j.at("build").get<std::string>(),
               {}};
    if (s.kernels > text.size()) return refuse("it counts more kernels than it can hold");
    for (const Json& k : j.at("found")) s.found.push_back(kernelOf(k));
    return s;
  } catch (const nlohmann::json::exception& e) {
    return refuse(e.what());
  } catch (const Error& e) {
    return refuse(e.what());
  }
}

SearchesUsed useSearches(const Searches& s) {
  SearchesUsed used;
  const std::string here = machineText();
  for (const SearchedKernel& k : s.found) {
    if (!k.skipped.empty()) continue;
    const ContextScope settings({{"NOLOCALS", k.noLocals}, {"TC", k.tensorCores}, {"TC_SELECT", k.onlyCore}});
    Device* device = nullptr;
    try {
      device = &Device::get(k.device);
    } catch (const Error&) {
      used.no.push_back(fmt::format("{} ({})", k.name, k.device));
      continue;
    }
    if (!keepSearched(k.content, *device, s.width, k.best))
      throw Error(ErrorKind::Unsupported,
                  "nothing is kept on this machine: CCACHE=0, or there is no home directory");
    ++used.kept;
    used.elsewhere += k.machine != here;
  }
  return used;
}

} // namespace uopscope
