# One block of a transformer, token by token: attention over everything seen so far, kept in a cache.
# Look at: the position is a bound variable, so the second token finds the schedule of the first and compiles nothing;
# each layer norm is fused into what reads it as far as that pays (`uopscope ls`, `uopscope show`).
#   uopscope run samples/transformer_block.py     the same script runs with tinygrad
import time
from tinygrad import Tensor, Variable, nn

class Attention:
  def __init__(self, width, heads, longest):
    self.heads, self.each, self.longest = heads, width // heads, longest
    self.query, self.key, self.value, self.out = (nn.Linear(width, width, bias=False) for _ in range(4))
    self.cache = Tensor.zeros(2, 1, longest, heads, self.each).contiguous().realize()
  def __call__(self, x, position):
    batch, tokens, width = x.shape
    q, k, v = (project(x).reshape(batch, tokens, self.heads, self.each) for project in (self.query, self.key, self.value))
    # Keys and values of these tokens go to their places; what is read back is all there are by now.
    self.cache[:, :, position:position + tokens].assign(Tensor.stack(k, v)).realize()
    seen = position + tokens
    keys, values = self.cache[0, :, :seen], self.cache[1, :, :seen]
    q, keys, values = (t.transpose(1, 2) for t in (q, keys, values))
    # A row of scores a token: it sees the tokens before it and itself.
    scores = q.matmul(keys.transpose(-2, -1)) * self.each**-0.5
    if tokens > 1: scores = scores + Tensor.full((1, 1, tokens, seen), float("-inf")).triu(position + 1)
    return self.out(scores.softmax(-1).matmul(values).transpose(1, 2).reshape(batch, tokens, width))

class Block:
  def __init__(self, width=512, heads=8, longest=128):
    self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
    self.attention = Attention(width, heads, longest)
    self.grow, self.shrink = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
  def __call__(self, x, position):
    x = x + self.attention(self.norm1(x), position)
    return (x + self.shrink(self.grow(self.norm2(x)).gelu())).contiguous()

def make():
  """The block with its weights in memory, a token, and its position: a variable bound to 3."""
  Tensor.manual_seed(7)
  block = Block()
  token = Tensor.randn(1, 1, 512)
  Tensor.realize(token, *nn.state.get_parameters(block))
  return block, (token, Variable("position", 0, 127).bind(3))

if __name__ == "__main__":
  block, _ = make()
  sentence = Tensor.randn(1, 6, 512).realize()
  whole = block(sentence, 0).numpy()
  block.attention.cache.assign(Tensor.zeros_like(block.attention.cache)).realize()
  for i in range(6):
    start = time.perf_counter()
    one = block(sentence[:, i:i + 1].contiguous(), Variable("position", 0, 127).bind(i)).numpy()
    milliseconds = (time.perf_counter() - start) * 1000
    print(f"token {i}: {milliseconds:7.1f} ms, differs from the whole sentence by {abs(one[0, 0] - whole[0, i]).max():.1e}")
    assert abs(one[0, 0] - whole[0, i]).max() < 1e-4
