"""How the bundled dates model is made: its sizes, its training, what its card says of it."""

from __future__ import annotations

from model_core.config import ModelConfig
from model_core.tokenizers import Tokenizer
from model_core.training.loop import GuidedHead, Recipe
from model_core.transformer import Dropout

TITLE = "Dates → ISO 8601"
ABOUT = (
    "Reads a date from 1950 to 2049, written in one of 16 ways, character by character, and writes "
    "it as year-month-day. Two-digit years from 50 on are 19xx, below 50 they are 20xx; of figures "
    "alone the day comes before the month, unless the year comes first. It cannot tell a date that "
    "does not exist, pays no heed to a wrong weekday, and gets other ways of writing, other years "
    "and longer texts wrong. One head was shown where to look; the other found its own way."
)
SEED = 1
MAX_SEQ_LEN = 48

RECIPE = Recipe(
    steps=3500,
    learning_rate=2e-3,
    warmup_steps=300,
    batch_size=64,
    dropout=Dropout(ffn=0.05, sublayer=0.05),
    guided=GuidedHead(layer=0, head=0, coefficient=0.2),
    seed=SEED,
)


def config(tokenizer: Tokenizer) -> ModelConfig:
    """One layer a side: all that the decoder knows of the date passes one cross-attention."""
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
