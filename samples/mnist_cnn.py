# A convolutional network learns to read digits, with the whole training step captured by TinyJit.
#
# The digits are drawn here, shifted and noisy, so the sample needs no download. It runs unchanged on tinygrad.
#   uopscope run samples/mnist_cnn.py [STEPS]         uopscope record samples/mnist_cnn.py -o mnist.uoptrace
import sys, time
from tinygrad import Tensor, TinyJit, nn

FONT = ["01110 10001 10011 10101 11001 10001 01110", "00100 01100 00100 00100 00100 00100 01110",
        "01110 10001 00001 00010 00100 01000 11111", "11111 00010 00100 00010 00001 10001 01110",
        "00010 00110 01010 10010 11111 00010 00010", "11111 10000 11110 00001 00001 10001 01110",
        "00110 01000 10000 11110 10001 10001 01110", "11111 00001 00010 00100 01000 01000 01000",
        "01110 10001 10001 01110 10001 10001 01110", "01110 10001 10001 01111 00001 00010 01100"]

def glyphs():
  """Ten digits of 14 by 10 points, in the middle of 28 by 28."""
  small = Tensor([[[float(c) for c in row] for row in digit.split()] for digit in FONT])
  big = small.reshape(10, 7, 1, 5, 1).expand(10, 7, 2, 5, 2).reshape(10, 14, 10)
  return big.pad(((0, 0), (7, 7), (9, 9))).contiguous().realize()

def make_digits(n, table):
  """n noisy pictures, each digit moved by up to 3 points: (n, 1, 28, 28) and which digit it is."""
  labels = Tensor.randint(n, low=0, high=10).realize()
  moved = []
  for dy in (-3, 0, 3):
    for dx in (-3, 0, 3): moved.append(table.pad(((0, 0), (3 + dy, 3 - dy), (3 + dx, 3 - dx))).shrink(((0, 10), (3, 31), (3, 31))))
  pictures = Tensor.stack(*moved).reshape(90, 28 * 28).contiguous().realize()
  which = Tensor.randint(n, low=0, high=9) * 10 + labels
  images = which.one_hot(90).float() @ pictures
  return (images + Tensor.randn(n, 784) * 0.3).reshape(n, 1, 28, 28).realize(), labels

class Net:
  def __init__(self):
    self.layers = [nn.Conv2d(1, 16, 5), Tensor.relu, lambda x: x.max_pool2d((2, 2)),
                   nn.Conv2d(16, 32, 3), Tensor.relu, lambda x: x.max_pool2d((2, 2)),
                   lambda x: x.flatten(1), nn.Linear(800, 10)]
  def __call__(self, x): return x.sequential(self.layers)

def main(steps):
  Tensor.manual_seed(1337)
  images, labels = make_digits(1024, glyphs())
  model = Net()
  optimizer = nn.optim.Adam(nn.state.get_parameters(model), lr=0.002)

  @TinyJit
  def train_step():
    with Tensor.train():
      optimizer.zero_grad()
      samples = Tensor.randint(64, high=1024)
      loss = model(images[samples]).sparse_categorical_crossentropy(labels[samples]).backward()
      return loss.realize(*optimizer.schedule_step())

  losses = []
  for step in range(steps):
    start = time.perf_counter()
    losses.append(train_step().item())
    if step % 10 == 0 or step == steps - 1: print(f"step {step:4d}  loss {losses[-1]:6.3f}  {(time.perf_counter() - start) * 1e3:8.2f} ms")

  fresh, truth = make_digits(256, glyphs())
  right = (model(fresh).argmax(axis=1) == truth).mean().item()
  print(f"reads {right * 100:.1f} % of digits it has not seen")
  if steps < 40: return # so few teach nothing yet
  assert losses[-1] < 0.5 * losses[0], f"the loss did not fall: {losses[0]} to {losses[-1]}"
  assert right > 0.6

if __name__ == "__main__": main(int(sys.argv[1]) if len(sys.argv) > 1 else 60)
