"""Operations one by one, forward and with gradients, ours against PyTorch: the slowest first.

sweep.py UOPSCOPE OTHER_PYTHON [rounds] [words of names ...]

Each side is a process of its own with two threads and the same inputs, as in kernels.py. Results are compared with PyTorch's in
float64: a number may be off by TOLERANCE of the largest one of its array. 1 if one is.
"""
import math, os, sys, tempfile, time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from kernels import BURST, PAUSE, THREADS, Side, library, rounds_and_words, serve, times_of
from sweep_cases import operations

ROUNDS, TOLERANCE = 3, 2e-4


def table_of(all_operations):
    """Each operation by its name, and a second time with its gradients where it has some."""
    found = {}
    for op in all_operations:
        found[op.name] = (op, False)
        if op.gradient: found[f"gradient of {op.name}"] = (op, True)
    return found


def arrays_of(np, op):
    rng = np.random.default_rng(1)
    return [make(rng) if callable(make) else rng.standard_normal(make, dtype="float32") for make in op.inputs]


def weights_of(shape):
    """What a gradient begins with."""
    import numpy as np
    return np.random.default_rng(2).standard_normal(tuple(shape), dtype="float32")


def ours_of(op, gradient, arrays):
    from tinygrad import Tensor, TinyJit
    tensors = [Tensor(a).contiguous().realize() for a in arrays]
    weights = Tensor(weights_of(op.ours(*tensors).shape)).contiguous().realize() if gradient else None
    def forward(*t): return [op.ours(*t).realize()]
    def gradients(*t):
        of = [x.detach().requires_grad_(True) for x in t[:op.gradient]]
        found = [g.contiguous() for g in (op.ours(*of, *t[op.gradient:]) * weights).sum().gradient(*of)]
        Tensor.realize(*found)
        return found
    jitted = TinyJit(gradients if gradient else forward)
    call = lambda: jitted(*tensors)
    for _ in range(3): call()
    return call, lambda: [r.numpy() for r in call()]


def torch_of(op, gradient, arrays, exact):
    import torch
    tensors = [torch.from_numpy(a) for a in arrays]
    if exact: tensors = [t.double() if t.is_floating_point() else t for t in tensors]
    with torch.no_grad(): weights = torch.from_numpy(weights_of(op.theirs(*tensors).shape)) if gradient else None
    if exact and gradient: weights = weights.double()
    def call():
        if not gradient: return [op.theirs(*tensors)]
        with torch.enable_grad():
            of = [t.detach().requires_grad_(True) for t in tensors[:op.gradient]]
            return torch.autograd.grad(op.theirs(*of, *tensors[op.gradient:]), of, weights)
    return call, lambda: [r.numpy() for r in call()]


def worker(kind, table):
    import numpy as np
    if kind == "torch":
        import torch
        torch.set_num_threads(THREADS)
        torch.set_grad_enabled(False)
    made = {}
    def told(ask):
        try: return answer(ask)
        except Exception as e: return {"error": f"{kind}: {type(e).__name__}: {e}"[:200]}
    def answer(ask):
        key = (ask["name"], ask.get("exact", False))
        if key not in made:
            made.clear()
            op, gradient = table[ask["name"]]
            arrays = arrays_of(np, op)
            made[key] = ours_of(op, gradient, arrays) if kind == "ours" else torch_of(op, gradient, arrays, key[1])
        call, get = made[key]
        if "save" in ask:
            np.savez(ask["save"], *get())
            return {}
        times = times_of(kind, call, ask["calls"])
        return {"least": min(times)}
    serve(told)


def error_of(np, mine, exact):
    worst = 0.0
    with np.load(mine) as m, np.load(exact) as e:
        for name in e.files:
            a, b = m[name], e[name]
            if a.shape != b.shape: return math.inf
            with np.errstate(invalid="ignore"): off = np.where((a == b) | (np.isnan(a) & np.isnan(b)), 0, abs(a.astype("float64") - b.astype("float64")))
            finite = abs(b[np.isfinite(b)])
            if off.size: worst = max(worst, float(off.max()) / max(float(finite.max()) if finite.size else 0, 1e-30))
    return worst


def main(uopscope, python, rounds, words, table, script=__file__):
    import numpy as np
    module, version = library(python)
    if module != "torch": sys.exit(f"{python} has no PyTorch: KERNELS_PYTHON names one that has")
    ours, theirs = Side([uopscope, "python"], "ours", script), Side([python], module, script)
    print(f"two threads, {rounds} rounds in turns, the fastest call; theirs: PyTorch {version}")
    found, wrong = [], []
    with tempfile.TemporaryDirectory() as folder:
        for name, (op, gradient) in table.items():
            if words and not any(w in name for w in words): continue
            mine, exact = os.path.join(folder, "mine.npz"), os.path.join(folder, "exact.npz")
            if sys.stderr.isatty(): print(f"\r{len(found) + 1:4} {name:50}", end="", file=sys.stderr, flush=True)
            failed = ours.ask(name=name, save=mine).get("error") or theirs.ask(name=name, save=exact, exact=True).get("error")
            if failed:
                wrong.append(f"{name} ({failed})")
                continue
            error = error_of(np, mine, exact)
            if not error <= TOLERANCE: wrong.append(f"{name} ({error:.1g})")
            best = {ours: math.inf, theirs: math.inf}
            calls = {s: max(1, min(1000, int(BURST / max(1e-6, s.ask(name=name, calls=2)["least"])))) for s in best}
            for _ in range(rounds):
                for s in best:
                    time.sleep(PAUSE)
                    best[s] = min(best[s], s.ask(name=name, calls=calls[s])["least"])
            found.append((best[theirs] / best[ours], name, best[ours], best[theirs], error))
    if sys.stderr.isatty(): print("\r" + " " * 60, end="\r", file=sys.stderr)
    width = max([50, *(len(f[1]) + 1 for f in found)])
    print(f"{'':{width}}{'ours, us':>10}{'theirs':>10}{'ratio':>8}{'error':>10}")
    for ratio, name, a, b, error in sorted(found): print(f"{name:{width}}{a * 1e6:10.1f}{b * 1e6:10.1f}{ratio:8.2f}{error:10.1g}")
    print(f"{len(found)} operations, geometric mean {math.exp(sum(math.log(f[0]) for f in found) / len(found)):.2f}, {sum(f[0] < 0.9 for f in found)} below 0.9")
    ours.close(), theirs.close()
    if wrong: sys.exit("numbers differ: " + ", ".join(wrong))


if __name__ == "__main__":
    if sys.argv[1] == "--worker":
        worker(sys.argv[2], table_of(operations()))
    else:
        main(sys.argv[1], sys.argv[2], *rounds_and_words(sys.argv[3:], ROUNDS), table_of(operations()))
