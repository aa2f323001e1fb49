"""A small network's inference on ncnn's Vulkan path: convolutions of several shapes, pooling, a residual, softmax."""
import struct, random, sys
import numpy as np, ncnn
rng = np.random.default_rng(7)
layers, blob, weights = [], 0, []
def add(line): layers.append(line)
def conv(name, src, dst, inc, outc, k, s=1, p=None, group=1):
    p = k // 2 if p is None else p
    n = outc * (inc // group) * k * k
    kind = "Convolution" if group == 1 else "ConvolutionDepthWise"
    extra = f" 7={group}" if group != 1 else ""
    add(f"{kind} {name} 1 1 {src} {dst} 0={outc} 1={k} 3={s} 4={p} 5=1 6={n}{extra} 9=1")
    w = (rng.standard_normal(n) / np.sqrt(n / outc)).astype(np.float32)
    weights.append(struct.pack("<I", 0) + w.tobytes() + (rng.standard_normal(outc) * 0.1).astype(np.float32).tobytes())
add("Input data 0 1 data")
conv("c1", "data", "b1", 3, 16, 3, 2)
add("Split s1 1 2 b1 b1a b1b")
conv("d1", "b1a", "b2", 16, 16, 3, 1, group=16)
conv("c2", "b2", "b3", 16, 16, 1)
add("BinaryOp add1 2 1 b3 b1b b4 0=0")
conv("c3", "b4", "b5", 16, 32, 3, 2)
add("Pooling p1 1 1 b5 b6 0=0 1=2 2=2")
conv("c4", "b6", "b7", 32, 64, 3)
add("Interp i1 1 1 b7 b8 0=2 1=2.0 2=2.0")
conv("c5", "b8", "b9", 64, 12, 1)
add("Pooling p2 1 1 b9 b10 0=1 4=1")
add("Softmax sm 1 1 b10 out 0=0")
blobs = len(set(t for l in layers for t in l.split()[4:] if not "=" in t))
open("small.param", "w").write(f"7767517\n{len(layers)} {blobs}\n" + "\n".join(layers) + "\n")
open("small.bin", "wb").write(b"".join(weights))
net = ncnn.Net()
net.opt.use_vulkan_compute = True
net.opt.use_fp16_packed = net.opt.use_fp16_storage = net.opt.use_fp16_arithmetic = False
net.load_param("small.param"); net.load_model("small.bin")
img = ncnn.Mat(rng.standard_normal((3, 64, 64)).astype(np.float32))
for _ in range(2):
    ex = net.create_extractor()
    ex.input("data", img)
    r, out = ex.extract("out")
print(r, np.array(out).ravel()[:12])
del ex, out, img
net.clear()
del net
ncnn.destroy_gpu_instance()
