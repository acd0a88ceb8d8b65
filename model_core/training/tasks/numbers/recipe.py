"""How the bundled numbers model is made: its sizes, its training, what its card says of it."""

from __future__ import annotations

from model_core.config import ModelConfig
from model_core.tokenizers import Tokenizer
from model_core.training.loop import Recipe
from model_core.transformer import Dropout

TITLE = "Figures → English words"
ABOUT = (
    "Spells whole numbers from 0 to 999999 in English, as the British do: 105 is one hundred and "
    "five, 1005 one thousand and five, 23 twenty-three. A comma before the last three figures may "
    "be there or not. It cannot read signs, points, spaces and leading noughts, and nothing "
    "extrapolates in length: seven figures or more come out wrong. No head was shown where to look."
)
SEED = 1
# Longer than it was trained for, so that one can see how it goes wrong.
MAX_SEQ_LEN = 48

RECIPE = Recipe(
    steps=2500,
    learning_rate=2e-3,
    warmup_steps=300,
    batch_size=64,
    dropout=Dropout(ffn=0.02, sublayer=0.02),
    seed=SEED,
)


def config(tokenizer: Tokenizer) -> ModelConfig:
    """One layer a side: all that the decoder knows of the number passes one cross-attention."""
    return ModelConfig(
        src_vocab_size=len(tokenizer.source_vocabulary),
        tgt_vocab_size=len(tokenizer.target_vocabulary),
        d_model=48,
        n_heads=2,
        d_ff=96,
        n_encoder_layers=1,
        n_decoder_layers=1,
        max_seq_len=MAX_SEQ_LEN,
        activation="gelu",
    )
