# The cost of compiling the two models of the samples: the number of kernels must not grow, nor the memory.
import importlib.util, os, resource
os.environ["DEV"] = "NULL"
from tinygrad import Tensor
from check import run

def kernels_of(sample):
  """(kernels, different ones) of a forward pass of a sample's model. Assignments are scheduled where they are realized."""
  path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "samples", sample)
  spec = importlib.util.spec_from_file_location("sample", path)
  module = importlib.util.module_from_spec(spec)
  spec.loader.exec_module(module)
  model, inputs = module.make()
  items, realize = [], Tensor.realize
  def collect(self, *more):
    items.extend(self.schedule_with_vars(*more)[0])
    return self
  Tensor.realize = collect
  try: model(*inputs).realize()
  finally: Tensor.realize = realize
  return len(items), len({item.ast for item in items})

def test_transformer_block():
  kernels, different = kernels_of("transformer_block.py")
  assert kernels <= 16 and different <= 12, f"{kernels} kernels, {different} different"

def test_resnet50():
  kernels, different = kernels_of("resnet50.py")
  assert kernels <= 52 and different <= 28, f"{kernels} kernels, {different} different"
  peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
  assert peak < 200, f"compiling took {peak:.0f} MB"

if __name__ == "__main__": run(globals())
