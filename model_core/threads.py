"""How many threads the matrix products use: at demo size more than one only costs."""

from __future__ import annotations

from threadpoolctl import threadpool_limits

from model_core.config import ModelConfig

# Below this width a product is over before a second thread has woken up.
ONE_THREAD_UP_TO_WIDTH = 256
MANY_THREADS = 2


def limit_blas_threads(config: ModelConfig) -> None:
    """Set the process's BLAS threads for models of this size."""
    small = config.d_model <= ONE_THREAD_UP_TO_WIDTH
    threadpool_limits(1 if small else MANY_THREADS, user_api="blas")
