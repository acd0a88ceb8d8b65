"""What one asks on the decoding bench: (ViewState, ...) -> ViewState."""

from __future__ import annotations

from dataclasses import replace

from visualizer import actions, decoding_actions
from visualizer.bench import BY_ID, Bench, Spot
from visualizer.state import ViewState, current_token

DRAWS = 200
# Beyond this a further draw changes no bar by a pixel.
MOST_DRAWS = 1_000_000

SAMPLING = {
    "strategy": decoding_actions.choose_strategy,
    "temperature": actions.set_temperature,
    "top_k": actions.set_top_k,
    "top_p": actions.set_top_p,
    "seed": actions.set_seed,
}


def set_sampling(state: ViewState, name: str, value: object) -> ViewState:
    """One of the sampling controls was moved; its name is that of the field of the inputs."""
    return SAMPLING[name](state, value)  # type: ignore[operator, no-any-return]


def spot(state: ViewState) -> Spot:
    """Where further draws are asked for; they are forgotten at any other."""
    source = "" if state.run is None else state.run.inputs.source
    return source, current_token(state), state.inputs.seed


def bench(state: ViewState) -> Bench:
    """The bench as it holds at this spot."""
    here = spot(state)
    if state.bench.spot == here:
        return state.bench
    return replace(state.bench, spot=here, again=0, times=0)


def draw_again(state: ViewState) -> ViewState:
    """The next uniform of the stream."""
    here = bench(state)
    return replace(state, bench=replace(here, again=here.again + 1))


def draw_as_run(state: ViewState) -> ViewState:
    """The draw of the run itself."""
    return replace(state, bench=replace(bench(state), again=0))


def draw_many(state: ViewState) -> ViewState:
    """So many draws more for the histogram."""
    here = bench(state)
    times = min(here.times + DRAWS, MOST_DRAWS)
    return replace(state, bench=replace(here, times=times))


def forget_draws(state: ViewState) -> ViewState:
    """No histogram."""
    return replace(state, bench=replace(bench(state), times=0))


def sort_by(state: ViewState, stage: str) -> ViewState:
    """The order of a stage, or of the ids."""
    return replace(state, bench=replace(state.bench, sort=stage))


def sort_or_not(state: ViewState, sorts: bool) -> ViewState:
    """By what may be drawn, or by id."""
    return sort_by(state, Bench().sort if sorts else BY_ID)


def set_log(state: ViewState, log: bool) -> ViewState:
    """Bars of probabilities on a logarithmic scale, or on a linear one."""
    return replace(state, bench=replace(state.bench, log=log))


def show_tree(state: ViewState, tree: bool) -> ViewState:
    """The beam tree or the stages, where there is no room for both."""
    return replace(state, bench=replace(state.bench, tree=tree))


def choose_token(state: ViewState, token: int) -> ViewState:
    """Look at a token; once more lets it go."""
    chosen = None if state.bench.token == token else token
    return replace(state, bench=replace(state.bench, token=chosen))
