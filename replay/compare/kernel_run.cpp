// Makes the buffers that the kernel's DEFINE_GLOBALs describe, filled by a small random number generator.
#include "replay/compare/kernel_run.h"

#include "engine/base/context_var.h"
#include "engine/base/error.h"
#include "engine/runtime/buffer.h"
#include "engine/runtime/kernel_cache.h"
#include "engine/runtime/kernel_report.h"
#include "replay/compare/recompile.h"
#include "replay/compare/replayed_rules.h"
#include "replay/compare/worker_process.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstring>
#include <nlohmann/json.hpp>

namespace uopscope {

namespace {

struct Random {
  uint64_t state;
  uint64_t next() { return state = hashMix(state + 0x9E3779B97F4A7C15ull, state >> 7); }
  double unit() { return static_cast<double>(next() >> 11) * 0x1p-53; }
};

double readValue(DType d, const std::byte* at) {
  auto as = [&]<typename T>(T) {
    T v;
    std::memcpy(&v, at, sizeof v);
    return static_cast<double>(v);
  };
  switch (d.kind()) {
  case Scalar::Float64: return as(double{});
  case Scalar::Float32: return as(float{});
  case Scalar::Float16: return dtypes::fromHalf(static_cast<uint16_t>(as(uint16_t{})));
  case Scalar::BFloat16: return dtypes::fromBFloat16(static_cast<uint16_t>(as(uint16_t{})));
  case Scalar::Fp8E4M3:
  case Scalar::Fp8E5M2: return dtypes::fromFp8(d, static_cast<uint8_t>(as(uint8_t{})));
  case Scalar::Int8: return as(int8_t{});
  case Scalar::UInt8:
  case Scalar::Bool: return as(uint8_t{});
  case Scalar::Int16: return as(int16_t{});
  case Scalar::UInt16: return as(uint16_t{});
  case Scalar::Int32: return as(int32_t{});
  case Scalar::UInt32: return as(uint32_t{});
  case Scalar::UInt64: return as(uint64_t{});
  default: return as(int64_t{});
  }
}

void writeMadeUp(DType d, std::byte* at, Random& random) {
  double unit = random.unit();
  auto put = [&](auto v) { std::memcpy(at, &v, sizeof v); };
  auto small = static_cast<int64_t>(unit * 8);
  switch (d.kind()) {
  case Scalar::Float64: return put(unit * 2 - 1);
  case Scalar::Float32: return put(static_cast<float>(unit * 2 - 1));
  case Scalar::Float16: return put(dtypes::toHalf(unit * 2 - 1));
  case Scalar::BFloat16: return put(dtypes::toBFloat16(unit * 2 - 1));
  case Scalar::Fp8E4M3:
  case Scalar::Fp8E5M2: return put(dtypes::toFp8(d, unit * 2 - 1));
  case Scalar::Bool: return put(static_cast<uint8_t>(small & 1));
  case Scalar::Int8:
  case Scalar::UInt8: return put(static_cast<uint8_t>(small));
  case Scalar::Int16:
  case Scalar::UInt16: return put(static_cast<uint16_t>(small));
  case Scalar::Int32:
  case Scalar::UInt32: return put(static_cast<uint32_t>(small));
  default: return put(small);
  }
}

} // namespace

std::vector<std::byte> madeUpData(DType d, int64_t size, uint64_t& state) {
  Random random{state};
  const auto width = static_cast<size_t>(d.itemsize());
  std::vector<std::byte> out(static_cast<size_t>(size) * width);
  for (int64_t i = 0; i < size; ++i) writeMadeUp(d, out.data() + static_cast<size_t>(i) * width, random);
  state = random.state;
  return out;
}

struct KernelRunner::State {
  std::unique_ptr<ContextScope> settings;
  Pool pool;
  Device* device = nullptr;
  CompiledKernel kernel;
  struct Memory {
    int position;
    DType dtype;
    int64_t size;
    std::shared_ptr<Buffer> buffer;
  };
  std::vector<Memory> memory;
  std::vector<std::pair<std::string, int64_t>> values;
  KernelRunOptions options;

  void fill() {
    uint64_t state = hashMix(options.seed, 0x5eed);
    for (Memory& m : memory) m.buffer->copyIn(madeUpData(m.dtype, m.size, state).data());
  }
  std::vector<int64_t> variables() const {
    std::vector<int64_t> out;
    for (UOp v : kernel.lowered.vars) {
      const std::string& name = v.arg().as<VarArg>().name;
      auto it = std::find_if(values.begin(), values.end(), [&](const auto& p) { return p.first == name; });
      out.push_back(it == values.end() ? 0 : it->second);
    }
    return out;
  }
  KernelOutcome launch(Program& program, std::span<const int64_t> global, std::span<const int64_t> local) {
    fill();
    std::vector<void*> pointers;
    for (int position : kernel.lowered.globals)
      for (Memory& m : memory)
        if (m.position == position) pointers.push_back(m.buffer->memory());
    std::vector<int64_t> vars = variables();
    program.launch(pointers, vars, global, local, true);
    device->synchronize();
    KernelOutcome outcome;
    for (Memory& m : memory) {
      const auto& outs = kernel.lowered.outs;
      if (std::find(outs.begin(), outs.end(), m.position) == outs.end()) continue;
      auto width = static_cast<size_t>(m.dtype.itemsize());
      std::vector<std::byte> host(static_cast<size_t>(m.size) * width);
      m.buffer->copyOut(host.data());
      auto& o = outcome.outputs.emplace_back();
      o.position = m.position;
      o.dtype = m.dtype.name();
      for (int64_t i = 0; i < m.size; ++i)
        o.values.push_back(readValue(m.dtype, host.data() + static_cast<size_t>(i) * width));
    }
    for (int i = 0; i < options.repeats; ++i)
      outcome.seconds.push_back(program.launch(pointers, vars, global, local, true));
    return outcome;
  }
};

KernelRunner::KernelRunner(const Compilation& input, const KernelRunOptions& options)
    : state_(std::make_unique<State>()) {
  if (input.kind != ScopeKind::Kernel)
    throw Error(ErrorKind::Value, "a schedule does not run by itself; give a kernel");
  State& s = *state_;
  s.options = options;
  auto settings = settingsOf(input);
  if (options.noopt)
    for (auto& [name, value] : settings)
      if (name == "NOOPT") value = 1;
  s.settings = std::make_unique<ContextScope>(settings);
  s.device = &Device::get(options.device.empty() ? input.device : options.device);
  PoolScope scope(s.pool);
  UOp root = inputGraph(input);
  std::string report;
  {
    ObserverScope observed(options.gate);
    const ReplayedRules rules(input);
    s.kernel = lowerAndRender(root, *s.device, report);
  }
  PoolScope kernelScope(*s.kernel.lowered.pool);
  std::vector<std::pair<int, UOp>> globals;
  for (UOp u : root.toposort()) {
    if (u.is(Op::DEFINE_GLOBAL)) globals.emplace_back(static_cast<int>(u.arg().i()), u);
    if (u.is(Op::DEFINE_VAR)) {
      const VarArg& v = u.arg().as<VarArg>();
      s.values.emplace_back(v.name, v.vmin + (v.vmax - v.vmin + 1) / 2);
    }
  }
  std::sort(globals.begin(), globals.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  for (auto [position, u] : globals) {
    int64_t size = u.dtype().size();
    if (size < 0)
      throw Error(ErrorKind::Value,
                  fmt::format("data{} has no fixed size: there is no data to make up", position));
    DType d = u.dtype().base();
    s.memory.push_back({position, d, size, std::make_shared<Buffer>(s.device->name(), d, size)});
    s.memory.back().buffer->allocate();
  }
}

KernelRunner::~KernelRunner() = default;

KernelOutcome KernelRunner::run() {
  State& s = *state_;
  PoolScope scope(*s.kernel.lowered.pool);
  auto program = s.device->compile(s.kernel.lowered, s.kernel.source);
  if (!program) throw Error(ErrorKind::Device, fmt::format("{} runs no kernels", s.device->name()));
  std::vector<int64_t> global, local;
  for (const Sint& v : s.kernel.lowered.globalSize) global.push_back(evaluate(v, s.values));
  for (const Sint& v : s.kernel.lowered.localSize) local.push_back(evaluate(v, s.values));
  return s.launch(*program, global, local);
}

KernelOutcome KernelRunner::run(const std::string& code, const std::string& name, const std::string& launch) {
  State& s = *state_;
  PoolScope scope(*s.kernel.lowered.pool);
  auto now = nlohmann::json::parse(launchJson(s.kernel.lowered, *s.device), nullptr, false);
  auto then = nlohmann::json::parse(launch, nullptr, false);
  if (!then.is_object() || now["globals"] != then["globals"] || now["vars"] != then["vars"])
    throw Error(ErrorKind::Value,
                "the two builds' kernels take other arguments: they cannot run on the same data");
  auto sizes = [&](const char* key) {
    std::vector<int64_t> out;
    for (const auto& v : then[key]) {
      if (!v.is_number_integer())
        throw Error(ErrorKind::Value, "a symbolic launch size of the other build cannot be evaluated");
      out.push_back(v.get<int64_t>());
    }
    return out;
  };
  std::vector<int64_t> global = sizes("global"), local = sizes("local");
  std::string ownName = std::exchange(s.kernel.lowered.name, name);
  auto program = s.device->compile(s.kernel.lowered, code);
  s.kernel.lowered.name = ownName;
  if (!program) throw Error(ErrorKind::Device, fmt::format("{} runs no kernels", s.device->name()));
  return s.launch(*program, global, local);
}

double largestDifference(const KernelOutcome& a, const KernelOutcome& b) {
  double worst = 0, size = 0;
  if (a.outputs.size() != b.outputs.size()) return INFINITY;
  for (size_t i = 0; i < a.outputs.size(); ++i) {
    const auto &x = a.outputs[i].values, &y = b.outputs[i].values;
    if (x.size() != y.size()) return INFINITY;
    for (double v : x)
      if (std::isfinite(v)) size = std::max(size, std::abs(v));
    for (size_t k = 0; k < x.size(); ++k) {
      if (x[k] == y[k] || (std::isnan(x[k]) && std::isnan(y[k]))) continue;
      if (!std::isfinite(x[k]) || !std::isfinite(y[k])) return INFINITY;
      worst = std::max(worst, std::abs(x[k] - y[k]));
    }
  }
  return worst == 0 ? 0 : worst / std::max(size, 1e-30);
}

bool isWrong(const KernelOutcome& a, const KernelOutcome& b) {
  double allowed = 0;
  for (const auto& o : a.outputs) {
    auto d = dtypes::parse(o.dtype);
    double rounding = !d || !d->isFloat()  ? 0
                      : d->itemsize() >= 8 ? 1e-11
                      : d->itemsize() == 4 ? 2e-5
                      : d->itemsize() == 2 ? 2e-2
                                           : 0.2;
    allowed = std::max(allowed, rounding);
  }
  return largestDifference(a, b) > allowed;
}

TimeComparison compareTimes(std::span<const double> before, std::span<const double> after) {
  TimeComparison t;
  if (before.empty() || after.empty()) return t;
  auto median = [](std::vector<double> v) {
    std::nth_element(v.begin(), v.begin() + static_cast<long>(v.size() / 2), v.end());
    return v[v.size() / 2];
  };
  t.before = median({before.begin(), before.end()});
  t.after = median({after.begin(), after.end()});
  t.ratio = t.before > 0 ? t.after / t.before : 1;
  Random random{42};
  std::vector<double> ratios, x(before.size()), y(after.size());
  for (int i = 0; i < 1000; ++i) {
    for (double& v : x) v = before[random.next() % before.size()];
    for (double& v : y) v = after[random.next() % after.size()];
    double b = median(x);
    ratios.push_back(b > 0 ? median(y) / b : 1);
  }
  std::sort(ratios.begin(), ratios.end());
  t.low = ratios[25], t.high = ratios[974];
  return t;
}

std::string isolated(const std::function<std::string()>& work, int timeoutSeconds, const char* subject) {
  int fds[2];
  if (pipe(fds) != 0) throw Error(ErrorKind::Runtime, fmt::format("no pipe: {}", strerror(errno)));
  std::fflush(nullptr);
  pid_t pid = fork();
  if (pid < 0) throw Error(ErrorKind::Runtime, fmt::format("no child process: {}", strerror(errno)));
  if (pid == 0) {
    close(fds[0]);
    prctl(PR_SET_PDEATHSIG, SIGKILL); // whoever waits for it sets the limit of time
    becomeWorkerProcess();
    std::string text;
    try {
      text = "+" + work();
    } catch (const std::exception& e) {
      text = fmt::format("-{}", e.what());
    }
    for (size_t at = 0; at < text.size();) {
      ssize_t n = write(fds[1], text.data() + at, text.size() - at);
      if (n <= 0) break;
      at += static_cast<size_t>(n);
    }
    _exit(0);
  }
  close(fds[1]);
  std::string text;
  char chunk[1 << 14];
  bool late = false;
  for (;;) {
    pollfd p{fds[0], POLLIN, 0};
    if (poll(&p, 1, timeoutSeconds * 1000) == 0) {
      late = true;
      kill(pid, SIGKILL);
      break;
    }
    ssize_t n = read(fds[0], chunk, sizeof chunk);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    text.append(chunk, static_cast<size_t>(n));
  }
  close(fds[0]);
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (late)
    throw Error(ErrorKind::Runtime, fmt::format("{} did not end within {} s", subject, timeoutSeconds));
  if (WIFSIGNALED(status))
    throw Error(ErrorKind::Runtime, fmt::format("{} ended its process by signal {} ({})", subject,
                                                WTERMSIG(status), strsignal(WTERMSIG(status))));
  if (text.empty() || text[0] == '-')
    throw Error(ErrorKind::Runtime, text.empty() ? "the child said nothing" : text.substr(1));
  return text.substr(1);
}

} // namespace uopscope
