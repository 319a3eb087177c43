"""Textures as arguments: what each thread fetches, against the formulas of the CUDA programming guide (Texture
Fetching), worked in Python's doubles; and what is no texture.

    textures.py KEET-OPT SOFTWARE-DRIVER"""

import math
import os
import pathlib
import struct
import subprocess
import sys
import tempfile

W, H = 16, 8
CODE = """
__global__ void fetch(float *out, cudaTextureObject_t smooth, cudaTextureObject_t bytes, cudaTextureObject_t line,
                      cudaTextureObject_t pages, cudaTextureObject_t sides, int w, int h)
{
    int x = threadIdx.x, y = blockIdx.x;
    float *o = out + 5 * (y * w + x);
    o[0] = tex2D<float>(smooth, (x + 0.75f) / w, (y + 0.75f) / h);
    uchar4 b = tex2D<uchar4>(bytes, x - 1, y);
    o[1] = b.x + 256.0f * b.w;
    o[2] = tex1Dfetch<float>(line, y * w + x);
    o[3] = tex2DLayered<float>(pages, x, y % 4, y / 4);
    o[4] = texCubemap<float>(sides, x < 8 ? 1.0f : -1.0f, 0.0f, 0.0f);
}
#pragma keet size   w = 16, h = 8
#pragma keet in     image : f32[h][w]
#pragma keet in     pixels : u8[h][w][4] = integers(0, 255)
#pragma keet in     faces : f32[6][4][4] = iota(0, 1)
#pragma keet out    out : f32[h][w][5]
#pragma keet launch fetch<<<h, w>>>(out, ARGUMENTS, w, h)
"""
ARGUMENTS = ("texture(image, w, h, linear, normalized, wrap), texture(pixels, w, h, border), texture(image, w*h), "
             "texture(image, w, 4, h/4, layered), texture(faces, 4, 4, 6, cube, normalized)")


def run(program, arguments, folder, *more, driver=None):
    file = folder / "k.cu"
    file.write_text(CODE.replace("ARGUMENTS", arguments))
    return subprocess.run([program, "run", str(file), "-q", "--dump", str(folder / "dump"), *more], text=True,
                          capture_output=True, env=dict(os.environ, **({"KEET_CUDA_DRIVER": driver} if driver else {})))


def numbers(folder, name, letter, nr):
    size = struct.calcsize(letter) * nr
    return struct.unpack(f"<{nr}{letter}", (folder / "dump" / f"{name}.npy").read_bytes()[-size:])


def refused(done, text):
    assert done.returncode != 0 and text in done.stdout + done.stderr, (text, done.stdout, done.stderr)


def main():
    program, driver = sys.argv[1:3]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        done = run(program, ARGUMENTS, folder, "--device", "emu")
        assert done.returncode == 0 and ": ok" in done.stdout, done.stdout + done.stderr
        image, pixels = numbers(folder, "image", "f", W * H), numbers(folder, "pixels", "B", W * H * 4)
        out = numbers(folder, "out", "f", W * H * 5)
        for y in range(H):
            for x in range(W):
                got = out[5 * (y * W + x):][:5]
                near = [[image[(y + j) % H * W + (x + i) % W] for i in (0, 1)] for j in (0, 1)]
                smooth = sum(near[j][i] * (0.25 if i else 0.75) * (0.25 if j else 0.75) for i in (0, 1) for j in (0, 1))
                assert math.isclose(got[0], smooth, abs_tol=1e-6), (x, y, got[0], smooth)
                at = 4 * (y * W + x - 1)
                assert got[1] == (pixels[at] + 256 * pixels[at + 3] if x else 0), (x, y, got[1])
                assert got[2] == image[y * W + x]
                assert got[3] == image[(y // 4 * 4 + y % 4) * W + x]
                face = 0 if x < 8 else 1  # of 4 x 4 texels: iota
                assert 16 * face <= got[4] < 16 * face + 16, (x, got[4])
        assert len({round(v, 3) for v in out[0::5]}) > 100  # not all alike
        refused(run(program, ARGUMENTS.replace("w*h)", "w*h - 1)"), folder, "--device", "emu"),
                "expected 1, 2 or 4 for each")
        refused(run(program, ARGUMENTS.replace("w*h)", "w - 16)"), folder, "--device", "emu"), "has an extent of 0")
        refused(run(program, ARGUMENTS, folder, "--device", "gpu", driver=driver), "textures run on the emulator only")
        plain = CODE.replace("cudaTextureObject_t line", "const float *line").replace("tex1Dfetch<float>(line, y * w + x)",
                                                                                     "line[y * w + x]")
        (folder / "k.cu").write_text(plain.replace("ARGUMENTS", ARGUMENTS.replace("texture(image, w*h)", "image")))
        done = subprocess.run([program, "run", str(folder / "k.cu"), "-q"], text=True, capture_output=True)
        assert ": ok" in done.stdout, done.stdout + done.stderr
    print("textures: as the guide says")


main()
