"""The key stream of AES-256 inside compiled loops: words are made where they are used, without the interpreter's lock.

The processor's own instructions do it, as they do inside the library that makes the stream elsewhere
(`core.rows.WordStream`): the same words. Processors without them, or with others, go on with the library.
"""

from __future__ import annotations

import platform
from typing import Any

import numpy as np
from llvmlite import ir
from llvmlite.binding import get_host_cpu_features
from numba.core import config, types
from numba.extending import intrinsic

from sfumato.core.fast.compile import compiled

_ROUNDS = 14
_AT_ONCE = 8  # vectors under way: an instruction takes a few steps, and another may begin at each


def _width() -> int:
    """Return how many blocks an instruction of this processor takes, 0 where it has none of the kind."""
    told: Any = config
    if platform.machine() not in {"x86_64", "AMD64"} or told.CPU_NAME or told.CPU_FEATURES:
        return 0
    has = get_host_cpu_features()
    if has.get("vaes") and has.get("avx512f"):
        return 4
    return 1 if has.get("aes") and has.get("sse2") else 0


WIDTH = _width()
WORDS = 2 * WIDTH * _AT_ONCE  # that one call makes


def _instruction(builder: Any, vector: Any, last: bool, width: int) -> Any:
    name = "llvm.x86.aesni.aesenc" + ("last" if last else "") + ("" if width == 1 else f".{128 * width}")
    module = builder.module
    return module.globals.get(name) or ir.Function(module, ir.FunctionType(vector, [vector, vector]), name)


def _encrypt_blocks(typing: Any, keys: Any, block: Any, out: Any, place: Any) -> Any:  # noqa: ARG001
    """Write the cipher of the block numbers block, block + 1, ... as words from out[place] on."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        word = ir.IntType(64)
        single, vector = ir.VectorType(word, 2), ir.VectorType(word, 2 * WIDTH)
        key_data, out_data = (
            context.make_array(signature.args[at])(context, builder, arguments[at]).data for at in (0, 2)
        )
        swap = builder.module.declare_intrinsic("llvm.bswap", [word])
        spread = ir.Constant(ir.VectorType(ir.IntType(32), 2 * WIDTH), [0, 1] * WIDTH)

        def at_place(pointer: Any, at: Any, kind: Any) -> Any:
            return builder.bitcast(builder.gep(pointer, [at]), kind.as_pointer())

        def round_key(number: int) -> Any:
            key = builder.load(at_place(key_data, ir.Constant(word, 2 * number), single), align=8)
            return builder.shuffle_vector(key, key, spread)

        key = round_key(0)
        under_way = []
        for at in range(_AT_ONCE):
            state = ir.Constant(vector, [0] * (2 * WIDTH))
            for lane in range(WIDTH):  # the number is big-endian, in the second half of a block
                number = builder.add(arguments[1], ir.Constant(word, at * WIDTH + lane))
                state = builder.insert_element(
                    state, builder.call(swap, [number]), ir.Constant(ir.IntType(32), 2 * lane + 1)
                )
            under_way.append(builder.xor(state, key))
        for number in range(1, _ROUNDS + 1):
            key = round_key(number)
            do = _instruction(builder, vector, number == _ROUNDS, WIDTH)
            under_way = [builder.call(do, [state, key]) for state in under_way]
        for at, state in enumerate(under_way):
            first = builder.add(arguments[3], ir.Constant(word, 2 * at * WIDTH))
            builder.store(state, at_place(out_data, first, vector), align=8)
        return context.get_dummy_value()

    return types.void(keys, types.uint64, out, types.int64), generate


_encrypt: Any = intrinsic(_encrypt_blocks)


def _substitute(typing: Any, number: Any) -> Any:  # noqa: ARG001
    """Return a word of four bytes through the cipher's table: the last round does that, where its key is zero."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:  # noqa: ARG001
        small, vector = ir.IntType(32), ir.VectorType(ir.IntType(64), 2)
        four = ir.Constant(ir.VectorType(small, 4), ir.Undefined)
        for lane in range(4):  # in four equal columns nothing is out of its row
            four = builder.insert_element(four, arguments[0], ir.Constant(small, lane))
        zero = ir.Constant(vector, [0, 0])
        out = builder.call(_instruction(builder, vector, True, 1), [builder.bitcast(four, vector), zero])
        return builder.extract_element(builder.bitcast(out, ir.VectorType(small, 4)), ir.Constant(small, 0))

    return types.uint32(types.uint32), generate


_substituted: Any = intrinsic(_substitute)


@compiled
def expand_key(words: Any, out: Any) -> None:
    """Write the 60 words of all rounds' keys; the first eight are those of the key."""
    out[:8] = words
    constant = np.uint32(1)
    for i in range(8, 60):
        before = np.uint32(out[i - 1])
        if i % 8 == 0:
            turned = np.uint32((before >> np.uint32(8)) | (before << np.uint32(24)))
            before = np.uint32(_substituted(turned) ^ constant)
            constant = np.uint32(constant << np.uint32(1))
        elif i % 8 == 4:
            before = _substituted(before)
        out[i] = out[i - 8] ^ before


@compiled
def key_stream(keys: Any, start: int, count: int, out: Any) -> int:
    """Write words of a stream, and return at which of them the one with the number `start` stands.

    `out` has room for `WORDS` words more than `count`, for whole blocks are written.
    """
    skip = start % 2
    for place in range(0, count + skip, WORDS):
        _encrypt(keys, np.uint64((start + place) // 2), out, place)
    return skip
