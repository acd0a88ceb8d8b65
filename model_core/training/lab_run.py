"""A training run with all that belongs to it: data, settings, history, its own checkpoints."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import msgspec

from model_core import checkpoints
from model_core.checkpoints import CheckpointError, Saved
from model_core.checkpoints.safetensors_file import PathLike
from model_core.config import ModelConfig
from model_core.model import Model
from model_core.parameters import parameter_shapes
from model_core.training.cleaning import CleaningReport
from model_core.training.guard import DivergedError
from model_core.training.history import History
from model_core.training.lab_data import DataSource, LabData, Prepared, TaskSource, load, prepare
from model_core.training.loop import Progress, Trainer, half_a_step
from model_core.training.norms import layer_of
from model_core.training.problems import Problem, problems
from model_core.training.resume import (
    SavedRun,
    claim,
    latest_run,
    remove_leftovers,
    remove_run,
    write_run,
)
from model_core.training.settings import Settings

EXAMPLES_OF_A_CARD = 8


@dataclass(frozen=True)
class Watching:
    """What is measured while training, at every so-manieth step; 0 is never."""

    evaluate_every: int = 100
    norms_every: int = 10

    def __post_init__(self) -> None:
        for name, every in (("evaluate", self.evaluate_every), ("norms", self.norms_every)):
            if every < 0:
                raise ValueError(f"{name}_every is {every}, expected 0 or more")


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
        # false within a step, and for good once one was broken off
        self._is_whole = True
        self._good_step: int | None = None
        # where its checkpoints lie -> whether the last one is to be kept beside the next
        self._places: dict[str, bool] = {}
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
        # a damaged one must not take the place of the sound one before it
        run._places[os.path.realpath(path)] = not warning
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
        _check_settings(path, problems(settings))
        _check_sizes(path, saved, settings)
        if given is None:
            data = load(source, settings, report)
            _check_settings(path, problems(settings, data.facts(settings)))
            run = cls(data, settings, watching)
        else:
            run = cls(given[0], settings, watching, replace(given[1], model=_twin(given[1].model)))
        run._check(path, saved)
        run.history = History(run.history.layers, saved.steps, saved.norms)
        run.trainer.go_to(saved.position, run.history.steps.column("loss").tolist())
        run._start = time.perf_counter() - run.history.seconds
        return run

    def _check(self, path: PathLike, saved: SavedRun) -> None:
        about, model, position = saved.description, self.model, saved.position
        same_data = about.fingerprint == self.prepared.fingerprint
        if not same_data or about.tokenizer != model.tokenizer.to_dict():
            raise CheckpointError(
                path,
                f"was trained on other sentences than {self.data.title} gives now",
                "the same pairs in the same order",
            )
        shapes = {name: value.shape for name, value in model.parameters.items()}
        found = {name: value.shape for name, value in position.parameters.items()}
        if about.config != model.config.to_dict() or shapes != found:
            raise _another_model(path)
        moments = position.moments
        fits = moments is None or (
            list(moments.names) == list(model.parameters)
            and moments.first.dtype == moments.second.dtype == model.dtype
        )
        if not fits:
            raise CheckpointError(
                path, "has moments of other parameters", "one for each of the model's own"
            )
        per_epoch, total = self.trainer.steps_per_epoch, self.total_steps
        begun = (position.epoch - 1) * per_epoch if position.epoch else 0
        most = per_epoch if position.epoch else 0
        is_sound = position.batches <= most and position.step == begun + position.batches <= total
        if not is_sound or (moments.steps if moments else 0) != position.step:
            raise CheckpointError(
                path,
                f"stands at step {position.step}, epoch {position.epoch}, batch "
                f"{position.batches}, where no run of its settings ever is",
                f"{per_epoch} batches an epoch and {total} steps",
            )
        widths = (len(self.history.steps.columns), len(self.history.norms.columns))
        tables = (saved.steps, saved.norms)
        if any(t.ndim != 2 or t.shape[1] != w for t, w in zip(tables, widths, strict=True)):
            raise CheckpointError(path, "has a history of other columns", "those of this version")
        if len(saved.steps) != position.step:
            raise CheckpointError(
                path,
                f"has a history of {len(saved.steps)} steps",
                f"{position.step}, as it has taken",
            )

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

    @property
    def trained_steps(self) -> int:
        """The steps behind the parameters as they are, fewer than `step` where it diverged."""
        return self.step if self._good_step is None else self._good_step

    def advance(self) -> Progress:
        """The next step, taken down in the history; DivergedError where the loss runs away.

        ValueError after a step that was broken off, by a KeyboardInterrupt or any other error.
        """
        self._refuse_half_a_step()
        self._is_whole = False
        try:
            progress = self.trainer.advance()
        except DivergedError as error:
            self._good_step = error.good_step
            raise
        self.history.add(progress, time.perf_counter() - self._start)
        self._is_whole = True
        return progress

    def _refuse_half_a_step(self) -> None:
        if not self._is_whole:
            raise half_a_step(self.step + 1)

    def pause(self) -> Callable[[], None]:
        """Stop the clock; what is returned lets it run again."""
        stopped = time.perf_counter()

        def go_on() -> None:
            self._start += time.perf_counter() - stopped

        return go_on

    def save_run(self, path: PathLike) -> int:
        """Write a checkpoint from which `resume` goes on; the bytes.

        ValueError within a step, and after one that was broken off. CheckpointError where a file
        lies there that is no checkpoint of this run.
        """
        self._refuse_half_a_step()
        about: Mapping[str, Any] = {
            "settings": msgspec.to_builtins(self.settings),
            "source": msgspec.to_builtins(self.data.source),
            "config": self.model.config.to_dict(),
            "tokenizer": self.model.tokenizer.to_dict(),
            "fingerprint": self.prepared.fingerprint,
        }
        place = os.path.realpath(path)
        keep = self._places.get(place)
        if keep is None:
            keep = claim(path, about)
        steps, norms = self.history.steps.rows, self.history.norms.rows
        n_bytes = write_run(path, self.trainer.position(), steps, norms, about, keep)
        self._places[place] = True
        return n_bytes

    def has_saved(self, path: PathLike) -> bool:
        """Whether this run can be gone on with from there."""
        return os.path.realpath(path) in self._places

    def remove_run(self, path: PathLike) -> None:
        """Forget the checkpoints that this run has at `path`, and no others."""
        if self.has_saved(path):
            remove_run(path)

    def save_model(self, path: PathLike) -> Saved:
        """Write the model as it is now, with its card; ValueError after half a step."""
        if self._good_step is None:
            self._refuse_half_a_step()
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
        n_pairs = len(self.prepared.train)
        card: dict[str, Any] = {
            **self.first_card(),
            "about": f"Trained on {n_pairs:,} pairs for {self.trained_steps:,} steps.",
            "recipe": msgspec.to_builtins(recipe),
            "steps": self.trained_steps,
            "training_sentences": n_pairs,
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


def _check_settings(path: PathLike, found: list[Problem]) -> None:
    if found:
        raise CheckpointError(path, f"its settings cannot work ({found[0].reason})", "others")


def _check_sizes(path: PathLike, saved: SavedRun, settings: Settings) -> None:
    """That the settings ask for the file's own tensors, before anything is made as they ask."""
    found = {name: value.shape for name, value in saved.position.parameters.items()}
    try:
        config = ModelConfig.from_dict(saved.description.config)
        wanted = settings.sized(config.src_vocab_size, config.tgt_vocab_size)
    except ValueError as error:
        raise CheckpointError(
            path, f"its config is wrong ({error})", "sizes and traits of this version"
        ) from None
    layers = config.n_encoder_layers + config.n_decoder_layers
    if config != wanted or layers > len(found) or parameter_shapes(config) != found:
        raise _another_model(path)


def _another_model(path: PathLike) -> CheckpointError:
    """What is said of a checkpoint whose tensors are not those of its settings."""
    return CheckpointError(
        path, "has parameters of another model", "those that its settings ask for"
    )


def _twin(model: Model) -> Model:
    own = {name: value.copy() for name, value in model.parameters.items()}
    return Model(model.config, own, model.tokenizer, model.card)


def resume(path: PathLike) -> LabRun:
    """Go on with the run of a training checkpoint: `for progress in resume(path)`."""
    return LabRun.resume(path)
