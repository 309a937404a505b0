# Transforms beside JAX's: the sparse Jacobian of a multistage problem of 50 stages, a small network vmapped over 1,000 inputs, and a
# Hessian-vector product of its loss. The first call (trace, derive, compile, run) by the clock and in processor time of all
# threads, and a later one, the median, in milliseconds.
#
#   uopscope run tests/bench/transforms.py             ours, one JSON line for each
#   PYTHON tests/bench/transforms.py                   JAX's, with a Python that has jax
import json, statistics, sys, time
import numpy as np

N, CALLS = 50, 30
rng = np.random.default_rng(0)
X0 = rng.uniform(-0.5, 0.5, N * 10)
W = [rng.normal(0, 0.3, s).astype(np.float32) for s in ((16, 32), (32, 32), (32, 4))]
BATCH = rng.normal(0, 1, (1000, 16)).astype(np.float32)

def measure(name, make):
  began, busy = time.perf_counter(), time.process_time()
  call = make()
  result = call()
  first, busy = time.perf_counter() - began, time.process_time() - busy
  for _ in range(3): call()
  times = []
  for _ in range(CALLS):
    began = time.perf_counter()
    call()
    times.append(time.perf_counter() - began)
  print(json.dumps({"what": name, "first_ms": round(first * 1e3, 1), "first_cpu_ms": round(busy * 1e3, 1), "run_ms": round(statistics.median(times) * 1e3, 4), "check": float(np.abs(np.asarray(result, dtype=np.float64)).sum())}), flush=True)

def ours():
  from tinygrad import Tensor, TinyJit
  from uopscope import hvp, sparse_jacobian, vmap, jacfwd
  sys.path.insert(0, "samples")
  from multistage import coupling
  def jitted(f, *args):
    def make():
      run = TinyJit(lambda *a: f(*a).realize())
      return lambda: run(*args).numpy()
    return make
  x, params, batch = Tensor(X0).realize(), [Tensor(w).realize() for w in W], Tensor(BATCH).realize()
  def network(x, ws): return ((x @ ws[0]).tanh() @ ws[1]).tanh() @ ws[2]
  loss = lambda *ws: (vmap(lambda x: network(x, ws))(batch) ** 2).mean()
  s = sparse_jacobian(coupling)
  measure("sparse Jacobian, 50 stages", jitted(lambda x: s(x).values, x))
  measure("dense Jacobian, 50 stages", jitted(jacfwd(coupling), x))
  measure("vmap of a network, 1,000 inputs", jitted(lambda xs: vmap(lambda x: network(x, params))(xs), batch))
  measure("Hessian-vector product of its loss", jitted(lambda *ws: Tensor.cat(*[t.flatten() for t in hvp(loss, tuple(ws), tuple(ws))]), *params))

def jaxs():
  import jax, jax.numpy as jnp
  jax.config.update("jax_enable_x64", True)
  def motion(stage):
    position, speed, force = stage[:4], stage[4:8], stage[8:10]
    wide = jnp.pad(position, 1)
    stretch = wide[1:] - wide[:-1]
    pull = stretch + 0.3 * stretch * stretch * stretch
    push = jnp.stack([force, jnp.zeros(2)], 1).reshape(4)
    faster = speed + 0.15 * (pull[1:] - pull[:-1] + push - 0.2 * speed)
    return jnp.concatenate([position + 0.15 * faster, faster])
  def coupling(x):
    stages = x.reshape(-1, 10)
    start = jnp.array([1.0, 0.5, -0.5, 0.8, 0, 0, 0, 0])
    return jnp.concatenate([stages[0, :8] - start, (stages[1:, :8] - jax.vmap(motion)(stages[:-1])).reshape(-1)])
  def jitted(f, *args):
    def make():
      run = jax.jit(f)
      return lambda: np.asarray(run(*args))
    return make
  x, params, batch = jnp.array(X0), [jnp.array(w) for w in W], jnp.array(BATCH)
  def network(x, ws): return jnp.tanh(jnp.tanh(x @ ws[0]) @ ws[1]) @ ws[2]
  loss = lambda *ws: (jax.vmap(lambda x: network(x, ws))(batch) ** 2).mean()
  # JAX has no pattern analysis: it is given the pattern and its colours (columns of stages two apart share one)
  dense = np.asarray(jax.jacfwd(coupling)(x))
  rows, cols = np.nonzero(dense)
  seeds = jnp.array((np.arange(N * 10) % 20 == np.arange(20)[:, None]).astype(np.float64))
  def compressed(x):
    return jax.vmap(lambda v: jax.jvp(coupling, (x,), (v,))[1])(seeds)[cols % 20, rows]
  measure("sparse Jacobian, 50 stages", jitted(compressed, x))
  measure("dense Jacobian, 50 stages", jitted(jax.jacfwd(coupling), x))
  measure("vmap of a network, 1,000 inputs", jitted(lambda xs: jax.vmap(lambda x: network(x, params))(xs), batch))
  def product(*ws):
    out = jax.jvp(jax.grad(loss, argnums=(0, 1, 2)), ws, ws)[1]
    return jnp.concatenate([t.reshape(-1) for t in out])
  measure("Hessian-vector product of its loss", jitted(product, *params))

if __name__ == "__main__":
  try: import _uopscope
  except ImportError: jaxs()
  else: ours()
