# Transforms beside JAX's: the sparse and the dense Jacobian of a multistage problem of 50 stages, a small network vmapped over
# 1,000 inputs, and a Hessian-vector product of its loss.
#
#   tests/bench/run transforms [n]                     n rounds: each runs both, a process for each measure, in turn; medians
#   uopscope run tests/bench/transforms.py [WORD]      ours alone, one JSON line for each
#   PYTHON tests/bench/transforms.py [WORD]            JAX's, with a Python that has jax
#
# first: a process that has compiled something else traces, derives, compiles and runs, by the clock and in processor time of all
# threads. Cold: nothing of it was ever compiled; kept: its machine code is on disk from an earlier process (ours always,
# JAX's with jax_compilation_cache_dir). run: a later call, until the result is there.
import json, os, statistics, subprocess, sys, tempfile, time

N, CALLS = 50, 200
NAMES = ["sparse Jacobian, 50 stages", "dense Jacobian, 50 stages", "vmap of a network, 1,000 inputs", "Hessian-vector product of its loss"]
WORDS = [a for a in sys.argv[1:] if a != "compare"]

def data():
  import numpy as np
  rng = np.random.default_rng(0)
  return rng.uniform(-0.5, 0.5, N * 10), [rng.normal(0, 0.3, s).astype(np.float32) for s in ((16, 32), (32, 32), (32, 4))], rng.normal(0, 1, (1000, 16)).astype(np.float32)

def measure(name, make, wait=lambda t: t):
  if WORDS and not any(w in name for w in WORDS): return
  began, busy = time.perf_counter(), time.process_time()
  call = make()
  result = wait(call())
  first, first_busy = time.perf_counter() - began, time.process_time() - busy
  for _ in range(5): wait(call())
  times, busy = [], time.process_time()
  for _ in range(CALLS):
    began = time.perf_counter()
    wait(call())
    times.append(time.perf_counter() - began)
  busy = (time.process_time() - busy) / CALLS
  print(json.dumps({"what": name, "first": first * 1e3, "first_cpu": first_busy * 1e3, "run": statistics.median(times) * 1e3, "run_cpu": busy * 1e3, "check": float(abs(result).sum().item())}), flush=True)

def ours():
  from tinygrad import Tensor, TinyJit
  from uopscope import hvp, sparse_jacobian, vmap, jacfwd
  sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "samples"))
  from multistage import coupling
  def jitted(f, *args):
    def make():
      run = TinyJit(lambda *a: f(*a).realize())
      return lambda: run(*args)
    return make
  X0, W, BATCH = data()
  x, params, batch = Tensor(X0).realize(), [Tensor(w).realize() for w in W], Tensor(BATCH).realize()
  def network(x, ws): return ((x @ ws[0]).tanh() @ ws[1]).tanh() @ ws[2]
  loss = lambda *ws: (vmap(lambda x: network(x, ws))(batch) ** 2).mean()
  s = sparse_jacobian(coupling)
  (x[:3] + 1).realize()
  measure(NAMES[0], jitted(lambda x: s(x).values, x))
  measure(NAMES[1], jitted(jacfwd(coupling), x))
  measure(NAMES[2], jitted(lambda xs: vmap(lambda x: network(x, params))(xs), batch))
  measure(NAMES[3], jitted(lambda *ws: Tensor.cat(*[t.flatten() for t in hvp(loss, tuple(ws), tuple(ws))]), *params))

def jaxs():
  import numpy as np, jax, jax.numpy as jnp
  jax.config.update("jax_enable_x64", True)
  if os.environ.get("JAX_COMPILATION_CACHE_DIR"):
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
    jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)
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
      return lambda: run(*args)
    return make
  wait = lambda t: t.block_until_ready()
  X0, W, BATCH = data()
  x, params, batch = jnp.array(X0), [jnp.array(w) for w in W], jnp.array(BATCH)
  def network(x, ws): return jnp.tanh(jnp.tanh(x @ ws[0]) @ ws[1]) @ ws[2]
  loss = lambda *ws: (jax.vmap(lambda x: network(x, ws))(batch) ** 2).mean()
  # JAX has no pattern analysis: it is given the pattern and its colours (columns of stages two apart share one)
  dense = np.zeros((N * 8, N * 10), bool)
  for n in range(N):
    dense[n * 8:n * 8 + 8, n * 10:n * 10 + 8] |= np.eye(8, dtype=bool)
    if n: dense[n * 8:n * 8 + 8, n * 10 - 10:n * 10] |= np.ones((8, 10), bool)
  rows, cols = np.nonzero(dense)
  seeds = (np.arange(N * 10) % 20 == np.arange(20)[:, None]).astype(np.float64)
  jax.jit(lambda x: x[:3] + 1)(x)
  def compressed(x):
    return jax.vmap(lambda v: jax.jvp(coupling, (x,), (v,))[1])(seeds)[cols % 20, rows]
  measure(NAMES[0], jitted(compressed, x), wait)
  measure(NAMES[1], jitted(jax.jacfwd(coupling), x), wait)
  measure(NAMES[2], jitted(lambda xs: jax.vmap(lambda x: network(x, params))(xs), batch), wait)
  def product(*ws):
    out = jax.jvp(jax.grad(loss, argnums=(0, 1, 2)), ws, ws)[1]
    return jnp.concatenate([t.reshape(-1) for t in out])
  measure(NAMES[3], jitted(product, *params), wait)

def compare(uopscope, python, rounds):
  """One process for each measure, ours and JAX's in turn, so that nothing is ready from another."""
  rows = {}
  def once(name, side, command, cache):
    env = {**os.environ, "XDG_CACHE_HOME": cache, **({} if cache.endswith("cold") else {"JAX_COMPILATION_CACHE_DIR": cache})}
    done = subprocess.run([*command, os.path.abspath(__file__), name], capture_output=True, text=True, env=env)
    if done.returncode: sys.exit(f"{side}, {name}:\n{done.stdout}{done.stderr}")
    return json.loads(done.stdout.splitlines()[-1])
  with tempfile.TemporaryDirectory() as kept:
    for r in range(rounds + 1): # the first fills what is kept
      for name in NAMES:
        for side, command in (("ours", [uopscope, "run"]), ("JAX", [python])):
          row = once(name, side, command, os.path.join(kept, side))
          if r == 0: continue
          rows.setdefault((name, side, "kept"), []).append(row)
          with tempfile.TemporaryDirectory(suffix="cold") as empty: rows.setdefault((name, side, "cold"), []).append(once(name, side, command, empty))
  print(f"medians of {rounds} rounds, milliseconds: ours / JAX, and times ahead")
  for name in NAMES:
    ours, jaxs = (rows[name, side, "kept"][0]["check"] for side in ("ours", "JAX"))
    print(f"{name} (sums of results differ by {abs(1 - ours / jaxs):.0e})")
    for label, key, cache in (("first call, cold", "first", "cold"), ("  processor time", "first_cpu", "cold"), ("first call, kept", "first", "kept"), ("  processor time", "first_cpu", "kept"),
                              ("run", "run", "kept"), ("  processor time", "run_cpu", "kept")):
      a, b = ([row[key] for row in rows[name, side, cache]] for side in ("ours", "JAX"))
      print(f"  {label:18}{statistics.median(a):10.3f} /{statistics.median(b):10.3f}   {statistics.median(y / x for x, y in zip(a, b)):6.2f}")

if __name__ == "__main__":
  if sys.argv[1:2] == ["compare"]: compare(sys.argv[2], sys.argv[3], int(sys.argv[4]) if len(sys.argv) > 4 else 5)
  else:
    try: import _uopscope
    except ImportError: jaxs()
    else: ours()
