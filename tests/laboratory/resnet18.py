# ResNet-18 with random weights, one image of 64 by 64: 20 convolutions, for the laboratory's verbs.
from tinygrad import Tensor, nn

class Block:
  """Two convolutions with batch norm, and what came in added."""
  def __init__(self, inputs, outputs, stride):
    self.a, self.an = nn.Conv2d(inputs, outputs, 3, stride=stride, padding=1, bias=False), nn.BatchNorm(outputs)
    self.b, self.bn = nn.Conv2d(outputs, outputs, 3, padding=1, bias=False), nn.BatchNorm(outputs)
    self.side = nn.Conv2d(inputs, outputs, 1, stride=stride, bias=False) if stride != 1 or inputs != outputs else None
    self.sn = nn.BatchNorm(outputs)
  def __call__(self, x):
    y = self.bn(self.b(self.an(self.a(x)).relu()))
    return (y + (self.sn(self.side(x)) if self.side else x)).relu()

class ResNet18:
  def __init__(self, classes=10):
    self.stem, self.norm = nn.Conv2d(3, 64, 7, stride=2, padding=3, bias=False), nn.BatchNorm(64)
    sizes = [(64, 64, 1), (64, 64, 1), (64, 128, 2), (128, 128, 1), (128, 256, 2), (256, 256, 1), (256, 512, 2), (512, 512, 1)]
    self.blocks, self.classify = [Block(*s) for s in sizes], nn.Linear(512, classes)
  def __call__(self, x):
    return self.classify(self.norm(self.stem(x)).relu().max_pool2d(3, 2, padding=1).sequential(self.blocks).mean((2, 3)))

Tensor.manual_seed(3)
model = ResNet18()
image = Tensor.randn(1, 3, 64, 64)
Tensor.realize(image, *nn.state.get_parameters(model))
print(model(image).realize().shape)
