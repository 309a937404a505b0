# ONNX's operators of training: optimizers' steps and gradients, of the domain ai.onnx.preview.training.
#
# An optimizer takes a rate, the number of steps so far, and then lists: the values, their gradients, and its state. It
# answers with the new values and the new state.
from uopscope.onnx_registry import one_value, operator

def _each(inputs, kinds, step):
  """The results of `step` for each value: all values first, then each list of the state."""
  count = len(inputs) // kinds
  results = [step(*inputs[k::count]) for k in range(count)]
  return tuple(result[kind] for kind in range(kinds - 1) for result in results)

@operator
def Adagrad(rate, steps, *inputs, decay_factor=0.0, epsilon=1e-6, norm_coefficient=0.0):
  rate = rate / (1 + one_value(steps) * decay_factor)
  def step(x, g, squares):
    g = g + x * norm_coefficient
    squares = squares + g * g
    return x - rate * g / (squares.sqrt() + epsilon), squares
  return _each(inputs, 3, step)
@operator
def Momentum(rate, steps, *inputs, alpha, beta, mode, norm_coefficient):
  share = beta if one_value(steps) > 0 else 1
  def step(x, g, v):
    g = g + x * norm_coefficient
    v = v * alpha + g * share
    return x - rate * (g + v * alpha if mode == "nesterov" else v), v
  return _each(inputs, 3, step)
@operator
def Adam(rate, steps, *inputs, alpha=0.9, beta=0.999, epsilon=1e-6, norm_coefficient=0.0, norm_coefficient_post=0.0):
  n = one_value(steps)
  if n > 0: rate = rate * ((1 - beta ** n) ** 0.5 / (1 - alpha ** n))
  def step(x, g, v, h):
    g = g + x * norm_coefficient
    v, h = v * alpha + g * (1 - alpha), h * beta + g * g * (1 - beta)
    return (x - rate * v / (h.sqrt() + epsilon)) * (1 - norm_coefficient_post), v, h
  return _each(inputs, 4, step)
@operator
def Gradient(*inputs, xs, y, named, zs=None):
  """The derivatives of the value named y, summed, by those named xs; `named` has the values so far."""
  return tuple(named[y].sum().gradient(*[named[x] for x in xs]))
