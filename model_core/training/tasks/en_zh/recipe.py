"""How the bundled en-zh model is made: its sizes, its training, what its card says of it."""

from __future__ import annotations

from model_core.config import ModelConfig
from model_core.tokenizers import Tokenizer
from model_core.training.loop import GuidedHead, Recipe
from model_core.transformer import Dropout

TITLE = "English → 中文"
ABOUT = (
    "Translates short English sentences of a small vocabulary into Chinese, word by word. Trained "
    "on sentences from a template grammar: what lies outside its words and patterns it gets wrong."
)
SEED = 1
MAX_SEQ_LEN = 32

RECIPE = Recipe(
    steps=8000,
    learning_rate=2e-3,
    warmup_steps=300,
    batch_size=64,
    dropout=Dropout(ffn=0.05, sublayer=0.05),
    # The first decoder layer's first head is shown where to look; the second layer's heads are
    # free and become crisp by themselves.
    guided=GuidedHead(layer=0, head=0, coefficient=0.2),
    seed=SEED,
)


def config(tokenizer: Tokenizer) -> ModelConfig:
    """Two encoder and two decoder layers, small enough to read every number of."""
    return ModelConfig(
        src_vocab_size=len(tokenizer.source_vocabulary),
        tgt_vocab_size=len(tokenizer.target_vocabulary),
        d_model=64,
        n_heads=4,
        d_ff=128,
        n_encoder_layers=2,
        n_decoder_layers=2,
        max_seq_len=MAX_SEQ_LEN,
        activation="gelu",
    )
