"""The ten slowest kernels of the samples that give a model: the choice by hand and BEAM's, in turns.

    BEAM=4 uopscope python tests/bench/beam.py        # or tests/bench/run beam

Kernels are those of a forward pass, on zeros. Prints the fastest of 24 launches of either choice, their ratio (above 1: the search found
a faster one), and the rate as a part of that of the best product of matrices here, which tells how much there is to find.
"""
import importlib.util, math, os, pathlib, time
width = int(os.environ.pop("BEAM", "4"))  # the search is asked for kernel by kernel
import _uopscope
from tinygrad import Device, Tensor
from tinygrad.codegen import get_program
from tinygrad.device import Buffer
from tinygrad.engine.realize import CompiledRunner
from tinygrad.uop.ops import Ops

SAMPLES = pathlib.Path(__file__).resolve().parents[2] / "samples"


def kernels_of(name):
  """The kernels of the first output of a sample's model."""
  spec = importlib.util.spec_from_file_location("sample", SAMPLES / f"{name}.py")
  sample = importlib.util.module_from_spec(spec)
  spec.loader.exec_module(sample)
  model, inputs = sample.make()
  items, realize = [], Tensor.realize
  def only_schedule(self, *more):
    items.extend(self.schedule_with_vars(*more)[0])
    return self
  Tensor.realize = only_schedule
  try: model(*inputs).realize()
  finally: Tensor.realize = realize
  return [item.ast for item in items if item.ast.op is Ops.SINK and not item.ast.variables()]


def runner(ast, opts=None): return CompiledRunner(get_program(ast, Device["CPU"].renderer, opts))


def memory_of(ast):
  made = []
  for u in sorted((u for u in ast.toposort() if u.op is Ops.DEFINE_GLOBAL), key=lambda u: u.arg):
    made.append(Buffer("CPU", u.dtype.size, u.dtype.base).allocate())
    made[-1].copyin(memoryview(bytearray(made[-1].nbytes)))
  return made


def fastest(run, memory, times): return min(run(memory, {}, wait=True) for _ in range(times))


def main():
  product = runner((Tensor.empty(1024, 1024).realize() @ Tensor.empty(1024, 1024).realize()).schedule()[-1].ast)
  peak = product.p.estimates.ops / fastest(product, [Buffer("CPU", 1 << 20, Tensor.empty(1).dtype).allocate() for _ in range(3)], 12)
  kernels = {}
  for name in ("resnet50", "transformer_block"):
    for ast in kernels_of(name):
      if ast not in kernels: kernels[ast] = (name, runner(ast), memory_of(ast))
  slowest = sorted(kernels, key=lambda ast: -fastest(*kernels[ast][1:], 8))[:10]
  ratios, parts, spent = [], [], 0.0
  print(f"{'by hand, us':>56s} {'BEAM=' + str(width):>8s} {'ratio':>6s} {'of peak':>8s} {'search, s':>10s}")
  for ast in slowest:
    name, by_hand, memory = kernels[ast]
    start = time.perf_counter()
    found = runner(ast, list(_uopscope.search_opts(ast, "CPU", width)))
    took = time.perf_counter() - start
    hand_times, found_times = zip(*((fastest(by_hand, memory, 4), fastest(found, memory, 4)) for _ in range(6)))
    hand, best = min(hand_times), min(found_times)
    ratios.append(hand / best), parts.append(by_hand.p.estimates.ops / hand / peak)
    spent += took
    print(f"{name + ' ' + by_hand.p.name:44.44s} {hand * 1e6:11.1f} {best * 1e6:8.1f} {ratios[-1]:6.2f} {parts[-1]:8.0%} {took:10.1f}", flush=True)
  mean = lambda values: math.exp(sum(map(math.log, values)) / len(values))
  print(f"geometric mean {mean(ratios):.3f} in {spent:.0f} s; at the peak it would be {mean([1 / min(1, p) for p in parts]):.2f}")


if __name__ == "__main__": main()
