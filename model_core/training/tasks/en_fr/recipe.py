"""How the bundled en-fr model is made: its sizes, its training, what its card says of it."""

from __future__ import annotations

from model_core.config import ModelConfig
from model_core.tokenizers import Tokenizer
from model_core.training.loop import GuidedHead, Recipe
from model_core.transformer import Dropout

TITLE = "English → Français"
ABOUT = (
    "Translates short English sentences of a small vocabulary into French, word by word: most "
    "adjectives move behind the noun, and articles, adjectives and verbs agree. Trained on "
    "sentences from a template grammar, of 14 words at most: longer ones, and what lies outside "
    "its words and patterns, it gets wrong. It cannot know whether I, you or we are women and "
    "takes us for men; you is tu, they is ils."
)
SEED = 1
MAX_SEQ_LEN = 32

RECIPE = Recipe(
    steps=9000,
    learning_rate=2e-3,
    warmup_steps=300,
    batch_size=64,
    dropout=Dropout(ffn=0.05, sublayer=0.05),
    # One head of the only decoder layer is shown where to look; the other three are free.
    guided=GuidedHead(layer=0, head=0, coefficient=0.2),
    seed=SEED,
)


def config(tokenizer: Tokenizer) -> ModelConfig:
    """Two encoder layers and, for the file's sake, one decoder layer: its words take much room."""
    return ModelConfig(
        src_vocab_size=len(tokenizer.source_vocabulary),
        tgt_vocab_size=len(tokenizer.target_vocabulary),
        d_model=64,
        n_heads=4,
        d_ff=128,
        n_encoder_layers=2,
        n_decoder_layers=1,
        max_seq_len=MAX_SEQ_LEN,
        activation="gelu",
    )
