"""How the bundled chat-zh model is made: its sizes, its training, what its card says of it."""

from __future__ import annotations

from typing import Any

from model_core.config import ModelConfig
from model_core.tokenizers import Tokenizer
from model_core.training.loop import Recipe
from model_core.transformer import Dropout

TITLE = "Small talk in Chinese"
ABOUT = (
    "Answers Chinese small talk with one of some hundred sentences written beforehand, character "
    "by character, and reads one exchange before the question: it can give back a name, a town or "
    "a food just told, out of a short list, give a reason, go on, repeat. It knows nothing of "
    "today, the weather or the clock, cannot reckon or translate, takes a name that is not on its "
    "list for one that is, and answers whatever is unlike its written questions with a sentence "
    "that does not fit. Its attention is no alignment: chat with it, but watch heads in a "
    "translator."
)
SEED = 1
MAX_SEQ_LEN = 96

# Two exchanges: the one before, and the question.
CHAT: dict[str, Any] = {"turns": 2, "user": "用户", "assistant": "助手", "history": 10}

RECIPE = Recipe(
    steps=3000,
    learning_rate=2e-3,
    warmup_steps=200,
    batch_size=64,
    dropout=Dropout(ffn=0.1, sublayer=0.1),
    seed=SEED,
)


def config(tokenizer: Tokenizer) -> ModelConfig:
    """Two encoder layers: the second tells the question from what was said before it."""
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
