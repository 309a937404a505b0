# A small GPT learns to copy: it reads "3141|" and goes on "3141". Attention has to find what stood that many places ago.
#   app/run run samples/tiny_gpt.py               STEPS=400 to see it through
# Look at: heads of all blocks are one batched product; the causal mask is fused into the softmax. Runs on tinygrad as well.
import os
import numpy as np
from tinygrad import Tensor, TinyJit, nn

DIGITS, LENGTH, DIM, HEADS, BLOCKS, BATCH, STEPS = 10, 4, 32, 2, 2, 64, int(os.getenv("STEPS", "150"))
BAR, WIDTH = DIGITS, 2 * LENGTH

class Attention:
  def __init__(self): self.qkv, self.out = nn.Linear(DIM, 3 * DIM), nn.Linear(DIM, DIM)
  def __call__(self, x):
    B, T, _ = x.shape
    q, k, v = self.qkv(x).reshape(B, T, 3, HEADS, DIM // HEADS).permute(2, 0, 3, 1, 4).chunk(3)
    y = q.squeeze(0).scaled_dot_product_attention(k.squeeze(0), v.squeeze(0), is_causal=True)
    return self.out(y.transpose(1, 2).reshape(B, T, DIM))

class Block:
  def __init__(self): self.n1, self.attention, self.n2, self.up, self.down = nn.LayerNorm(DIM), Attention(), nn.LayerNorm(DIM), nn.Linear(DIM, 4 * DIM), nn.Linear(4 * DIM, DIM)
  def __call__(self, x):
    x = x + self.attention(self.n1(x))
    return x + self.down(self.up(self.n2(x)).gelu())

class GPT:
  def __init__(self):
    self.token, self.place, self.blocks = nn.Embedding(DIGITS + 1, DIM), nn.Embedding(WIDTH, DIM), [Block() for _ in range(BLOCKS)]
    self.norm, self.head = nn.LayerNorm(DIM), nn.Linear(DIM, DIGITS + 1, bias=False)
  def __call__(self, ids):
    x = self.token(ids) + self.place(Tensor.arange(ids.shape[1]))
    return self.head(self.norm(x.sequential(self.blocks)))

def batch(rng, n):
  """Digits, a bar, the digits again: what to read, and what comes next after the bar."""
  digits = rng.integers(0, DIGITS, (n, LENGTH))
  whole = np.concatenate([digits, np.full((n, 1), BAR), digits], 1).astype(np.int32)
  return Tensor(whole[:, :-1]), Tensor(whole[:, 1:])

Tensor.manual_seed(1)
rng, model = np.random.default_rng(1), GPT()
opt = nn.optim.AdamW(nn.state.get_parameters(model), lr=3e-3, weight_decay=0.01)

@TinyJit
def step(x, y):
  opt.zero_grad()
  logits = model(x)[:, LENGTH:] # the digits before the bar cannot be foreseen
  loss = logits.sparse_categorical_crossentropy(y[:, LENGTH:]).backward()
  opt.step()
  return loss

with Tensor.train():
  first = last = None
  for i in range(STEPS):
    x, y = batch(rng, BATCH)
    loss = step(x.realize(), y.realize())
    if i % 50 == 0 or i == STEPS - 1:
      last = loss.item()
      first = first if first is not None else last
      print(f"step {i:4d}  loss {last:.3f}")

x, y = batch(np.random.default_rng(2), 100)
read = x[:, :LENGTH + 1]
for _ in range(LENGTH): # one digit at a time, each from all before it
  read = read.cat(model(read)[:, -1:].argmax(-1).cast(read.dtype), dim=1).realize()
copied = (read[:, LENGTH + 1:] == y[:, LENGTH:]).mean().item()
print(f"{100 * copied:.0f} % of the digits are copied right, after a loss of {first:.2f} and {last:.2f}")
assert last < first and (STEPS < 150 or copied > 0.9)
