# Data sets, read from files on this machine; uopscope.downloads lists the folders that are searched.
#
#   x_train, y_train, x_test, y_test = nn.datasets.mnist()       # uint8: (60000, 1, 28, 28), (60000,), (10000, ...)
from tinygrad.tensor import Tensor
from tinygrad.nn.state import tar_extract
from uopscope.downloads import local_file
from uopscope.absent import lacking
__getattr__ = lacking(__name__)

_MNIST, _FASHION = "https://storage.googleapis.com/cvdf-datasets/mnist/", "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/"
_CIFAR = "https://www.cs.toronto.edu/~kriz/cifar-10-binary.tar.gz"

def _checked(path, t, header, row):
  if len(t) <= header or (len(t) - header) % row: raise ValueError(f"{path}: {len(t)} bytes are not a header of {header} and rows of {row}: another or a damaged file")
  return t

def mnist(device=None, fashion=False):
  """MNIST digits, or with `fashion` clothes. Their files have the same names, so those of fashion go into a folder `fashion`."""
  def read(file, header, row):
    path = local_file((_FASHION if fashion else _MNIST) + file, subdir="fashion" if fashion else None, gunzip=True)
    return _checked(path, Tensor(path), header, row)[header:]
  def images(file): return read(file, 16, 28 * 28).reshape(-1, 1, 28, 28).to(device)
  def labels(file): return read(file, 8, 1).to(device)
  return images("train-images-idx3-ubyte.gz"), labels("train-labels-idx1-ubyte.gz"), images("t10k-images-idx3-ubyte.gz"), labels("t10k-labels-idx1-ubyte.gz")

def cifar(device=None):
  """CIFAR-10: images (n, 3, 32, 32) and labels, uint8."""
  path = local_file(_CIFAR, gunzip=True)
  files = tar_extract(path)
  def rows(name):
    name = f"cifar-10-batches-bin/{name}.bin"
    if name not in files: raise ValueError(f"{path}: no {name} in it: not the binary version of CIFAR-10")
    return _checked(name, files[name], 0, 3073).reshape(-1, 3073).to(device)
  train, test = Tensor.cat(*[rows(f"data_batch_{i}") for i in range(1, 6)]), rows("test_batch")
  return train[:, 1:].reshape(-1, 3, 32, 32), train[:, 0], test[:, 1:].reshape(-1, 3, 32, 32), test[:, 0]
