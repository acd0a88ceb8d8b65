"""How the bundled reverse model is made: its sizes, its training, what its card says of it."""

from __future__ import annotations

from model_core.config import ModelConfig
from model_core.tokenizers import Tokenizer
from model_core.training.loop import GuidedHead, Recipe

TITLE = "Letters backwards"
ABOUT = (
    "Writes 1 to 12 small letters, with no space between them, backwards, one letter after "
    "another; any other character comes out as <UNK>. It cannot read capital letters and figures, "
    "and nothing extrapolates in length: from 13 letters on, longer than any string in training, "
    "it goes wrong. One head was shown where to look; the other found its own way."
)
SEED = 1
# Longer than it was trained for, so that one can see how it goes wrong.
MAX_SEQ_LEN = 48

RECIPE = Recipe(
    steps=3500,
    learning_rate=3e-3,
    warmup_steps=200,
    batch_size=64,
    guided=GuidedHead(layer=0, head=0, coefficient=0.2),
    seed=SEED,
)


def config(tokenizer: Tokenizer) -> ModelConfig:
    """One layer a side: all that the decoder knows of the string passes one cross-attention."""
    return ModelConfig(
        src_vocab_size=len(tokenizer.source_vocabulary),
        tgt_vocab_size=len(tokenizer.target_vocabulary),
        d_model=32,
        n_heads=2,
        d_ff=64,
        n_encoder_layers=1,
        n_decoder_layers=1,
        max_seq_len=MAX_SEQ_LEN,
        activation="gelu",
    )
