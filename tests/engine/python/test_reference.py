# Every operation gives the reference's result, and raises the same errors: one expression per line, values recorded from
# tinygrad 0.12.0 in tests/golden/tensor_values.json. To record anew: python3 test_reference.py --record  (with tinygrad installed).
#
# F(*shape) are floats around zero, P(*shape) positive ones, I(*shape) integers, all from a formula; a line may have several results.
import json, math, os, sys
import numpy as np
from tinygrad import Tensor, dtypes, Variable, nn

GOLDEN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "golden", "tensor_values.json")

def count(shape): return math.prod(shape)
def F(*shape, **kw): return Tensor(((np.arange(count(shape)) * 37 % 101) / 50 - 1).astype(np.float32).reshape(shape), **kw)
def P(*shape, **kw): return Tensor(((np.arange(count(shape)) * 29 % 97) / 50 + 0.1).astype(np.float32).reshape(shape), **kw)
def I(*shape, mod=11, off=5, dtype=np.int32): return Tensor((np.arange(count(shape)) * 7 % mod - off).astype(dtype).reshape(shape))
def B(*shape): return I(*shape, mod=3, off=1) > 0
def grad(f, *xs):
  for x in xs: x.requires_grad = True
  f(*xs).sum().backward()
  return [x.grad for x in xs]
def put(x, key, value):
  x = x.contiguous().realize()
  x[key] = value
  return x

LINES = r"""
F(3,4).relu()
F(3,4).sigmoid()
F(3,4).tanh()
F(3,4).gelu()
F(3,4).quick_gelu()
F(3,4).silu()
F(3,4).swish()
F(3,4).elu(0.7)
F(3,4).celu(0.7)
F(3,4).selu()
F(3,4).mish()
F(3,4).softplus()
F(3,4).softplus(2.0)
F(3,4).softsign()
F(3,4).logsigmoid()
F(3,4).hardsigmoid()
(F(3,4)*4).hardswish()
F(3,4).hardtanh(-0.5,0.5)
F(3,4).leaky_relu(0.2)
(F(3,4)*9).relu6()
F(3,4).erf()
F(3,4).asin()
F(3,4).acos()
F(3,4).atan()
F(3,4).sinh()
F(3,4).cosh()
F(3,4).asinh()
(P(3,4)+1).acosh()
(F(3,4)*0.9).atanh()
F(3,4).exp()
F(3,4).exp2()
P(3,4).log()
P(3,4).log2()
P(3,4).sqrt()
P(3,4).rsqrt()
(F(3,4)*20).sin()
(F(3,4)*20).cos()
F(3,4).tan()
(F(3,4)*5).floor(), (F(3,4)*5).ceil(), (F(3,4)*5).round(), (F(3,4)*5).trunc()
Tensor([-2.5,-1.5,-0.5,0.5,1.5,2.5]).round()
F(3,4).sign(), F(3,4).abs(), F(3,4).neg(), F(3,4).square(), P(3,4).reciprocal()
I(3,4).sign(), I(3,4).abs(), I(3,4).neg(), I(3,4).square()
F(3,4).clamp(-0.5,0.5), F(3,4).clip(min_=-0.2), F(3,4).clamp(max_=0.1)
F(3,4).clamp()
F(3,4)+F(4), F(3,4)-F(3,1), F(3,4)*2, 2-F(3,4), 1/P(3,4), F(3,4)/P(4)
I(3,4)//3, I(3,4)%3, I(3,4)//-2, I(3,4)%-3, -7//I(5,off=-1), -7%I(5,off=-1)
F(3,4)//0.3, F(3,4)%0.3
I(3,4).idiv(3), I(3,4).div(3), I(3,4).div(3, rounding_mode="trunc"), I(3,4).div(3, rounding_mode="floor")
F(3,4).div(P(3,4), rounding_mode="trunc"), F(3,4).div(P(3,4), rounding_mode="floor")
I(3,4).div(3, rounding_mode="other")
P(3,4)**2, P(3,4)**0.5, P(3,4)**-1.5, 2**F(3,4), P(3,4)**F(3,4), F(3,4)**3
I(4).abs()**2, 2**I(4).abs(), I(4)**2
Tensor([0.0, 0.0, -2.0, -2.0, 1.0]).pow(Tensor([0.0, -1.0, 2.0, 3.0, 5.0]))
I(3,4)&3, I(3,4)|3, I(3,4)^3, ~I(3,4), I(3,4)<<2, I(3,4)>>1
I(3,4).bitwise_and(I(3,4,mod=7)), I(3,4).bitwise_or(I(3,4,mod=7)), I(3,4).bitwise_xor(I(3,4,mod=7)), I(3,4).bitwise_not()
B(3,4)&B(3,4).logical_not(), B(3,4)|B(3,4), B(3,4)^True, ~B(3,4), B(3,4).logical_not()
F(3,4)&1
F(3,4)<0, F(3,4)>0, F(3,4)<=0.02, F(3,4)>=0.02, F(3,4)==F(3,4), F(3,4)!=0.5
I(3,4)<I(3,4,mod=7), I(3,4)==2, I(3,4)!=2
F(3,4).maximum(F(4)), F(3,4).minimum(0.1), I(3,4).maximum(2), I(3,4).minimum(-1)
B(3,4).where(F(3,4), 0), B(3,4).where(1, 0), B(3,4).where(1.0, I(3,4)), (F(3,4)>0).where(F(4), F(3,1))
F(3,4).where(1, 2)
F(3,4).lerp(P(3,4), 0.3), F(3,4).lerp(P(3,4), P(3,4))
F(3,4).copysign(F(3,4)*-1), P(3,4).copysign(-1.0), F(3,4).logaddexp(P(3,4))
F(3,4).isclose(F(3,4)+1e-7), F(3,4).isnan(), Tensor([1.0,math.inf,-math.inf,math.nan]).isinf(), Tensor([1.0,math.inf,math.nan]).isfinite()
Tensor([1.0,math.inf,-math.inf]).isinf(detect_negative=False), Tensor([1.0,math.nan]).isclose(Tensor([1.0,math.nan]), equal_nan=True)
F(3,4).allclose(F(3,4)), F(3,4).allclose(P(3,4))
F(2,3,4).sum(), F(2,3,4).sum(1), F(2,3,4).sum((0,2)), F(2,3,4).sum(axis=-1, keepdim=True), I(2,3).sum(0), B(2,3).sum(), F(0,3).sum(0), F(3,0).sum(1)
F(2,3,4).mean(), F(2,3,4).mean((0,1)), I(2,3).mean(0), B(2,3).mean()
F(2,3,4).max(), F(2,3,4).max(1), F(2,3,4).min((0,2)), I(2,3,4).max(-1), B(2,3).max(1), B(2,3).min(0)
P(2,3,4).prod(), P(2,3,4).prod(1), I(2,3).prod(0)
F(2,3,4).var(), F(2,3,4).var(1, correction=0), F(2,3,4).std(2), F(2,3,4).std_mean(1), F(2,3,4).var_mean((0,1))
B(3,4).any(), B(3,4).any(1), B(3,4).all(0), F(3,4).any(0), F(3,4).all()
F(3,4).softmax(), F(3,4).softmax(0), F(3,4).log_softmax(), F(3,4).logsumexp(), F(3,4).logsumexp(1), F(3,4).logcumsumexp(1), F(3,4).logcumsumexp(0)
F(3,4).softmax(dtype=dtypes.float16), F(4).softmax(), F(1).softmax()
F(3,4).argmax(), F(3,4).argmax(1), F(3,4).argmin(0), F(3,4).argmin(axis=1, keepdim=True), I(3,4).argmax(0), Tensor([1,3,3,0]).argmax(), Tensor([2,0,0]).argmin(), B(3,4).argmax(1)
F(3,4).cumsum(), F(3,4).cumsum(1), I(3,4).cumsum(-1), P(3,4).cumprod(0), F(600).cumsum(), F(2,1000).cumsum(1).sum(1)
F(3,4).cummax(0)[0], F(3,4).cummax(1)[1], I(9).cummax()[0]
F(3,4).layernorm(), F(2,3,4).layernorm((1,2), eps=1e-3)
F(2,3,4).batchnorm(P(3), F(3), F(3), P(3)), F(2,3,4).batchnorm(None, None, F(3), P(3))
F(5).sum(1)
F(5).sum(-2)
F(5,3).max((0,0))
F(3,4).softmax(2)
F(2,3,4).reshape(4,6), F(2,3,4).reshape(-1,3), F(2,3,4).reshape((2,-1)), F(2,3,4).view(24), F(2,3,4).reshape(None, 12)
F(2,3,4).reshape(5,5)
F(2,3,4).reshape(-1,-1)
F(2,3,4).reshape(-2,12)
F(2,3).expand(4,2,3), F(2,1).expand(-1,3), F(1,1).expand(2,3), F(2,1).expand(None, 5)
F(2,3).expand(2,4)
F(2,3,4).permute(2,0,1), F(2,3,4).permute((1,0,2)), F(2,3).T, F(2,3,4).transpose(), F(2,3,4).transpose(-1,-3)
F(2,3).permute(0,0)
F(2,3).permute(0)
F(2,3).flip(0), F(2,3).flip((0,1)), F(2,3).flip(-1)
F(2,3).flip(2)
F(2,3).flip(0,0)
F(4,5).shrink(((1,3),(0,4))), F(4,5).shrink((None,(2,5))), F(4,5).shrink_to(2,3), F(4,5).shrink_to(None,2), F(4,5).pad_to(6,7), F(4,5).pad_to(None,6)
F(4,5).shrink(((1,5),(0,4)))
F(2,3).pad((1,2)), F(2,3).pad((1,2,0,1)), F(2,3).pad(((1,0),(0,2)), value=5), F(2,3).pad((None,(1,1))), F(3,4).pad((-1,1,1,-1)), F(2,3).pad((1,1), value=-math.inf)
F(1,1,4,5).pad((1,2,2,1), mode="reflect"), F(1,1,4,5).pad((1,2,2,1), mode="replicate"), F(1,1,4,5).pad((1,2,2,1), mode="circular")
F(2,3).pad((1,2,3))
F(2,3).pad((1,1), mode="unknown")
F(1,1,4,5).pad((6,0,0,0), mode="reflect")
F(1,3,1).squeeze(), F(1,3,1).squeeze(0), F(1,3,1).squeeze(1), F(3).unsqueeze(0), F(3).unsqueeze(-1), F(2,3,4).flatten(), F(2,3,4).flatten(1), F(2,3,4).unflatten(1,(3,1)), F(2,12).unflatten(1,(3,-1))
F(3).squeeze(2)
F(3).unsqueeze(3)
F(2,3).repeat(2,3), F(2,3).repeat(2,1,2), F(2,3).repeat_interleave(2), F(2,3).repeat_interleave(2, dim=1)
F(2,3).cat(F(1,3)), F(2,3).cat(F(2,2), F(2,1), dim=1), Tensor.cat(F(2),F(3)), F(2,3).stack(P(2,3)), F(2,3).stack(P(2,3), dim=-1), Tensor.stack(F(2),P(2),dim=1)
F(2,3).cat(F(2,2))
F(2,3).stack(F(3,2))
F(7,2).split(3), F(7,2).split((2,5)), F(7,2).chunk(3), F(2,7).chunk(2, dim=1), F(2,7).split(4, dim=-1)
F(7).split((2,4))
F(7).chunk(0)
F(8).unfold(0,3,2), F(3,8).unfold(-1,4,1), F(3,8).unfold(0,2,1)
F(8).unfold(0,9,1)
Tensor.meshgrid(F(2),F(3)), Tensor.meshgrid(F(2),F(3),indexing="xy")
F(3).diag(), F(3,3).diagonal(), F(4,4).tril(), F(4,4).triu(1), F(3,5).tril(-1), F(2,3,3).triu()
F(6).roll(2), F(2,3).roll(1,0), F(2,3).roll((1,-1),(0,1)), F(2,3).roll(2)
Tensor.arange(5), Tensor.arange(2,9,3), Tensor.arange(5,0,-2), Tensor.arange(0.0,1.0,0.25), Tensor.arange(5.5), Tensor.arange(3,3), Tensor.arange(5, dtype=dtypes.int64)
Tensor.linspace(0,1,5), Tensor.linspace(5,-5,3), Tensor.linspace(2,3,1), Tensor.eye(3), Tensor.eye(2,4), Tensor.full((2,2),7), Tensor.full((2,),0.5), Tensor.zeros(2,3), Tensor.ones((2,)), Tensor.full_like(I(2), 3), Tensor.zeros_like(F(2)), Tensor.ones_like(B(2))
Tensor.linspace(0,1,0)
Tensor.arange(0,5,0)
F(3,4).matmul(F(4,2)), F(4).dot(F(4)), F(2,3,4)@F(4,5), F(2,3,4)@F(2,4,5), F(4)@F(4,3), F(3,4)@F(4), I(3,4)@I(4,2), F(1,2,3,4)@F(5,1,4,2)
F(3,4)@F(3,4)
F(3,4).linear(F(4,2)), F(3,4).linear(F(4,2),F(2)), F(3,4).linear(F(4))
Tensor.einsum("ij,jk->ik",F(3,4),F(4,2)), Tensor.einsum("ij->ji",F(3,4)), Tensor.einsum("ij->",F(3,3)), Tensor.einsum("bij,bjk->bik",F(2,3,4),F(2,4,5)), Tensor.einsum("i,j->ij",F(3),F(4)), Tensor.einsum("ij,ij",F(3,4),F(3,4)), Tensor.einsum("ij,jk",F(3,4),F(4,2))
Tensor.einsum("...ij,...jk->...ik",F(2,3,4),F(2,4,5)), Tensor.einsum("i...->...",F(3,4)), Tensor.einsum("ijk,lk->jil",F(2,3,4),F(5,4)), Tensor.einsum("a b, b c -> a c",F(2,3),F(3,2))
Tensor.einsum("ij,jk->ik",F(3,4),F(3,2))
Tensor.einsum("ij->ik",F(3,4))
F(1,2,5,6).conv2d(F(3,2,2,2)), F(1,2,5,6).conv2d(F(3,2,3,3),F(3),padding=1), F(1,4,5,6).conv2d(F(6,2,2,2),groups=2,stride=2), F(1,2,7,7).conv2d(F(3,2,2,2),dilation=2,padding=(1,0)), F(1,2,7,7).conv2d(F(3,2,3,3),padding=(1,2,0,1))
F(1,2,9).conv2d(F(3,2,3)), F(1,2,9).conv2d(F(4,1,3),groups=2,padding=1,stride=2), F(1,2,4,4,4).conv2d(F(3,2,2,2,2)), F(1,4,4,4,4).conv2d(F(4,1,2,2,2),groups=4,stride=(1,2,1))
F(1,2,5,6).conv2d(F(3,3,2,2))
F(1,2,4,5).conv_transpose2d(F(2,3,2,2)), F(1,2,4,5).conv_transpose2d(F(2,3,3,3),F(3),padding=1,stride=2,output_padding=1), F(1,4,4,4).conv_transpose2d(F(4,2,2,2),groups=2), F(1,2,6).conv_transpose2d(F(2,3,3),stride=2), F(1,2,3,3,3).conv_transpose2d(F(2,2,2,2,2)), F(1,2,4,4).conv_transpose2d(F(2,3,2,2),dilation=2), F(1,4,6).conv_transpose2d(F(4,1,3),groups=4,stride=2,padding=1)
F(1,2,6,6).avg_pool2d(), F(1,2,7,7).avg_pool2d(3,stride=2), F(1,2,6,6).avg_pool2d(3,padding=1), F(1,2,6,6).avg_pool2d(3,padding=1,count_include_pad=False), F(1,2,7,7).avg_pool2d(2,ceil_mode=True), F(1,2,8).avg_pool2d((2,)), F(1,1,4,4,4).avg_pool2d((2,2,2))
F(1,2,6,6).max_pool2d(), F(1,2,7,7).max_pool2d(3,stride=2), F(1,2,6,6).max_pool2d(3,padding=1), F(1,2,7,7).max_pool2d(2,ceil_mode=True), F(1,2,6,6).max_pool2d(2,dilation=2,stride=1), F(1,2,8).max_pool2d((2,))
F(1,2,6,6).max_pool2d(return_indices=True), F(1,1,7,7).max_pool2d(3,stride=2,padding=1,return_indices=True)
F(1,2,4,5).interpolate((8,10)), F(1,2,4,5).interpolate((3,3)), F(1,2,4,5).interpolate((7,9),align_corners=True), F(1,2,4,5).interpolate((8,7),mode="nearest"), F(1,2,4,5).interpolate((8,7),mode="nearest-exact"), F(1,2,6).interpolate((9,))
F(1,2,4,5).interpolate((8,10),mode="cubic")
F(1,2,4,5).interpolate((8,10),mode="nearest",align_corners=True)
F(2,5,8).scaled_dot_product_attention(F(2,7,8),F(2,7,4)), F(2,5,8).scaled_dot_product_attention(F(2,5,8),F(2,5,8),is_causal=True), F(2,5,8).scaled_dot_product_attention(F(2,7,8),F(2,7,4),attn_mask=B(5,7)), F(2,5,8).scaled_dot_product_attention(F(2,7,8),F(2,7,4),attn_mask=F(2,5,7))
F(2,4,5,8).scaled_dot_product_attention(F(2,2,5,8),F(2,2,5,8),enable_gqa=True), F(2,4,5,8).scaled_dot_product_attention(F(2,2,5,8),F(2,2,5,8),is_causal=True,enable_gqa=True)
F(2,5,8).scaled_dot_product_attention(F(2,5,8),F(2,5,8),attn_mask=B(5,5),is_causal=True)
P(3,4).sigmoid().binary_crossentropy(B(3,4).float()), F(3,4).binary_crossentropy_logits(B(3,4).float()), F(3,4).binary_crossentropy_logits(B(3,4).float(),reduction="none",pos_weight=P(4)), P(3,4).sigmoid().binary_crossentropy(B(3,4).float(),reduction="sum")
F(3,4).sparse_categorical_crossentropy(Tensor([0,3,1])), F(3,4).sparse_categorical_crossentropy(Tensor([0,3,1]),label_smoothing=0.1), F(3,4).sparse_categorical_crossentropy(Tensor([0,3,1]),ignore_index=3), F(3,4).sparse_categorical_crossentropy(Tensor([0,3,1]),reduction="none"), F(3,4).sparse_categorical_crossentropy(Tensor([1,1,1]),reduction="sum")
F(3,4).cross_entropy(Tensor([0,3,1])), F(3,4).cross_entropy(F(3,4).softmax()), F(3,4).cross_entropy(Tensor([0,3,1]),label_smoothing=0.2,reduction="sum"), F(3,4).cross_entropy(Tensor([0,3,1]),reduction="none")
F(3,4).log_softmax().nll_loss(Tensor([0,3,1])), F(3,4).log_softmax().nll_loss(Tensor([0,3,1]),weight=P(4)), F(3,4).log_softmax().nll_loss(Tensor([0,3,1]),ignore_index=0,reduction="sum"), F(3,4).nll_loss(Tensor([0,3,1]),reduction="none")
F(3,4).cross_entropy(Tensor([0,3,1]),reduction="other")
F(4,5)[1], F(4,5)[-1], F(4,5)[1,2], F(4,5)[:,1], F(4,5)[1:3], F(4,5)[::2], F(4,5)[::-1], F(4,5)[1:4:2,::-2], F(4,5)[...,0], F(4,5)[None], F(4,5)[:,None,1], F(4,5)[-3:-1], F(4,5)[3:1], F(4,5)[2:9], F(4,5)[9:], F(4,5)[()], F(4,5)[4:0:-1]
F(4,5)[[0,2]], F(4,5)[[0,2],[1,3]], F(4,5)[:,[0,2,4]], F(4,5)[Tensor([0,-1])], F(4,5)[Tensor([[0,1],[2,3]])], F(4,5)[Tensor([0,1]),Tensor([2,3])], F(2,3,4)[:,Tensor([0,2])], F(2,3,4)[Tensor([0,1]),:,Tensor([1,2])], F(2,3,4)[...,Tensor([0,3])], F(2,3,4)[1,Tensor([0,2])], F(2,3,4)[None,Tensor([1]),1:], F(3,4)[(0,1)], F(4,5)[Tensor(1)], F(4,5)[[[0,1],[1,2]]]
F(4,5)[4]
F(4,5)[-5]
F(4,5)[1,2,3]
F(4,5)[...,...]
F(4,5)[1.5]
F(4,5)["a"]
F(4,5)[::0]
F(4,5)[Tensor([0.5])]
F(4,5)[B(4,5)]
F(4,5)[Tensor([0,1]),Tensor([0,1,2])]
put(F(4,5),0,1.0), put(F(4,5),(slice(None),1),F(4)), put(F(4,5),slice(1,3),P(2,5)), put(F(4,5),(1,2),9), put(F(4,5),slice(None,None,2),0), put(F(4,5),Ellipsis,2)
put(F(4,5),[0,2],0.0), put(F(4,5),Tensor([1,3]),P(2,5)), put(F(4,5),(Tensor([0,1]),Tensor([2,3])),P(2)), put(F(4,5),(slice(None),Tensor([0,4])),1), put(F(6),Tensor([1,1,2]),Tensor([7.0,8.0,9.0])), put(I(4,5),(1,slice(0,2)),7)
put(F(4,5),0,F(3))
put(F(4,5),7,1)
F(3,4).gather(1,Tensor([[0,1],[3,2],[1,1]])), F(3,4).gather(0,Tensor([[0,1,2,0]])), F(3,4).gather(-1,Tensor([[0],[1],[2]]))
F(3,4).gather(1,Tensor([0,1]))
F(3,5).scatter(0,Tensor([[0,1,2,0,0]]),P(1,5)), F(3,5).scatter(1,Tensor([[0,1],[2,3],[4,0]]),P(3,2)), F(3,5).scatter(1,Tensor([[0,1],[2,3],[4,4]]),2.0), F(3,5).scatter(0,Tensor([[0,1,2,0,0]]),3.0,reduce="add"), F(3,5).scatter(0,Tensor([[0,1,2,0,0]]),3.0,reduce="multiply")
F(3,5).scatter(0,Tensor([[0,1,2,0,0]]),P(1,5),reduce="add")
F(3,5).scatter(0,Tensor([[0,1,2,0,0]]),P(1,5).half())
F(3,5).scatter_reduce(0,Tensor([[0,1,2,0,0],[1,1,1,1,1]]),P(2,5),"sum"), F(3,5).scatter_reduce(0,Tensor([[0,1,2,0,0],[1,1,1,1,1]]),P(2,5),"prod"), F(3,5).scatter_reduce(0,Tensor([[0,1,2,0,0],[1,1,1,1,1]]),P(2,5),"mean"), F(3,5).scatter_reduce(0,Tensor([[0,1,2,0,0],[1,1,1,1,1]]),P(2,5),"amax"), F(3,5).scatter_reduce(0,Tensor([[0,1,2,0,0],[1,1,1,1,1]]),P(2,5),"amin"), F(3,5).scatter_reduce(0,Tensor([[0,1,2,0,0],[1,1,1,1,1]]),P(2,5),"sum",include_self=False), F(3,5).scatter_reduce(0,Tensor([[0,1,2,0,0],[1,1,1,1,1]]),P(2,5),"mean",include_self=False), F(3,5).scatter_reduce(0,Tensor([[0,1,2,0,0],[1,1,1,1,1]]),P(2,5),"amin",include_self=False)
F(3,5).scatter_reduce(0,Tensor([[0,1,2,0,0]]),P(1,5),"median")
Tensor([0,2,1]).one_hot(4), Tensor([[0,1],[2,0]]).one_hot(3), Tensor([0,2,1]).one_hot()
F(3,4).masked_fill(B(3,4),-1.0), F(3,4).masked_fill(F(3,4)>0,P(3,4)), F(3,4).masked_select(F(3,4)>0)
F(3,4).masked_select(I(3,4))
F(3,4).sort(), F(3,4).sort(0), F(3,4).sort(descending=True), I(2,9).sort(-1), I(9).sort(descending=True), F(5).argsort(), I(3,4).argsort(0), Tensor([1,1,0,1]).sort(), F(1).sort(), Tensor([3,1,2],dtype=dtypes.uint8).sort()
F(3,7).topk(3), F(3,7).topk(2,dim=0), F(3,7).topk(3,largest=False), I(9).topk(4)
F(3,7).topk(9)
F(3,4).topk(2,sorted_=False)
grad(lambda x: x.relu()*x, F(3,4))
grad(lambda x: (x.exp()*x.sin()).sum(), F(3,4))
grad(lambda x: x.softmax()*F(3,4), F(3,4))
grad(lambda x, w: x@w, F(3,4), F(4,2))
grad(lambda x, w: x.conv2d(w, padding=1).relu(), F(1,2,5,5), F(3,2,3,3))
grad(lambda x, w: x.conv_transpose2d(w, stride=2), F(1,2,4,4), F(2,3,3,3))
grad(lambda x: x.max_pool2d()*2, F(1,1,6,6))
grad(lambda x: x.avg_pool2d(3, stride=2, padding=1), F(1,1,7,7))
grad(lambda x: x.max(1), Tensor([[1.0,3.0,3.0],[2.0,0.0,1.0]]))
grad(lambda x: x.prod(0), P(3,4))
grad(lambda x: x.cumsum(1)*F(3,4), F(3,4))
grad(lambda x: x[1:,::2]*3, F(3,4))
grad(lambda x: x[Tensor([0,2,0])], F(3,4))
grad(lambda x: x.gather(1,Tensor([[0,1],[3,2],[1,1]]))*F(3,2), F(3,4))
grad(lambda x: x.pad((1,1)).roll(1,0).flip(0)*F(3,6), F(3,4))
grad(lambda x: x.pow(3)+2**x, P(3,4))
grad(lambda x, y: x.pow(y), P(3,4), F(3,4))
grad(lambda x: x.var(1)+x.std(1), F(3,4))
grad(lambda x: x.layernorm()*F(3,4), F(3,4))
grad(lambda x: x.logsumexp(1), F(3,4))
grad(lambda x: x.sigmoid().log().tanh(), F(3,4))
grad(lambda x: x.abs()+x.maximum(0.1)+x.minimum(-0.1), F(3,4))
grad(lambda x: x.clamp(-0.5,0.5), F(3,4))
grad(lambda q,k,v: q.scaled_dot_product_attention(k,v,is_causal=True)*F(2,4,3), F(2,4,3), F(2,4,3), F(2,4,3))
grad(lambda x: x.sparse_categorical_crossentropy(Tensor([0,3,1]),label_smoothing=0.1), F(3,4))
grad(lambda x: x.interpolate((5,7)), F(1,1,3,4))
grad(lambda x: x.sort()[0]*F(3,4), F(3,4))
grad(lambda x: x.detach()*x, F(3,4))
grad(lambda x: x.cast(dtypes.float16).cast(dtypes.float32)*2, F(3,4))
grad(lambda x: x.gelu()+x.mish()+x.selu()+x.softplus()+x.erf(), F(3,4))
F(3,4).gradient(F(3,4))
F(3,4).backward()
I(3).sum().backward()
F(3,4).assign(F(4,3))
F(3,4).assign(I(3,4))
Tensor([[1,2],[3]])
Tensor([1,2]).item()
Tensor([])
Tensor([], dtype=dtypes.int32), Tensor([[]]), Tensor(3), Tensor(2.5), Tensor(True), Tensor([True,False]), Tensor([1,2.5]), Tensor([[1],[2]]), Tensor(None)
Tensor("abc")
Tensor([1.0]).sequential([Tensor.exp, lambda x: x*2])
F(3).cast("float16"), F(3).half(), F(3).double(), F(3).int(), F(3).long(), F(3).short(), F(3).bool(), F(3).float(), I(3).cast(dtypes.uint8)
F(3).cast("nope")
F(2,3).size(), F(2,3).size(1), F(2,3).numel(), F(2,3).nbytes(), F(2,3).element_size(), F(2,3).ndim, F(2,3).is_floating_point(), F(2,3).shape, len(F(2,3))
len(F(1).reshape(()))
bool(F(1))
Tensor.randint(3, low=0.5)
Tensor.rand(2,-1)
Tensor.rand(2, dtype=dtypes.int32)
Tensor.full((2,), 1).to("NOSUCHDEVICE").realize()
F(2,3).dropout(1.5)
F(3,4).unflatten(1,(3,2))
nn.Linear(3,2)(F(2,4))
F(2,3) + F(4,3)
F(2,3) + "a"
"""

def lines(): return [l for l in LINES.strip().split("\n") if l]

def plain(x):
  if isinstance(x, Tensor):
    a = x.float().numpy() if x.dtype in (dtypes.bfloat16,) else x.numpy()
    return {"dtype": str(x.dtype)[7:], "shape": list(a.shape), "values": [repr(float(v)) if a.dtype.kind == "f" else int(v) for v in a.reshape(-1)]}
  if isinstance(x, (tuple, list)): return [plain(i) for i in x]
  return x
def evaluate(line):
  try: return plain(eval(line))
  except Exception as e: return {"raises": type(e).__name__}

def compare(got, want, where):
  if isinstance(want, dict) and "values" in want:
    assert isinstance(got, dict) and "values" in got, f"{where}: got {str(got)[:200]}"
    assert got["dtype"] == want["dtype"] and got["shape"] == want["shape"], f"{where}: {got['dtype']} {got['shape']}, the reference has {want['dtype']} {want['shape']}"
    loose = 2e-2 if want["dtype"] in ("half", "float16") else 2e-4
    np.testing.assert_allclose(np.array(got["values"], dtype=np.float64), np.array(want["values"], dtype=np.float64), rtol=loose, atol=loose * 0.1, err_msg=where)
  elif isinstance(want, list):
    assert isinstance(got, list) and len(got) == len(want), f"{where}: {str(got)[:200]}"
    for i, (g, w) in enumerate(zip(got, want)): compare(g, w, f"{where} [{i}]")
  else: assert got == want, f"{where}: {got}, the reference has {want}"

# Intended differences, with their reasons.
DIFFERS = {
  "I(4).abs()**2, 2**I(4).abs(), I(4)**2": "a number to an integer tensor's power is computed; the reference fails to compile it",
  'F(2,3) + "a"': "TypeError, as Python has it for operands that do not fit; the reference asserts",
  'Tensor.full((2,), 1).to("NOSUCHDEVICE").realize()': "an unknown device is an error at once; the reference gives the constant",
}

def raised(line, want):
  """Where the reference raises, we raise an exception with a message, of a type that its handlers catch."""
  try: got = eval(line)
  except Exception as e:
    kinds = [c.__name__ for c in type(e).__mro__]
    assert want in kinds, f"{line}: raises {type(e).__name__} ({e}), the reference {want}"
    assert str(e), f"{line}: an error without a message"
    return
  raise AssertionError(f"{line}: gives {str(plain(got))[:200]}, the reference raises {want}")

def main():
  with open(GOLDEN) as f: golden = json.load(f)
  failed = 0
  for line in lines():
    if line in DIFFERS: continue
    try:
      want = golden[line]
      if isinstance(want, dict) and "raises" in want: raised(line, want["raises"])
      else:
        got = plain(eval(line))
        compare(got, json.loads(json.dumps(want)), line)
    except Exception as e:
      failed += 1
      print(f"FAILED {line}\n   {type(e).__name__}: {str(e).strip()[:400]}", flush=True)
  print(f"{len(lines()) - failed} passed, {failed} failed")
  return 1 if failed else 0

if __name__ == "__main__":
  if "--record" in sys.argv:
    with open(GOLDEN, "w") as f: json.dump({line: evaluate(line) for line in lines()}, f, separators=(",", ":"))
  else: sys.exit(main())
