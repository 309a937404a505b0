# ResNet-50: an image goes through 53 convolutions and one matrix product, with random weights.
# Look at: 53 convolutions become about as many kernels, each with its batch norm, its relu and the addition of the
# shortcut fused in; blocks of equal shape share a kernel, so far fewer are compiled than are run (`uopscope ls`).
#   uopscope run samples/resnet50.py          the same script runs with tinygrad: python samples/resnet50.py
#   DEV=NULL uopscope run samples/resnet50.py compiles and runs nothing
import time
from tinygrad import Tensor, nn

class ConvNorm:
  """A convolution without bias, then batch norm."""
  def __init__(self, inputs, outputs, size, stride=1):
    self.conv = nn.Conv2d(inputs, outputs, size, stride=stride, padding=size // 2, bias=False)
    self.norm = nn.BatchNorm(outputs)
  def __call__(self, x): return self.norm(self.conv(x))

class Bottleneck:
  """Narrow to `width` channels, look around there, widen to four times that, and add what came in."""
  def __init__(self, inputs, width, stride):
    self.narrow = ConvNorm(inputs, width, 1)
    self.look = ConvNorm(width, width, 3, stride)
    self.widen = ConvNorm(width, 4 * width, 1)
    self.shortcut = ConvNorm(inputs, 4 * width, 1, stride) if stride != 1 or inputs != 4 * width else None
  def __call__(self, x):
    y = self.widen(self.look(self.narrow(x).relu()).relu())
    return (y + (self.shortcut(x) if self.shortcut else x)).relu()

class ResNet50:
  def __init__(self, classes=1000):
    self.stem = ConvNorm(3, 64, 7, 2)
    self.blocks, channels = [], 64
    for width, count, stride in ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2)):
      for i in range(count):
        self.blocks.append(Bottleneck(channels, width, stride if i == 0 else 1))
        channels = 4 * width
    self.classify = nn.Linear(channels, classes)
  def __call__(self, image):
    x = self.stem(image).relu().max_pool2d(kernel_size=3, stride=2, padding=1)
    x = x.sequential(self.blocks)
    return self.classify(x.mean((2, 3)))

def make():
  """The network with its weights in memory, and an image."""
  Tensor.manual_seed(7)
  model = ResNet50()
  image = Tensor.randn(1, 3, 224, 224)
  Tensor.realize(image, *nn.state.get_parameters(model))
  return model, (image,)

if __name__ == "__main__":
  model, inputs = make()
  start = time.perf_counter()
  scores = model(*inputs).realize()
  print(f"forward: {scores.shape} in {time.perf_counter() - start:.2f} s, compiling included")
