"""How many threads the matrix products use: at demo size more than one only costs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from threadpoolctl import threadpool_limits

from model_core.config import ModelConfig

# Below this width a product is over before a second thread has woken up.
ONE_THREAD_UP_TO_WIDTH = 256
MANY_THREADS = 2


def limit_blas_threads(config: ModelConfig) -> None:
    """Set the process's BLAS threads for models of this size."""
    threadpool_limits(_threads(config), user_api="blas")


@contextmanager
def blas_threads(config: ModelConfig) -> Iterator[None]:
    """As many threads as a model of this size has, for as long as it lasts: sums are the same."""
    with threadpool_limits(_threads(config), user_api="blas"):
        yield


def _threads(config: ModelConfig) -> int:
    return 1 if config.d_model <= ONE_THREAD_UP_TO_WIDTH else MANY_THREADS
