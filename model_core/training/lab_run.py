"""A training run with all that belongs to it: data, settings, history, its own checkpoints."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import msgspec

from model_core import checkpoints
from model_core.checkpoints import CheckpointError, Saved
from model_core.checkpoints.safetensors_file import PathLike
from model_core.model import Model
from model_core.training.cleaning import CleaningReport
from model_core.training.history import History
from model_core.training.lab_data import DataSource, LabData, Prepared, TaskSource, load, prepare
from model_core.training.loop import Progress, Trainer
from model_core.training.norms import layer_of
from model_core.training.problems import problems
from model_core.training.resume import SavedRun, latest_run, remove_leftovers, write_run
from model_core.training.settings import Settings

EXAMPLES_OF_A_CARD = 8


@dataclass(frozen=True)
class Watching:
    """What is measured while training, at every so-manieth step; 0 is never."""

    evaluate_every: int = 100
    norms_every: int = 10


class LabRun:
    """One run, from fresh parameters or where an earlier process left it.

    warning: "" or a sentence about a damaged checkpoint that was passed over
    """

    def __init__(
        self,
        data: LabData,
        settings: Settings,
        watching: Watching = Watching(),
        prepared: Prepared | None = None,
    ) -> None:
        self.data, self.settings = data, settings
        self.prepared = prepared or prepare(data, settings)
        self.model: Model = self.prepared.model
        # a chat model reads prompts, of the probe sentence too
        self.model.card = self.first_card()
        recipe = settings.recipe(len(self.prepared.train))
        self.trainer = Trainer(self.model, self.prepared.train, recipe)
        self.trainer.norms_every = watching.norms_every
        if watching.evaluate_every and self.prepared.held_out:
            self.trainer.measure_on(self.prepared.held_out, watching.evaluate_every)
        layers = dict.fromkeys(map(layer_of, self.model.parameters))
        self.history = History(list(layers))
        self.warning = ""
        self._start = time.perf_counter()

    @classmethod
    def begin(
        cls,
        source: DataSource,
        settings: Settings,
        watching: Watching = Watching(),
        report: Callable[[CleaningReport], None] = lambda report: None,
    ) -> LabRun:
        """A fresh run; ValueError with a sentence where the settings cannot work."""
        found = problems(settings)
        if not found:
            data = load(source, settings, report)
            found = problems(settings, data.facts(settings))
        if found:
            raise ValueError("; ".join(str(problem) for problem in found[:3]))
        return cls(data, settings, watching)

    @classmethod
    def resume(
        cls,
        path: PathLike,
        watching: Watching = Watching(),
        report: Callable[[CleaningReport], None] = lambda report: None,
    ) -> LabRun:
        """Go on where the checkpoint at `path` was written; the weights become those of a run
        that was never interrupted.

        CheckpointError where neither it nor the one before it can be read, or where the data are
        others by now.
        """
        remove_leftovers(path)
        saved, warning = latest_run(path)
        run = cls.at(path, saved, watching, report)
        run.warning = warning
        return run

    @classmethod
    def at(
        cls,
        path: PathLike,
        saved: SavedRun,
        watching: Watching = Watching(),
        report: Callable[[CleaningReport], None] = lambda report: None,
        given: tuple[LabData, Prepared] | None = None,
    ) -> LabRun:
        """The run standing where a checkpoint, read from `path`, was written; as `resume`.

        given: what it was trained on, where that has been read already; its model stays as it is
        """
        try:
            settings = msgspec.convert(saved.description.settings, Settings)
            source: DataSource = msgspec.convert(saved.description.source, DataSource)
        except msgspec.ValidationError as error:
            raise CheckpointError(
                path, f"its settings are wrong ({error})", "settings of this version"
            ) from None
        if given is None:
            run = cls(load(source, settings, report), settings, watching)
        else:
            run = cls(given[0], settings, watching, replace(given[1], model=_twin(given[1].model)))
        run._check(path, saved)
        run.trainer.go_to(saved.position)
        run.history = History(run.history.layers, saved.steps, saved.norms)
        run._start = time.perf_counter() - run.history.seconds
        return run

    def _check(self, path: PathLike, saved: SavedRun) -> None:
        about, model = saved.description, self.model
        same_data = about.fingerprint == self.prepared.fingerprint
        if not same_data or about.tokenizer != model.tokenizer.to_dict():
            raise CheckpointError(
                path,
                f"was trained on other sentences than {self.data.title} gives now",
                "the same pairs in the same order",
            )
        shapes = {name: value.shape for name, value in model.parameters.items()}
        found = {name: value.shape for name, value in saved.position.parameters.items()}
        if about.config != model.config.to_dict() or shapes != found:
            raise CheckpointError(
                path, "has parameters of another model", "those that its settings ask for"
            )
        moments = saved.position.moments
        if moments is not None and list(moments.names) != list(model.parameters):
            raise CheckpointError(
                path, "has moments of other parameters", "one for each of the model's own"
            )
        widths = (len(self.history.steps.columns), len(self.history.norms.columns))
        if any(
            rows.ndim != 2 or rows.shape[1] != width
            for rows, width in zip((saved.steps, saved.norms), widths, strict=True)
        ):
            raise CheckpointError(path, "has a history of other columns", "those of this version")

    def __iter__(self) -> Iterator[Progress]:
        """The steps that are left; each can be the last one asked for."""
        while not self.trainer.is_finished:
            yield self.advance()

    @property
    def step(self) -> int:
        return self.trainer.step

    @property
    def total_steps(self) -> int:
        return self.trainer.recipe.steps

    @property
    def is_finished(self) -> bool:
        return self.trainer.is_finished

    def advance(self) -> Progress:
        """The next step, taken down in the history; DivergedError where the loss runs away."""
        progress = self.trainer.advance()
        self.history.add(progress, time.perf_counter() - self._start)
        return progress

    def pause(self) -> Callable[[], None]:
        """Stop the clock; what is returned lets it run again."""
        stopped = time.perf_counter()

        def go_on() -> None:
            self._start += time.perf_counter() - stopped

        return go_on

    def save_run(self, path: PathLike) -> int:
        """Write a checkpoint from which `resume` goes on; the bytes."""
        about: Mapping[str, Any] = {
            "settings": msgspec.to_builtins(self.settings),
            "source": msgspec.to_builtins(self.data.source),
            "config": self.model.config.to_dict(),
            "tokenizer": self.model.tokenizer.to_dict(),
            "fingerprint": self.prepared.fingerprint,
        }
        steps, norms = self.history.steps.rows, self.history.norms.rows
        return write_run(path, self.trainer.position(), steps, norms, about)

    def save_model(self, path: PathLike) -> Saved:
        """Write the model as it is now, with its card."""
        model = self.model
        model.card = self.card()
        return checkpoints.save(path, model.config, model.parameters, model.tokenizer, model.card)

    def first_card(self) -> dict[str, Any]:
        """What can be said of the model before it is trained."""
        module = self.data.module
        recipe = getattr(module, "recipe", None)
        card: dict[str, Any] = {"title": getattr(recipe, "TITLE", self.data.title)}
        if isinstance(self.data.source, TaskSource):
            card["task"] = self.data.source.name
        if (rules := getattr(recipe, "CHAT", None)) is not None:
            card["chat"] = dict(rules)
        shown = getattr(module, "EXAMPLES", None)
        if shown is None:
            shown = [pair.source for pair in self.data.held_out[:EXAMPLES_OF_A_CARD]]
        return card | {"examples": list(shown)}

    def card(self) -> dict[str, Any]:
        """What the model is; nothing in it depends on the day or the machine."""
        recipe = self.trainer.recipe
        if isinstance(self.data.source, TaskSource) and self.is_finished:
            return dict(self.data.module.card(self.data.dataset, self.model, recipe))
        held, done = self.prepared.held_out, self.trainer.evaluate()
        card: dict[str, Any] = {
            **self.first_card(),
            "about": f"Trained on {len(self.prepared.train):,} pairs for {self.step:,} steps.",
            "recipe": msgspec.to_builtins(recipe),
            "steps": self.step,
            "training_sentences": len(self.prepared.train),
            "parameters": self.model.parameter_count,
        }
        if done is not None:
            card["held_out"] = {
                "held_out": {"sentences": done.decoded, "exact": round(done.exact_share, 4)}
            }
            card["held_out_sentences"] = len(held)
        if recipe.guided is not None:
            card["guided_head"] = {"site": recipe.guided.site, "head": recipe.guided.head}
        return card


def _twin(model: Model) -> Model:
    own = {name: value.copy() for name, value in model.parameters.items()}
    return Model(model.config, own, model.tokenizer, model.card)


def resume(path: PathLike) -> LabRun:
    """Go on with the run of a training checkpoint: `for progress in resume(path)`."""
    return LabRun.resume(path)
