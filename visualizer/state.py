"""ViewState: the one place where the state of the view lives. Frozen; actions give new ones."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Literal, cast

from model_core.gradients import GradientTape, Target
from model_core.tape import Tape
from model_core.tokenizers import SPECIAL_TOKENS
from visualizer.bench import Bench as Bench
from visualizer.conversation import Conversation
from visualizer.inputs import Inputs as Inputs
from visualizer.inputs import Strategy as Strategy
from visualizer.lab import Lab
from visualizer.runs import FreeRun as FreeRun
from visualizer.runs import Outcome as Outcome
from visualizer.runs import Run as Run
from visualizer.runs import UnknownWord as UnknownWord
from visualizer.step_view import StepView as StepView
from visualizer.targets import fitted
from visualizer.tree_view import TreeView as TreeView

Cell = tuple[int, int]
# What can take the stage: the record at the cursor, all layers, the attentions linked, all heads,
# the logit lens, a parameter.
PageName = Literal[
    "record",
    "layers",
    "attention",
    "heads",
    "lens",
    "parameter",
    "step",
    "decoding",
    "chat",
    "train",
]
Showing = Literal["values", "gradients"]
# What the panel at the right shows where there is no room for both.
Beside = Literal["next_token", "logit_lens", "attribution"]

# What a play button may be set to, in steps per second.
SPEEDS = (0.5, 1.0, 2.0, 4.0, 8.0)
# Where a fresh view starts when the card names no guided head.
FIRST_SITE = "decoder.layers.0.cross_attn.weights"
# The input matrix of a worked example: its own site, and where a view of one starts.
MATRIX_SITE = "encoder.embed.out"
# Sizes of type that can be chosen.
SCALES = (0.8, 0.9, 1.0, 1.1, 1.25, 1.5, 1.75, 2.0)
# How many words are named where there is no example; they come after the special tokens.
SOME, N_SPECIAL = 6, len(SPECIAL_TOKENS)
# Decimals of float32 and of float64, where nobody has chosen.
DECIMALS, FINE_DECIMALS = 2, 4


@dataclass(frozen=True)
class Choices:
    """What was chosen where a file leaves it open; None: as it says, or as it is taken to mean."""

    variant: str | None = None
    activation: str | None = None
    norm_eps: float | None = None


AS_IT_IS = Choices()


@dataclass(frozen=True, eq=False)
class ModelEntry:
    """An opened model and where it came from: a file, or a bundled model's name."""

    model: Any
    name: str
    path: Path | None = None
    bundled: str = ""
    choices: Choices = AS_IT_IS

    @property
    def source(self) -> str | Path:
        """What it is opened by."""
        return self.bundled if self.path is None else self.path


@dataclass(frozen=True)
class Cursor:
    """A place, not a step number, so that it survives a new sentence.

    `token` is the decoder row that is wished for: a shorter run shows its last row and the wish
    stays. None follows the last content token. Encoder sites ignore it and keep it.
    """

    site: str = FIRST_SITE
    token: int | None = None


@dataclass(frozen=True)
class Notice:
    """One sentence for the user: a key of the catalogue and its values; `details` on demand."""

    key: str
    values: tuple[tuple[str, str], ...] = ()
    level: Literal["info", "warning", "error"] = "info"
    details: str = ""


@dataclass(frozen=True)
class Spot:
    """A cell of a parameter, by its full index."""

    name: str
    index: tuple[int, ...]


@dataclass(frozen=True)
class Linked:
    """What the linked attentions show. Layers count from 0, None follows the cursor.

    threshold: the least weight drawn   pinned: whose paths stay lit   fact: what stands below heads
    """

    encoder_layer: int | None = None
    decoder_layer: int | None = None
    heads: Literal["mean", "max"] | int = "mean"
    threshold: float = 0.1
    pinned: tuple[Literal["encoder", "decoder"], int] | None = None
    fact: str = "entropy"


@dataclass(frozen=True)
class Station:
    """A place that one can come back to."""

    page: PageName
    showing: Showing
    cursor: Cursor
    head: int
    selected: Cell | None
    parameter: Spot | None


@dataclass(frozen=True, eq=False)
class Found:
    """What an inquiry has brought, and what it had been asked for."""

    key: Any
    result: Any


@dataclass(frozen=True)
class ViewState:
    """What the window shows. Cells count rows and columns of the picture on the stage.

    `hovered_site` is the record that the hovered cell belongs to, None for the cursor's own.
    `editing` is the cell of an input matrix that is being typed over.
    `page` is what has the stage; `parameter` the cell that its page is about.
    `showing` says which numbers of the records are on show; `target` is what gradients are of,
    None follows the cursor's token. `share` is which part of a gradient is spelled out, None all.
    `trail` leads back along the links that were followed.
    `gradients`, `audit`, `readings` and `difference` are what inquiries have found; what they
    were asked for says whether that still holds. `check` is the cell whose gradient is checked.
    `tree` is how the tree of a beam search is looked at, `growing` a search that is not done yet;
    `paths` and `hypothesis` are found for it: other ways of choosing, and what one looks at.
    `training_step` is how one training step is looked at; `glass`, `step_check` and `mistake_run`
    are found for it: the step, the check of its gradients, the loss with mistakes and without.
    `target_line` says that there is a line to type a target in.
    `roomy` says that the window has room for the next token and the logit lens at the right;
    where it has not, `beside` is what it shows; `beside_gradients` while gradients are on show.
    `sentence_number` is how many sentences the user has asked the task's generator for.
    `decimals_chosen` is None where the model decides. `follow_system` says that `theme` is the
    system's. `scale` is the size of type, 1 as designed, None where the window's size decides.
    `file` is where Save writes, None where one has to be chosen first.
    """

    model: ModelEntry | None = None
    inputs: Inputs = field(default_factory=Inputs)
    run: Run | None = None
    cursor: Cursor = field(default_factory=Cursor)
    head: int = 0
    selected: Cell | None = None
    editing: Cell | None = None
    hovered: Cell | None = None
    hovered_site: str | None = None
    page: PageName = "record"
    showing: Showing = "values"
    target: Target | None = None
    share: int | None = None
    parameter: Spot | None = None
    linked: Linked = field(default_factory=Linked)
    bench: Bench = field(default_factory=Bench)
    conversation: Conversation = field(default_factory=Conversation)
    lab: Lab = field(default_factory=Lab)
    trail: tuple[Station, ...] = ()
    gradients: Found | None = None
    audit: Found | None = None
    readings: Found | None = None
    difference: Found | None = None
    tree: TreeView = field(default_factory=TreeView)
    growing: Any = None
    paths: Found | None = None
    hypothesis: Found | None = None
    training_step: StepView = field(default_factory=StepView)
    glass: Found | None = None
    step_check: Found | None = None
    mistake_run: Found | None = None
    check: Any = None
    beside: Beside = "next_token"
    beside_gradients: Beside = "attribution"
    target_line: bool = False
    roomy: bool = False
    playing: bool = False
    speed: float = 1.0
    decimals_chosen: int | None = None
    count_from: int = 1
    theme: Literal["light", "dark"] = "light"
    follow_system: bool = False
    scale: float | None = None
    sequential: str = "viridis"
    diverging: str = "blue_red"
    language: str = "en"
    notice: Notice | None = None
    unopened: bool = False
    sentence_number: int = 0
    recent: tuple[str, ...] = ()
    file: Path | None = None

    @property
    def decimals(self) -> int:
        """How many decimals numbers are shown with."""
        if self.decimals_chosen is not None:
            return self.decimals_chosen
        dtype = None if self.model is None else getattr(self.model.model, "dtype", None)
        return FINE_DECIMALS if dtype == "float64" else DECIMALS


FIELDS = frozenset(entry.name for entry in fields(ViewState))


def changed_fields(old: ViewState, new: ViewState) -> frozenset[str]:
    """The names of the fields that differ; models and runs are compared by identity."""
    return frozenset(name for name in FIELDS if getattr(old, name) != getattr(new, name))


def current_token(state: ViewState) -> int:
    """The decoder row that the cursor stands on in this run, from 0."""
    run, wish = state.run, state.cursor.token
    if run is None or run.tape is None:
        return wish or 0
    return run.last_content if wish is None else max(0, min(wish, run.rows - 1))


def target_of(state: ViewState) -> Target:
    """What gradients are of: the chosen target, else the token that the cursor's row predicts."""
    run, row = state.run, current_token(state)
    chosen = () if run is None else run.chosen
    if state.target is None or run is None or run.tape is None or state.model is None:
        return Target("log_prob", row, chosen[row] if row < len(chosen) else 0)
    read = tuple(run.tape.target_ids[0].tolist())
    end = state.model.model.tokenizer.end_id if run.inputs.target is not None else None
    return fitted(state.target, read, chosen, end)


def gradients_key(state: ViewState) -> tuple[int, Target] | None:
    """Which gradients the state asks for; None where values are on show or there is no run."""
    run = state.run
    if state.showing != "gradients" or run is None or run.tape is None or not run.rows:
        return None
    return run.number, target_of(state)


def shown_gradients(state: ViewState) -> GradientTape | None:
    """The gradients on show: those that were asked for, else the last ones of the same run.

    They carry their own target, so that nothing is shown under the name of another one.
    """
    found, run = state.gradients, state.run
    if found is None or run is None or state.showing != "gradients" or not run.rows:
        return None
    return found.result if found.key[0] == run.number else None


def current_tape(state: ViewState) -> Tape | None:
    """The tape on show, if there is one; the gradients in its place, which read like a tape."""
    if state.run is None:
        return None
    return cast(Tape, shown_gradients(state)) or state.run.tape


def shown_site(state: ViewState) -> str | None:
    """The recorded site on show: the cursor's, or the first one where this model lacks it."""
    tape = current_tape(state)
    if tape is None:
        return None
    site = state.cursor.site
    if site in ("target", "loss") and site not in tape:
        return tape.sites[-1]  # where gradients start: their target, or what it was picked from
    return tape.plan.resolve(site) if site in tape else tape.sites[0]


def _card(entry: ModelEntry | None) -> dict[str, Any]:
    card = getattr(entry.model, "card", None) if entry is not None else None
    return card if isinstance(card, dict) else {}


def card_examples(entry: ModelEntry | None) -> tuple[str, ...]:
    """The example sentences of the model's card; a card may come from a stranger's file."""
    examples = _card(entry).get("examples")
    if not isinstance(examples, list):
        return ()
    return tuple(example for example in examples if isinstance(example, str))


def card_text(entry: ModelEntry | None, name: str) -> str:
    """A text of the model's card, "about" say; empty where it has none."""
    value = _card(entry).get(name)
    return value if isinstance(value, str) else ""


def reads_well(entry: ModelEntry, text: str) -> bool:
    """Whether the model knows all of a sentence's words and it is not too long for it."""
    encoding = entry.model.tokenizer.encode_source(text)
    return not encoding.unknown and len(encoding.ids) <= entry.model.config.max_seq_len


def some_words(entry: ModelEntry | None) -> tuple[str, ...]:
    """The first few source words of the vocabulary that can be shown."""
    if entry is None:
        return ()
    words = entry.model.tokenizer.source_vocabulary[N_SPECIAL:]
    return tuple(word for word in words[:50] if word.strip() and word.isprintable())[:SOME]


def offered_variants(entry: ModelEntry) -> tuple[str, ...]:
    """The other computations that a worked example holds."""
    variants = _card(entry).get("variants")
    return tuple(v for v in variants if isinstance(v, str)) if isinstance(variants, list) else ()


def silent_traits(entry: ModelEntry) -> frozenset[str]:
    """The traits that the file does not tell, those included that were chosen since."""
    silent = _card(entry).get("silent_on")
    names = {name for name in silent if isinstance(name, str)} if isinstance(silent, list) else ()
    chosen = (name for name in ("activation", "norm_eps") if getattr(entry.choices, name))
    return frozenset((*names, *chosen))


def own_file(entry: ModelEntry) -> Path | None:
    """The file that Save may write over: one that holds nothing that this program would drop."""
    path = entry.path
    if path is None or entry.model.warnings or offered_variants(entry):
        return None
    endings = (".npz",) if reads_matrix(entry) else (".safetensors", ".json")
    return path if path.suffix.lower() in endings else None


def guided_head(entry: ModelEntry | None) -> tuple[str, int] | None:
    """Site and head that were trained with an alignment loss, where the card names them."""
    guided = _card(entry).get("guided_head")
    if not isinstance(guided, dict):
        return None
    site, head = guided.get("site"), guided.get("head")
    if not isinstance(site, str) or not isinstance(head, int):
        return None
    return site, head


def reads_matrix(entry: ModelEntry | None) -> bool:
    """Whether this is a worked example: an encoder alone that reads a matrix and no text."""
    return entry is not None and entry.model.config.input == "matrix"


def edits_cells(state: ViewState) -> bool:
    """Whether the stage shows the input matrix of a worked example, which can be changed."""
    return (
        reads_matrix(state.model)
        and current_tape(state) is not None
        and shown_site(state) == MATRIX_SITE
        and state.page == "record"
    )


def head_count(state: ViewState) -> int:
    """How many heads the model has; 0 without a model."""
    return 0 if state.model is None else int(state.model.model.config.n_heads)
