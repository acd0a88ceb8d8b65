"""What a run's result depends on: the gradients of one number, site by site, as a tape.

The run itself stays as it is: the number is recorded on a branch of its tape.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from model_core.ops import CrossEntropy, Pick
from model_core.ops.base import Array, Explanation, Op, Operand, Origin, Term, total
from model_core.plan import Plan
from model_core.reverse import Gradients, Readers, walk_back
from model_core.shares import Share as Share
from model_core.shares import recomputed_share
from model_core.snippets import DATA_FILE, Snippet, gradient_snippet
from model_core.tape import Record, Tape, checked_index

# The tokenizers' id of padding.
PAD = 0

SENTENCE = (
    "How much the target changes for a small change of each of these numbers: the sum over all "
    "records that read them."
)
TARGET_SENTENCE = "The gradients start here: the target changes exactly as much as itself."


@dataclass(frozen=True)
class Target:
    """The number that gradients are taken of.

    "log_prob": the log-probability of `token` in decoder row `row`, of the first sentence of a
    batch. "loss": the mean of -log p of the labels, one per row, sentence after sentence; rows
    without a label and rows labelled PAD do not count.
    """

    kind: Literal["log_prob", "loss"]
    row: int = 0
    token: int = 0
    labels: tuple[int, ...] = ()


def gradients_of(tape: Tape, target: Target) -> GradientTape:
    """The gradient of the target with respect to every site and parameter of a run.

    ValueError with a sentence where the run has no such number.
    """
    branch, site = record_target(tape, target)
    return GradientTape(branch, site, target)


def record_target(tape: Tape, target: Target) -> tuple[Tape, str]:
    """A branch of the run with the target as its last record, and that record's site."""
    if "log_probs" not in tape:
        raise ValueError(
            "this run predicts no tokens, so that there is nothing to take a gradient of"
        )
    branch = tape.branch()
    batch, rows, size = np.shape(branch.value_of("log_probs"))
    if target.kind == "log_prob":
        if not 0 <= target.row < rows:
            raise ValueError(f"there is no decoder row {target.row}, the run has {rows}")
        if not 0 <= target.token < size:
            raise ValueError(f"there is no token {target.token}, the vocabulary has {size}")
        site = _free_name(branch, "target")
        branch.add(site, Pick((0, target.row, target.token)), "log_probs", axes=())
        return branch, site
    if target.kind != "loss":
        raise ValueError(f"the target is {target.kind!r}, expected 'log_prob' or 'loss'")
    wrong = [label for label in target.labels if not 0 <= label < size]
    if wrong:
        raise ValueError(f"there is no token {wrong[0]}, the vocabulary has {size}")
    if len(target.labels) > batch * rows:
        raise ValueError(f"there are {len(target.labels)} labels for {batch * rows} decoder rows")
    labels = np.full(batch * rows, PAD, dtype=np.int64)
    labels[: len(target.labels)] = target.labels
    site = _free_name(branch, "loss")
    name = _free_name(branch, "labels")
    branch.add(
        site,
        CrossEntropy(0.0, PAD),
        "log_probs",
        name,
        axes=(),
        **{name: labels.reshape(batch, rows)},
    )
    return branch, site


def _free_name(tape: Tape, name: str) -> str:
    """The name, or with a stroke behind it where the run has a record of that name already."""
    while name in tape.plan.slots:
        name += "'"
    return name


class GradientTape:
    """The gradients of one target beside the run's values; read like a tape.

    `tape` is the branch of the run that ends in the target.
    """

    direction: ClassVar[Literal["forward", "backward"]] = "backward"

    def __init__(self, tape: Tape, site: str, target: Target) -> None:
        self.tape, self.target_site, self.target = tape, site, target
        readers: Readers = {}
        start = np.ones_like(tape.value_of(site))
        slots = walk_back(tape.plan, tape.value_of, site, start, readers=readers)
        self._readers = readers
        self._gradients = Gradients(tape.plan, tape.value_of, tape.parameters, site, slots)
        self._of_parameters = self._gradients.parameters

    @property
    def plan(self) -> Plan:
        return self.tape.plan

    @property
    def parameters(self) -> Mapping[str, Array]:
        """The model's parameters, as a tape has them; `gradient_of` gives their gradients."""
        return self.tape.parameters

    @property
    def sites(self) -> list[str]:
        """The names of all records, in the order of the computation."""
        return self.tape.sites

    def __contains__(self, site: object) -> bool:
        return site in self.tape

    def __getitem__(self, site: str) -> GradientRecord:
        return GradientRecord(self, self.tape[site])

    def __iter__(self) -> Iterator[GradientRecord]:
        return (GradientRecord(self, record) for record in self.tape)

    def __len__(self) -> int:
        return len(self.tape)

    @property
    def source_ids(self) -> Array:
        """What the encoder reads (B,S)."""
        return self.tape.source_ids

    @property
    def target_ids(self) -> Array:
        """What the decoder reads, start token first (B,T)."""
        return self.tape.target_ids

    @property
    def predicted_ids(self) -> Array:
        """What each decoder row predicts (B,T)."""
        return self.tape.predicted_ids

    @property
    def source_tokens(self) -> list[Any]:
        return self.tape.source_tokens

    @property
    def target_tokens(self) -> list[Any]:
        return self.tape.target_tokens

    @property
    def predicted_tokens(self) -> list[Any]:
        return self.tape.predicted_tokens

    def value_of(self, name: str) -> Any:
        """The value, not the gradient, of a site, a parameter or a run input."""
        return self.tape.value_of(name)

    def gradient_of(self, name: str) -> Array:
        """The gradient of a site or parameter, in its shape, read-only; zeros where there is none.

        KeyError with a sentence for any other name.
        """
        if name not in self._of_parameters:
            return self._gradients[name]
        view = self._of_parameters[name].view()
        view.flags.writeable = False
        return view

    def shares_of(self, name: str) -> tuple[Share, ...]:
        """What every record that reads a site or parameter adds to its gradient, in order."""
        name = self.plan.aliases.get(name, name)
        return tuple(self._share(site, which) for site, which in self._readers.get(name, ()))

    def _share(self, site: str, which: int) -> Share:
        record = self.tape[site]
        d_out = Operand(site, self._gradients[site])
        out = Operand(site, record.value)
        return Share(record.kind, which, d_out, out, tuple(record.operands))

    def explain_parameter(
        self, name: str, index: Sequence[int], share: int | None = None
    ) -> Explanation:
        """How the gradient of one cell of a parameter comes about, in float64."""
        return self._explain(name, index, share)

    def parameter_snippet(
        self,
        name: str,
        index: Sequence[int] | None = None,
        data: str | None = DATA_FILE,
        said: str = "",
    ) -> Snippet:
        """Runnable source text that prints the gradient of a parameter, or of its cell.

        said: what the target is, in words
        """
        return self._snippet(name, index, data, said)

    def recompute_parameter(self, name: str) -> tuple[Array, Array]:
        """The gradient of a parameter in float64, and the sum of the sizes of its shares."""
        return self._recompute(name)

    def _explain(self, name: str, index: Sequence[int], share: int | None) -> Explanation:
        place = checked_index(name, index, np.shape(self.gradient_of(name)))
        if self.plan.aliases.get(name, name) == self.target_site:
            origin = Origin(self.target_site, (), "gradient")
            return Explanation(1.0, "1.0", (Term("1", self.target_site, (), 1.0, (), (origin,)),))
        shares = self.shares_of(name)
        if share is not None:
            if not 0 <= share < len(shares):
                raise IndexError(f"{name} has {len(shares)} shares, there is no share {share}")
            return shares[share].explain(place)
        return _added([(part, part.explain(place)) for part in shares])

    def _snippet(
        self, name: str, index: Sequence[int] | None, data: str | None, said: str = ""
    ) -> Snippet:
        gradient = self.gradient_of(name)
        place = None if index is None else checked_index(name, index, gradient.shape)
        shares, target = self.shares_of(name), self.target_site
        return gradient_snippet(name, target, shares, gradient, place, data, said)

    def _recompute(self, name: str) -> tuple[Array, Array]:
        gradient = self.gradient_of(name)
        start = self.plan.aliases.get(name, name) == self.target_site
        value = np.full(gradient.shape, 1.0 if start else 0.0)
        size = np.abs(value)
        for share in self.shares_of(name):
            part = recomputed_share(share)
            value, size = value + part, size + np.abs(part)
        return value, size


class GradientRecord:
    """The gradient of one site, with all that its record says; read like a record.

    `op`, `kind`, `inputs` and `operands` are those of the site's own record.
    """

    __slots__ = ("_gradients", "_record", "site")
    direction: ClassVar[Literal["forward", "backward"]] = "backward"

    def __init__(self, gradients: GradientTape, record: Record) -> None:
        self._gradients, self._record, self.site = gradients, record, record.site

    def __repr__(self) -> str:
        readers = ", ".join(share.consumer_site for share in self.shares) or "nobody"
        return f"GradientRecord({self.site}: read by {readers}; {self.value.shape})"

    @property
    def tape(self) -> GradientTape:
        """The gradients that it belongs to."""
        return self._gradients

    @property
    def kind(self) -> Op:
        return self._record.kind

    @property
    def op(self) -> str:
        return self._record.op

    @property
    def inputs(self) -> tuple[str, ...]:
        return self._record.inputs

    @property
    def axes(self) -> tuple[str, ...]:
        return self._record.axes

    @property
    def operands(self) -> list[Operand]:
        return self._record.operands

    @property
    def value(self) -> Array:
        """The gradient, read-only."""
        return self._gradients.gradient_of(self.site)

    @property
    def shares(self) -> tuple[Share, ...]:
        """What every record that reads this site adds to the gradient."""
        return self._gradients.shares_of(self.site)

    @property
    def formula(self) -> str:
        """LaTeX of the shares, the same one only once; each calls its record's result y."""
        formulas = dict.fromkeys(share.formula for share in self.shares if share.formula)
        return r" \qquad ".join(formulas)

    @property
    def sentence(self) -> str:
        return SENTENCE if self.site != self._gradients.target_site else TARGET_SENTENCE

    def explain(self, index: Sequence[int], share: int | None = None) -> Explanation:
        """How the gradient of the cell at `index` comes about, in float64.

        share: the number of one share; without it, all are added up, and `steps` holds each
        under the site of the record that reads this one
        """
        return self._gradients._explain(self.site, index, share)

    def recompute(self) -> tuple[Array, Array]:
        """The gradient by the ops' expressions in float64, and the sum of the shares' sizes."""
        return self._gradients._recompute(self.site)

    def snippet(
        self, index: Sequence[int] | None = None, data: str = DATA_FILE, said: str = ""
    ) -> Snippet:
        """Runnable source text that prints the gradient, or the cell at `index`.

        data: the name of the file from which the text loads arrays too long to stand in it
        said: what the target is, in words
        """
        return self._gradients._snippet(self.site, index, data, said)

    def numpy(self) -> str:
        """Runnable source text, all arrays included, that prints the gradient."""
        return self._gradients._snippet(self.site, None, None).text


def _added(parts: Sequence[tuple[Share, Explanation]]) -> Explanation:
    steps: dict[str, float] = {}
    for share, explanation in parts:
        name = share.consumer_site
        if name in steps:
            name = f"{name}[{share.which}]"
        steps[name] = explanation.value
    terms = tuple(term for _, explanation in parts for term in explanation.terms)
    text = total([f"({explanation.text})" for _, explanation in parts])
    return Explanation(sum(steps.values()), text, terms, steps)
