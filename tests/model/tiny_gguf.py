#!/usr/bin/env python3
"""tiny_gguf.py FILE: a language model of random weights for llama.cpp, made on the spot: one layer, a
vocabulary of bytes. What it says is nonsense; how it is served is not."""
import sys

import gguf
import numpy as np

EMBEDDING, FEED_FORWARD, HEADS, CONTEXT = 64, 128, 4, 16384

TEMPLATE = ("{% for m in messages %}<{{ m['role'] }}>{{ m['content'] }}\n{% endfor %}"
            "{% if add_generation_prompt %}<assistant>{% endif %}")


def add_vocabulary(writer):
    tokens = [b"<unk>", b"<s>", b"</s>"] + [b"<0x%02X>" % byte for byte in range(256)]
    letters = [bytes([byte]) for byte in range(32, 127)] + ["\u2581".encode()]
    types = [2, 3, 3] + [6] * 256 + [1] * len(letters)
    tokens += letters
    writer.add_tokenizer_model("llama")
    writer.add_token_list(tokens)
    writer.add_token_scores([0.0] * len(tokens))
    writer.add_token_types(types)
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_unk_token_id(0)
    writer.add_chat_template(TEMPLATE)
    return len(tokens)


def main():
    rng = np.random.default_rng(1)
    writer = gguf.GGUFWriter(sys.argv[1], "llama")
    writer.add_name("tiny")
    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(EMBEDDING)
    writer.add_block_count(1)
    writer.add_feed_forward_length(FEED_FORWARD)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_dimension_count(EMBEDDING // HEADS)
    nr_tokens = add_vocabulary(writer)
    writer.add_vocab_size(nr_tokens)

    def add(name, *shape):
        values = rng.normal(0, 0.5, shape) if len(shape) > 1 else np.ones(shape)
        writer.add_tensor(name + ".weight", values.astype(np.float32))

    add("token_embd", nr_tokens, EMBEDDING)
    for part in ("attn_q", "attn_k", "attn_v", "attn_output"):
        add("blk.0." + part, EMBEDDING, EMBEDDING)
    add("blk.0.attn_norm", EMBEDDING)
    add("blk.0.ffn_norm", EMBEDDING)
    add("blk.0.ffn_gate", FEED_FORWARD, EMBEDDING)
    add("blk.0.ffn_up", FEED_FORWARD, EMBEDDING)
    add("blk.0.ffn_down", EMBEDDING, FEED_FORWARD)
    add("output_norm", EMBEDDING)
    add("output", nr_tokens, EMBEDDING)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


if __name__ == "__main__":
    main()
