#!/usr/bin/env python3
"""tiny_gguf.py FILE: a language model of random weights for llama.cpp, made on the spot: one layer, a
vocabulary of bytes. What it says is nonsense; how it is served is not. The format is GGUF 3: a head,
properties, where each tensor lies, and the tensors, all little-endian. Python's standard library only."""
import array
import random
import struct
import sys

EMBEDDING, FEED_FORWARD, HEADS, CONTEXT, ALIGN = 64, 128, 4, 16384, 32
U32, I32, F32, STRING, ARRAY = 4, 5, 6, 8, 9  # types of properties
TEMPLATE = ("{% for m in messages %}<{{ m['role'] }}>{{ m['content'] }}\n{% endfor %}"
            "{% if add_generation_prompt %}<assistant>{% endif %}")


def text(value):
    data = value.encode() if isinstance(value, str) else value
    return struct.pack("<Q", len(data)) + data


def scalar(kind, value):
    return text(value) if kind == STRING else struct.pack({U32: "<I", I32: "<i", F32: "<f"}[kind], value)


def entry(name, kind, value):
    return text(name) + struct.pack("<I", kind) + scalar(kind, value)


def entries(name, kind, values):
    return (text(name) + struct.pack("<IIQ", ARRAY, kind, len(values))
            + b"".join(scalar(kind, value) for value in values))


def vocabulary():
    """Tokens and their types: unknown 2, control 3, byte 6, normal 1."""
    letters = [bytes([byte]) for byte in range(32, 127)] + ["\u2581".encode()]
    tokens = [b"<unk>", b"<s>", b"</s>"] + [b"<0x%02X>" % byte for byte in range(256)] + letters
    return tokens, [2, 3, 3] + [6] * 256 + [1] * len(letters)


def properties(tokens, types):
    return [
        entry("general.architecture", STRING, "llama"),
        entry("general.name", STRING, "tiny"),
        entry("llama.context_length", U32, CONTEXT),
        entry("llama.embedding_length", U32, EMBEDDING),
        entry("llama.block_count", U32, 1),
        entry("llama.feed_forward_length", U32, FEED_FORWARD),
        entry("llama.attention.head_count", U32, HEADS),
        entry("llama.attention.head_count_kv", U32, HEADS),
        entry("llama.attention.layer_norm_rms_epsilon", F32, 1e-5),
        entry("llama.rope.dimension_count", U32, EMBEDDING // HEADS),
        entry("llama.vocab_size", U32, len(tokens)),
        entry("tokenizer.ggml.model", STRING, "llama"),
        entries("tokenizer.ggml.tokens", STRING, tokens),
        entries("tokenizer.ggml.scores", F32, [0.0] * len(tokens)),
        entries("tokenizer.ggml.token_type", I32, types),
        entry("tokenizer.ggml.bos_token_id", U32, 1),
        entry("tokenizer.ggml.eos_token_id", U32, 2),
        entry("tokenizer.ggml.unknown_token_id", U32, 0),
        entry("tokenizer.chat_template", STRING, TEMPLATE),
    ]


def tensors(nr_tokens):
    """Names and extents, the fastest first."""
    layer = [("attn_q", EMBEDDING, EMBEDDING), ("attn_k", EMBEDDING, EMBEDDING),
             ("attn_v", EMBEDDING, EMBEDDING), ("attn_output", EMBEDDING, EMBEDDING),
             ("attn_norm", EMBEDDING), ("ffn_norm", EMBEDDING), ("ffn_gate", EMBEDDING, FEED_FORWARD),
             ("ffn_up", EMBEDDING, FEED_FORWARD), ("ffn_down", FEED_FORWARD, EMBEDDING)]
    return ([("token_embd", EMBEDDING, nr_tokens)] + [("blk.0." + name, *e) for name, *e in layer]
            + [("output_norm", EMBEDDING), ("output", EMBEDDING, nr_tokens)])


def main():
    rng = random.Random(1)
    tokens, types = vocabulary()
    about, data = [], b""
    for name, *extents in tensors(len(tokens)):
        nr = extents[0] * (extents[1] if len(extents) > 1 else 1)
        values = [rng.gauss(0, 0.5) if len(extents) > 1 else 1.0 for _ in range(nr)]
        about.append(text(name + ".weight") + struct.pack("<I", len(extents))
                     + struct.pack(f"<{len(extents)}Q", *extents) + struct.pack("<IQ", 0, len(data)))
        data += array.array("f", values).tobytes()
        data += bytes(-len(data) % ALIGN)
    pairs = properties(tokens, types)
    head = b"GGUF" + struct.pack("<IQQ", 3, len(about), len(pairs)) + b"".join(pairs + about)
    with open(sys.argv[1], "wb") as file:
        file.write(head + bytes(-len(head) % ALIGN) + data)


if __name__ == "__main__":
    main()
