# Language models from GGUF files: Llama 3, Qwen 2 and 3, OLMoE, and models with the same architecture.
#
#   uopscope python -m tinygrad.apps.llm --model model.gguf                 a conversation in the terminal
#   uopscope python -m tinygrad.apps.llm --model model.gguf --serve 11434   an OpenAI-style server on this machine
#
# The keys and values of all tokens read stay in a cache. The position in the cache is a bound variable, so the graph is the
# same at every position, and nothing is scheduled or compiled twice. For the same reason a prompt is read in pieces of one
# length; the last piece is filled up.
import argparse, functools, os, sys
from tinygrad import Tensor, TinyJit, UOp, nn
from tinygrad.dtype import dtypes
from tinygrad.helpers import GlobalCounters, Timing, fetch, getenv
from uopscope import chat as _chat
from uopscope.tokenizer import SimpleTokenizer
from uopscope.absent import lacking
__getattr__ = lacking(__name__)

PROMPT_PIECE = 32 # tokens of a prompt in one piece

@functools.cache
def precompute_freqs_cis(dim, end, theta=10000.0):
  """(end, dim): for every position the cosines of its angles, then their sines."""
  turns = 1.0 / (theta ** (Tensor.arange(0, dim, 2)[:dim // 2] / dim))
  angles = Tensor.arange(end).unsqueeze(1) * turns.unsqueeze(0)
  return angles.cos().cat(angles.sin(), dim=-1).contiguous()

def apply_rope(x, freqs_cis):
  """Rotates the two halves of each head's vector by the angles of its position."""
  assert x.shape[-1] % 2 == 0, f"rope turns pairs: the last axis of {x.shape} is odd"
  half = x.shape[-1] // 2
  angles = freqs_cis.reshape(1, 1, x.shape[2], 2 * half)
  cos, sin, a, b = angles[..., :half], angles[..., half:], x[..., :half], x[..., half:]
  return Tensor.cat(a * cos - b * sin, b * cos + a * sin, dim=-1)

def attend(q, k, v, mask=None):
  """Attention of (B, H, T, D) over (B, G, S, D); each group of H/G heads uses the same keys. S may be symbolic."""
  B, H, T, D = q.shape
  groups = k.shape[1]
  q, k, v = q.reshape(B, groups, H // groups, T, D), k.unsqueeze(2), v.unsqueeze(2)
  scores = (q @ k.transpose(-2, -1)) * D ** -0.5
  if mask is not None: scores = mask.where(scores, -float("inf"))
  return (scores.softmax(-1) @ v).reshape(B, H, T, D)

class ExpertWeights:
  """A linear layer per expert, weight (experts, out, in). Each token uses the experts selected for it."""
  def __init__(self, num_experts, in_features, out_features): self.weight = Tensor.zeros(num_experts, out_features, in_features)
  def __call__(self, sel, x): return (x.unsqueeze(-2) @ self.weight[sel].transpose(-1, -2)).squeeze(-2)

class TransformerBlock:
  def __init__(self, dim, hidden_dim, n_heads, n_kv_heads, norm_eps, head_dim, rope_theta, max_context=0, qk_norm=0, num_experts=0, num_experts_per_tok=0, qkv_bias=False):
    self.n_heads, self.n_kv_heads, self.head_dim, self.rope_theta, self.max_context, self.qk_norm = n_heads, n_kv_heads, head_dim, rope_theta, max_context, qk_norm
    self.attn_q, self.attn_output = nn.Linear(dim, head_dim * n_heads, bias=qkv_bias), nn.Linear(head_dim * n_heads, dim, bias=False)
    self.attn_k, self.attn_v = nn.Linear(dim, head_dim * n_kv_heads, bias=qkv_bias), nn.Linear(dim, head_dim * n_kv_heads, bias=qkv_bias)
    self.attn_norm, self.ffn_norm = nn.RMSNorm(dim, norm_eps), nn.RMSNorm(dim, norm_eps)
    for name in ("attn_q_norm", "attn_k_norm") if qk_norm else (): setattr(self, name, nn.RMSNorm(qk_norm, norm_eps))
    # gate and up widen, down narrows: one layer for all tokens, or the experts that a gate chooses for each token
    self.experts = num_experts_per_tok if num_experts else 0
    for name, sizes in (("ffn_gate", (dim, hidden_dim)), ("ffn_up", (dim, hidden_dim)), ("ffn_down", (hidden_dim, dim))):
      if num_experts: setattr(self, f"{name}_exps", ExpertWeights(num_experts, *sizes))
      else: setattr(self, name, nn.Linear(*sizes, bias=False))
    if num_experts: self.ffn_gate_inp = nn.Linear(dim, num_experts, bias=False)

  def _attention(self, x, start_pos):
    normed = self.attn_norm(x)
    q, k, v = (project(normed) for project in (self.attn_q, self.attn_k, self.attn_v))
    whole = self.qk_norm and self.qk_norm != self.head_dim # normalise all heads together, not each head by itself
    if whole: q, k = self.attn_q_norm(q), self.attn_k_norm(k)
    B, T = x.shape[:2]
    q, k, v = (t.reshape(B, T, heads, self.head_dim).transpose(1, 2) for t, heads in ((q, self.n_heads), (k, self.n_kv_heads), (v, self.n_kv_heads)))
    if self.qk_norm and not whole: q, k = self.attn_q_norm(q), self.attn_k_norm(k)
    end = start_pos + T
    angles = precompute_freqs_cis(self.head_dim, self.max_context, self.rope_theta)[start_pos:end]
    q, k = apply_rope(q, angles), apply_rope(k, angles) # float32 from here on for all weights, since halves overflow
    if not hasattr(self, "cache_kv"): self.cache_kv = Tensor.zeros(2, B, self.n_kv_heads, self.max_context, self.head_dim, dtype=k.dtype, device=k.device).contiguous().realize()
    self.cache_kv[:, :, :, start_pos:end, :].assign(Tensor.stack(k, v)).realize()
    mask = None
    if T > 1: # a token does not attend to later ones
      seen, at = Tensor.arange(self.max_context)[0:end].reshape(1, 1, 1, 1, end), (Tensor.arange(T) + start_pos).reshape(1, 1, 1, T, 1)
      mask = seen <= at
    out = attend(q, self.cache_kv[0, :, :, 0:end, :], self.cache_kv[1, :, :, 0:end, :], mask)
    return x + self.attn_output(out.transpose(1, 2).reshape(B, T, -1))

  def _feed_forward(self, h):
    n = self.ffn_norm(h)
    if not self.experts: return h + self.ffn_down(self.ffn_gate(n).silu().contiguous() * self.ffn_up(n))
    weight, sel = self.ffn_gate_inp(n).softmax(-1).topk(self.experts)
    x = n.unsqueeze(2)
    out = self.ffn_down_exps(sel, self.ffn_gate_exps(sel, x).silu() * self.ffn_up_exps(sel, x))
    return h + (out * weight.unsqueeze(-1)).sum(axis=2)

  def __call__(self, x, start_pos): return self._feed_forward(self._attention(x, start_pos)).contiguous()

class Transformer:
  def __init__(self, *, num_blocks, dim, hidden_dim, n_heads, n_kv_heads, norm_eps, vocab_size, head_dim, rope_theta, max_context=0, qk_norm=0, num_experts=0, num_experts_per_tok=0, qkv_bias=False):
    self.blk = [TransformerBlock(dim, hidden_dim, n_heads, n_kv_heads, norm_eps, head_dim, rope_theta, max_context, qk_norm, num_experts, num_experts_per_tok, qkv_bias) for _ in range(num_blocks)]
    self.token_embd, self.output_norm, self.output = nn.Embedding(vocab_size, dim), nn.RMSNorm(dim, norm_eps), nn.Linear(dim, vocab_size, bias=False)
    self.max_context, self._in_cache = max_context, []
    self.forward_jit, self.piece_jit = TinyJit(self.forward), TinyJit(self.forward)

  def hidden(self, tokens, start_pos):
    return functools.reduce(lambda x, block: block(x, start_pos), self.blk, self.token_embd(tokens))
  def logits(self, tokens, start_pos): return self.output(self.output_norm(self.hidden(tokens, start_pos)))
  def forward(self, tokens, start_pos, last=-1):
    """The likeliest token after the one at `last`."""
    x = self.hidden(tokens, start_pos)
    x = x[:, -1:] if isinstance(last, int) and last == -1 else x[:, last:last + 1]
    return self.output(self.output_norm(x))[:, 0].softmax(-1, dtype=dtypes.float).argmax(-1, keepdim=True)
  def __call__(self, tokens, start_pos=0, last=-1):
    if not isinstance(start_pos, UOp) or not getenv("JIT", 1): return self.forward(tokens, start_pos, last)
    return self.forward_jit(tokens, start_pos) if tokens.shape[1] == 1 else self.piece_jit(tokens, start_pos, last)

  @staticmethod
  def from_gguf(gguf, max_context=None, realize=True):
    """A model and the metadata of a file, given as a path or a tensor of its bytes. Weights become float16; HALF=0 keeps
    their types."""
    kv, weights = nn.state.gguf_load(gguf)
    if getenv("HALF", 1): weights = {name: t.cast(dtypes.float16) for name, t in weights.items()}
    weights.setdefault("output.weight", weights["token_embd.weight"])
    try: model = Transformer(**_sizes(kv, weights, max_context))
    except KeyError as e: raise ValueError(f"the file's metadata has no {e.args[0]}: no model this program knows") from None
    arch = kv["general.architecture"]
    if arch == "llama": # the file has the two elements of a rotated pair adjacent; here they are half a head apart
      for name, heads in (("attn_q", kv[f"{arch}.attention.head_count"]), ("attn_k", kv[f"{arch}.attention.head_count_kv"])):
        for i in range(len(model.blk)):
          w = weights[f"blk.{i}.{name}.weight"]
          weights[f"blk.{i}.{name}.weight"] = w.reshape(heads, -1, 2, w.shape[-1]).transpose(1, 2).reshape(w.shape)
    nn.state.load_state_dict(model, weights, verbose=False, consume=True, realize=False)
    params = nn.state.get_parameters(model)
    for p in params: # unpacks one weight after the other
      p.replace(p.contiguous())
      if realize: p.realize()
    return model, kv

  def _read(self, tokens, at):
    """Reads the tokens from position `at` on into the cache; returns the token after them. If the prompt does not fill a
    piece, the piece ends in padding tokens: no earlier token attends to these, and they are overwritten before a later token
    is read."""
    position, last = UOp.variable("start_pos", 0, self.max_context - 1), UOp.variable("last", 0, PROMPT_PIECE - 1)
    bound = (lambda v, n: v.bind(n)) if getenv("SYM", 1) else (lambda v, n: n)
    following = None
    while at < len(tokens):
      if len(tokens) - at == 1 or self.max_context < PROMPT_PIECE:
        begin, n = at, 1
        following = self(Tensor([tokens[at:at + 1]], dtype=dtypes.int32), bound(position, at))
      else:
        begin = min(at, self.max_context - PROMPT_PIECE)
        n = min(len(tokens) - begin, PROMPT_PIECE)
        piece = tokens[begin:begin + n] + [0] * (PROMPT_PIECE - n)
        following = self(Tensor([piece], dtype=dtypes.int32), bound(position, begin), bound(last, n - 1))
      following.realize()
      self._in_cache[begin:] = tokens[begin:begin + n]
      at = begin + n
    return int(following.item())

  def generate(self, tokens, start_pos=0):
    """Generates tokens that continue `tokens`, and appends them to it. Tokens that the cache already has are not read again."""
    assert tokens, "there is nothing to continue: give at least one token"
    same = next((i for i, (a, b) in enumerate(zip(tokens, self._in_cache)) if a != b), min(len(tokens), len(self._in_cache)))
    at = min(same, len(tokens) - 1)
    while len(tokens) < self.max_context:
      following = self._read(tokens, at)
      at = len(tokens)
      tokens.append(following)
      yield following

def _sizes(kv, weights, max_context):
  arch = kv["general.architecture"]
  def of(name, *fallback): return kv.get(f"{arch}.{name}", *fallback) if fallback else kv[f"{arch}.{name}"]
  heads, context = of("attention.head_count"), of("context_length")
  norm = weights.get("blk.0.attn_q_norm.weight")
  return dict(num_blocks=of("block_count"), dim=of("embedding_length"), hidden_dim=of("expert_feed_forward_length", None) or of("feed_forward_length"), n_heads=heads, n_kv_heads=of("attention.head_count_kv"),
              norm_eps=of("attention.layer_norm_rms_epsilon"), vocab_size=len(kv["tokenizer.ggml.tokens"]), head_dim=of("attention.key_length", of("embedding_length") // heads), rope_theta=of("rope.freq_base", 10000.0),
              max_context=context if max_context is None else min(max_context, context), qk_norm=norm.shape[0] if norm is not None else 0, num_experts=of("expert_count", 0),
              num_experts_per_tok=of("expert_used_count", 0), qkv_bias="blk.0.attn_q.bias" in weights)

_HUB = "https://huggingface.co/{}/resolve/main/{}.gguf"
models = {name: _HUB.format(*where) for name, where in {
  "llama3.2:1b": ("bartowski/Llama-3.2-1B-Instruct-GGUF", "Llama-3.2-1B-Instruct-Q6_K"),
  "llama3.2:1b-q4": ("bartowski/Llama-3.2-1B-Instruct-GGUF", "Llama-3.2-1B-Instruct-Q4_K_M"),
  "llama3.2:3b": ("bartowski/Llama-3.2-3B-Instruct-GGUF", "Llama-3.2-3B-Instruct-Q6_K"),
  "llama3.2:3b-f16": ("bartowski/Llama-3.2-3B-Instruct-GGUF", "Llama-3.2-3B-Instruct-f16"),
  "llama3.1:8b": ("bartowski/Meta-Llama-3.1-8B-Instruct-GGUF", "Meta-Llama-3.1-8B-Instruct-Q8_0"),
  "qwen3:0.6b": ("Qwen/Qwen3-0.6B-GGUF", "Qwen3-0.6B-Q8_0"),
  "qwen3:1.7b": ("unsloth/Qwen3-1.7B-GGUF", "Qwen3-1.7B-Q4_K_M"),
  "qwen3:8b": ("Qwen/Qwen3-8B-GGUF", "Qwen3-8B-Q4_K_M"),
  "qwen3:30b-a3b": ("Qwen/Qwen3-30B-A3B-GGUF", "Qwen3-30B-A3B-Q4_K_M"),
  "olmoe": ("allenai/OLMoE-1B-7B-0924-Instruct-GGUF", "olmoe-1b-7b-0924-instruct-q4_k_m"),
}.items()}

model, tok, bos_id, eos_id = None, None, None, None # Handler answers with these; a program may set its own

class Handler(_chat.Handler):
  """Answers OpenAI-style requests with this module's `model`, `tok`, `bos_id` and `eos_id`.

      llm.model, llm.tok, llm.bos_id, llm.eos_id = model, tok, 1, 2
      TCPServerWithReuse(("127.0.0.1", 11434), llm.Handler).serve_forever()
  """
  @property
  def chat(self): return _chat.Chat.of(model, tok, bos_id, eos_id)

def main(args=None):
  parser = argparse.ArgumentParser(prog="tinygrad.apps.llm", description="Talks to a language model in a GGUF file.")
  parser.add_argument("--model", default=next(iter(models)), help=f"a GGUF file, or a name of one that was downloaded: {', '.join(models)}")
  parser.add_argument("--max_context", type=int, default=4096, help="most tokens of a conversation")
  parser.add_argument("--serve", nargs="?", type=int, const=11434, metavar="PORT", help="answer programs over HTTP instead (11434)")
  parser.add_argument("--benchmark", nargs="?", type=int, const=20, metavar="COUNT", help="time so many tokens instead (20)")
  args = parser.parse_args(args)
  try: model, kv = Transformer.from_gguf(fetch(models.get(args.model, args.model)), args.max_context)
  except (OSError, RuntimeError, ValueError) as e: sys.exit(f"llm: {e}")
  if args.benchmark:
    size, tokens = sum(p.nbytes() for p in nn.state.get_parameters(model)), model.generate([0])
    for _ in range(args.benchmark):
      GlobalCounters.reset()
      with Timing(on_exit=lambda ns: f", {1e9 / ns:6.2f} tok/s, {GlobalCounters.global_mem / ns:7.2f} GB/s, param {size / ns:7.2f} GB/s"): next(tokens)
    return
  chat = _chat.Chat(model, kv, os.path.basename(args.model))
  _chat.serve(chat, args.serve) if args.serve is not None else _chat.talk(chat)

if __name__ == "__main__": main()
