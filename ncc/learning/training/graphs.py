"""CUDA graphs of steps: if batches have few shapes, the forward and backward of a shape are a single launch.

A shape that comes twice is captured, from the batch that it came with. The next one of the shape is computed both ways,
and only if loss, gradients and buffers agree is the graph replayed from then on. Where capture fails, or they do not
agree, all that follows is computed as if there were no graphs.

Reference: Ng et al., "Accelerating PyTorch with CUDA graphs", PyTorch's blog, 2021.
"""

import logging
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

logger = logging.getLogger(__name__)

_LIMIT = 256
"""Graphs at most. They share their memory, but each has some megabytes of launches."""

_TOLERANCE = 1e-3
"""Largest distance of what a graph gives from what is computed without: sums in another order are far nearer."""

_WARM_UP = 2
"""Runs before capture."""

Compute = Callable[[Sequence[Tensor], float], Tensor]
Captured = tuple[Tensor, Callable[[], None]]


@dataclass(eq=False)
class _Graph:
    """A graph, the tensors that it reads from and writes its loss to, and whether it was compared."""

    inputs: list[Tensor]
    loss: Tensor
    replay: Callable[[], None]
    compared: bool = False

    def run(self, inputs: Sequence[Tensor]) -> Tensor:
        for own, given in zip(self.inputs, inputs, strict=True):
            own.copy_(given)
        self.replay()
        return self.loss.clone()  # the next replay writes over it


class GraphedSteps:
    """Forward and backward of batches, by a graph where there is one for their shape.

    Attributes:
        num_graphs: Captured so far.
        num_replays: Batches that graphs alone computed.
    """

    def __init__(
        self, compute: Compute, model: nn.Module, capture: Callable[[Callable[[], Tensor]], Captured] | None = None
    ) -> None:
        """Begins without graphs.

        Args:
            compute: Takes inputs and the weight of their loss, adds to the model's gradients, and returns the detached
                () loss, without waiting for the device. Inputs of one shape must lead it to the same operations.
            model: In training mode, on the device where it stays.
            capture: Returns what a function will return, and what runs all that it does again; default CUDA's.
        """
        self.num_graphs = self.num_replays = 0
        self._compute, self._model = compute, model
        self._device = next(model.parameters()).device
        self._capture = capture or _Capture(self._device)
        self._on = True
        self._seen: Counter[tuple[object, ...]] = Counter()
        self._graphs: dict[tuple[object, ...], _Graph] = {}

    def __call__(self, inputs: Sequence[Tensor], weight: float) -> Tensor:
        """As the computation that was given."""
        if not self._on:
            return self._compute(inputs, weight)
        # a graph adds to gradients where these were; in other places it is another graph
        key = (weight, *((one.shape, one.dtype) for one in inputs), self._places())
        graph = self._graphs.get(key)
        if graph:
            if not graph.compared:
                return self._compared(graph, inputs, weight)
            self.num_replays += 1
            return graph.run(inputs)
        loss = self._compute(inputs, weight)
        self._seen[key] += 1
        if self._seen[key] == 2 and self.num_graphs < _LIMIT:
            self._add(key, inputs, weight)
        return loss

    def _add(self, key: tuple[object, ...], inputs: Sequence[Tensor], weight: float) -> None:
        """Captures a graph, and leaves model and generators as they were."""
        own, before = [one.clone() for one in inputs], _State(self._results(), self._device)
        try:
            loss, replay = self._capture(lambda: self._compute(own, weight))
        except RuntimeError as error:  # also where memory does not suffice, which graphs take more of
            self._give_up(f"{type(error).__name__}: {error}")
            before.restore(capture_failed=True)
        else:
            self._graphs[key] = _Graph(own, loss, replay)
            self.num_graphs += 1
            before.restore()

    def _compared(self, graph: _Graph, inputs: Sequence[Tensor], weight: float) -> Tensor:
        """Both ways; what was computed without the graph stays."""
        before = _State(self._results(), self._device)
        graph_loss = graph.run(inputs)
        after = [tensor.clone() for tensor in self._results()]
        before.restore()
        loss = self._compute(inputs, weight)
        number = len(self._gradients())
        distances = {
            "loss": _distance([graph_loss], [loss]),
            "gradients": _distance(after[:number], self._gradients()),
            "buffers": _distance(after[number:], self._results()[number:]),
        }
        graph.compared = all(distance <= _TOLERANCE for distance in distances.values())
        if not graph.compared:
            self._give_up(f"one gives others than are computed without: relative distances are {distances}")
        return loss

    def _give_up(self, why: str) -> None:
        logger.info("no CUDA graphs from here on: %s", why)
        self._on = False
        self._graphs.clear()
        self.num_graphs = 0

    def _gradients(self) -> list[Tensor]:
        return [one.grad for one in self._model.parameters() if one.grad is not None]

    def _places(self) -> tuple[int, ...]:
        return tuple(one.data_ptr() for one in self._gradients())

    def _results(self) -> list[Tensor]:
        """What a step leaves in the model: gradients, and buffers."""
        return [*self._gradients(), *self._model.buffers()]


def _distance(found: Sequence[Tensor], expected: Sequence[Tensor]) -> float:
    """Of all numbers together, relative to the length of those expected."""
    if not expected:
        return 0.0
    one, other = (torch.cat([tensor.detach().double().reshape(-1) for tensor in some]) for some in (found, expected))
    return float((one - other).norm() / other.norm().clamp_min(1e-30))


class _State:
    """What a step leaves in a model, and the generator that dropout draws from, to go back to."""

    def __init__(self, results: Sequence[Tensor], device: torch.device) -> None:
        self._kept = [(tensor, tensor.clone()) for tensor in results]
        on_gpu = device.type == "cuda"
        self._generator = torch.cuda.default_generators[device.index] if on_gpu else torch.default_generator
        self._drawn = self._generator.get_state()
        self._spare = self._generator.clone_state() if on_gpu else None

    def restore(self, *, capture_failed: bool = False) -> None:
        if capture_failed and self._spare is not None:  # the generator's own state takes the capture to go on
            self._generator.graphsafe_set_state(self._spare)
        self._generator.set_state(self._drawn)
        for tensor, value in self._kept:
            tensor.copy_(value)


class _Capture:
    """CUDA's capture, of graphs that share their memory: never do two run at once, and each one's loss is copied."""

    def __init__(self, device: torch.device) -> None:
        self._device = device
        self._pool: Any = None

    def __call__(self, run: Callable[[], Tensor]) -> Captured:
        """Captures a function, once it has run on a stream aside, where libraries allocate what they keep.

        Raises:
            RuntimeError: It does what can't be captured.
        """
        graph, current = torch.cuda.CUDAGraph(), torch.cuda.current_stream(self._device)
        aside = torch.cuda.Stream(self._device)  # type: ignore[no-untyped-call]
        aside.wait_stream(current)
        with torch.cuda.stream(aside):
            for _ in range(_WARM_UP):
                run()
        current.wait_stream(aside)
        self._pool = self._pool or torch.cuda.graph_pool_handle()
        # the outer one goes back to this stream also where capture fails; NCCL's thread may ask for events meanwhile
        with torch.cuda.stream(current), torch.cuda.graph(graph, self._pool, capture_error_mode="thread_local"):
            loss = run()
        return loss, graph.replay
