// Runs the items of a schedule in order: kernels, copies, views.
#include "engine/runtime/run_schedule.h"

#include "engine/base/clock.h"
#include "engine/base/context_var.h"
#include "engine/base/error.h"
#include "engine/runtime/buffer.h"
#include "engine/runtime/counters.h"
#include "engine/runtime/device.h"
#include "engine/runtime/kernel_cache.h"
#include "engine/runtime/kernel_report.h"
#include "engine/runtime/run_capture.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <vector>

namespace uopscope {

namespace {

/// Reports a launch or copy: to the counters, the observer, and the line of DEBUG=2.
void account(LaunchReport& report, int64_t startNs, const Pool* program, std::span<const uint64_t> buffers) {
  ++GlobalCounters::current().kernelCount;
  GlobalCounters::current().globalOps += report.ops;
  GlobalCounters::current().globalMem += report.mem;
  if (report.seconds > 0 && vars::debug >= 2) // as the reference counts it: of launches whose times are shown
    GlobalCounters::current().timeSum += report.seconds;
  if (Observer* observer = Observer::current())
    observer->onLaunch({report.name, report.device, startNs,
                        static_cast<int64_t>(std::max(report.seconds, 0.0) * 1e9), report.ops, report.mem,
                        report.lds, program, buffers});
  if (vars::debug >= 2) {
    static const bool colours = isatty(fileno(stdout)) && !std::getenv("NO_COLOR");
    fmt::print("{}\n", launchLine(report, colours));
    std::fflush(stdout);
  }
}

void printBuffers(const std::vector<std::shared_ptr<Buffer>>& buffers) {
  for (size_t i = 0; i < buffers.size(); ++i)
    fmt::print("  data{}: {} x {} on {}{}\n", i, buffers[i]->size(), buffers[i]->dtype().name(),
               buffers[i]->device(), buffers[i]->isAllocated() ? "" : ", new");
}

Device& deviceOf(const ScheduleItem& item) {
  if (item.buffers.empty())
    throw Error(ErrorKind::Runtime, "a kernel without buffers: it would compute nothing that can be read");
  return Device::get(Buffer::of(item.buffers[0])->device());
}

/// The kernel of the first item. If it must be made, all missing kernels of the items are made with it.
std::shared_ptr<const CompiledKernel> kernelOfFirst(std::span<const ScheduleItem> items, Device& device,
                                                    bool& firstRun) {
  if (auto found = findKernel(items[0], device, firstRun)) return found;
  std::vector<Device*> devices;
  for (const ScheduleItem& item : items) devices.push_back(item.ast.is(Op::SINK) ? &deviceOf(item) : nullptr);
  prepareKernels(items, devices);
  if (auto found = findKernel(items[0], device, firstRun)) return found;
  // So many kernels were made at once that this one was evicted again.
  Device* on = devices[0];
  prepareKernels(items.first(1), {&on, 1});
  auto found = findKernel(items[0], device, firstRun);
  if (!found) throw Error(ErrorKind::Runtime, "a kernel was compiled and is not in the cache");
  return found;
}

void runKernel(std::span<const ScheduleItem> itemAndRest, const VarValues& values) {
  const ScheduleItem& item = itemAndRest[0];
  Device& device = deviceOf(item);
  std::vector<std::shared_ptr<Buffer>> buffers;
  buffers.reserve(item.buffers.size());
  for (const UOpRef& b : item.buffers) buffers.push_back(Buffer::of(b));
  bool firstRun = false;
  std::shared_ptr<const CompiledKernel> held = kernelOfFirst(itemAndRest, device, firstRun);
  const CompiledKernel& kernel = *held;
  const LoweredKernel& k = kernel.lowered;
  if (vars::debug >= 3) printBuffers(buffers);

  std::vector<void*> memory;
  memory.reserve(k.globals.size());
  for (int position : k.globals) {
    if (position < 0 || static_cast<size_t>(position) >= buffers.size())
      throw Error(ErrorKind::Runtime, fmt::format("kernel {} uses data{}, and was given {} buffers", k.name,
                                                  position, buffers.size()));
    memory.push_back(buffers[static_cast<size_t>(position)]->memory());
  }
  std::vector<uint64_t> ids;
  if (Observer::current())
    for (int position : k.globals) ids.push_back(buffers[static_cast<size_t>(position)]->id());
  try {
    launchKernel(kernel, device, memory, values, firstRun, item.metadata, ids);
  } catch (const Error& e) {
    if (item.script.file.empty()) throw;
    throw Error(e.kind(),
                fmt::format("{}\n  asked for at {}:{}", e.what(), item.script.file, item.script.line));
  }
  if (!RunCapture::active()) return;
  RunStep step{held, &device, {}, item.metadata, values, item.pool, item.ast};
  for (int position : k.globals) step.buffers.push_back(buffers[static_cast<size_t>(position)]);
  RunCapture::ran(step);
}

void runCopy(const ScheduleItem& item) {
  auto to = Buffer::of(item.buffers.at(0)), from = Buffer::of(item.buffers.at(1));
  copyBuffer(*to, *from, item.metadata);
  if (RunCapture::active()) RunCapture::ran({nullptr, nullptr, {to, from}, item.metadata, {}});
}

/// Makes buffers[0] a view of buffers[1] without moving data.
void runView(const ScheduleItem& item) {
  auto base = Buffer::of(item.buffers.at(1));
  const std::vector<int64_t>& arg = item.ast.arg().ints(); // size, offset
  int64_t offset = arg[1] * base->dtype().itemsize();
  auto view = Buffer::view(base, item.ast.dtype().base(), arg[0], offset);
  Buffer::bind(item.buffers.at(0), view);
  RunCapture::viewed(view, base, static_cast<size_t>(offset));
}

} // namespace

double launchKernel(const CompiledKernel& kernel, Device& device, std::span<void* const> memory,
                    const VarValues& values, bool firstRun, const std::vector<std::string>& metadata,
                    std::span<const uint64_t> buffers, bool wait) {
  const LoweredKernel& k = kernel.lowered;
  std::vector<int64_t> vars, globalSize, localSize;
  for (UOp v : k.vars) {
    const VarArg& var = v.arg().as<VarArg>();
    if (var.name == "core_id") {
      vars.push_back(0);
      continue;
    }
    int64_t value = evaluate(Sint(v), values);
    if (value < var.vmin || value > var.vmax)
      throw Error(ErrorKind::Value, fmt::format("kernel {}: {} is {}, outside {} to {}", k.name, var.name,
                                                value, var.vmin, var.vmax));
    vars.push_back(value);
  }
  for (const Sint& s : k.globalSize) globalSize.push_back(evaluate(s, values));
  for (const Sint& s : k.localSize) localSize.push_back(evaluate(s, values));

  LaunchReport report{device.name(), k.name, firstRun, false, memory.size(), -1, 0, 0, 0, &metadata};
  report.ops = evaluate(k.estimates.ops, values);
  report.mem = evaluate(k.estimates.mem, values);
  report.lds = evaluate(k.estimates.lds, values);
  int64_t start = nowNs();
  if (kernel.program)
    report.seconds = kernel.program->launch(memory, vars, globalSize, localSize,
                                            wait || vars::debug >= 2 || Observer::current());
  account(report, start, kernel.identity(), buffers);
  return report.seconds;
}

void copyBuffer(Buffer& to, Buffer& from, const std::vector<std::string>& metadata) {
  if (to.bytes() != from.bytes())
    throw Error(ErrorKind::Runtime, fmt::format("copy of {} bytes into {} bytes", from.bytes(), to.bytes()));
  int64_t start = nowNs();
  Device& source = Device::get(from.device());
  Device& target = Device::get(to.device());
  if (!target.copyFrom(to.memory(), source, from.memory(), from.bytes())) {
    if (const void* host = source.hostView(from.memory())) {
      to.copyIn(host);
    } else {
      std::vector<std::byte> staging(from.bytes());
      from.copyOut(staging.data());
      to.copyIn(staging.data());
    }
  }
  target.synchronize();
  auto bytes = static_cast<int64_t>(to.bytes());
  std::string amount = bytes >= 1'000'000 ? fmt::format("{:7.2f}M", static_cast<double>(bytes) * 1e-6)
                                          : fmt::format("{:8}", bytes);
  std::string name =
      fmt::format("copy {}, {:>7} <- {:7}", amount, to.device().substr(0, 7), from.device().substr(0, 7));
  LaunchReport report{to.device(), name,  false, true,     2, static_cast<double>(nowNs() - start) * 1e-9,
                      0,           bytes, bytes, &metadata};
  const uint64_t ids[] = {to.id(), from.id()};
  account(report, start, nullptr, ids);
}

void runSchedule(Schedule& schedule) {
  std::span<const ScheduleItem> items = schedule.items;
  for (size_t i = 0; i < items.size(); ++i) {
    const ScheduleItem& item = items[i];
    switch (item.ast.op()) {
    case Op::SINK: runKernel(items.subspan(i), schedule.vars); break;
    case Op::COPY: runCopy(item); break;
    case Op::BUFFER_VIEW: runView(item); break;
    default:
      throw Error(
          ErrorKind::Unsupported,
          fmt::format("{} cannot be run: a schedule holds kernels, copies and views", opName(item.ast.op())));
    }
  }
}

} // namespace uopscope
