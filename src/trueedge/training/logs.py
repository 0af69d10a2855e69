"""Callbacks that log trainings to TensorBoard, and to Weights & Biases."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

from trueedge.errors import InputError


class TensorBoard:
    """Logs the loss and the validation value of a training for TensorBoard.

    A folder holds the curves of one training::

        with TensorBoard("logs/gcn") as log, use_callbacks(callbacks=[log]):
            scorer = method.fit(task)

    Args:
        folder: where the log is written; ``tensorboard --logdir`` reads it.
    """

    def __init__(self, folder: str | Path) -> None:
        module = _installed("torch.utils.tensorboard", "tensorboard", "TensorBoard")
        self._writer = module.SummaryWriter(str(folder))

    def on_evaluation(self, epoch: int, loss: float, metrics: Mapping[str, float]) -> None:
        """Write the loss and the metrics of an epoch."""
        self._writer.add_scalar("loss", loss, epoch)
        for name, value in metrics.items():
            self._writer.add_scalar(f"validation/{name}", value, epoch)

    def close(self) -> None:
        """Write what is left, and close the log."""
        self._writer.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *problem: object) -> None:
        self.close()


class WeightsAndBiases:
    """Logs the loss and the validation value of a training to a run of Weights & Biases.

    Args:
        project: the name of the project.
        options: further options of ``wandb.init``: ``name``, ``config``, ``mode``.
    """

    def __init__(self, project: str, **options: Any) -> None:
        module = _installed("wandb", "wandb", "WeightsAndBiases")
        self._run = module.init(project=project, **options)

    def on_evaluation(self, epoch: int, loss: float, metrics: Mapping[str, float]) -> None:
        """Log the loss and the metrics of an epoch."""
        named = {f"validation/{name}": value for name, value in metrics.items()}
        self._run.log({"loss": loss, **named}, step=epoch)

    def close(self) -> None:
        """End the run."""
        self._run.finish()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *problem: object) -> None:
        self.close()


def _installed(module: str, package: str, owner: str) -> Any:
    try:
        return importlib.import_module(module)
    except ImportError:
        raise InputError(f"{owner} needs the package {package}: pip install {package}") from None
