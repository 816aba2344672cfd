"""`Run`: what a training run is made of, its folder, and the two things that every stage does: collect and evaluate."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from backtrail.agents.explorer import BriefExplorer, Explorer
from backtrail.agents.models.base import MixedTemperature, Model, Sampling
from backtrail.agents.models.hf import HFModel
from backtrail.agents.models.hf_load import Loaded, import_transformers, load, no_progress_bar
from backtrail.agents.models.tiny import build_tiny
from backtrail.agents.sge import Plan, Strategies
from backtrail.training.collect import Job, Rollouts, collect, exploration, require
from backtrail.training.config import Config
from backtrail.training.learner import Learner, Row
from backtrail.training.lora import is_adapted, plain_copy
from backtrail.training.metrics import Metrics
from backtrail.training.transition import trajectories
from backtrail.training.workers import EnvRecipe, Serial, Workers
from backtrail.training.workers_process import Processes, Threads

__all__ = ["Run", "Setup", "open_folder"]

FORMAT = 1
EVALUATION_SEED = 1_000_000
"""The tasks of evaluations: the same for every run, method and seed."""

AGENTS: dict[str, type[Explorer]] = {"brief": BriefExplorer, "explorer": Explorer}

Progress = Callable[[str, int, int, Mapping[str, Any]], None]
"""Called with the stage, how much of it is done, of how much, and the latest numbers."""


@dataclass(frozen=True)
class Setup:
    """What a run trains on what, beside its `Config`.

    Attributes:
        model: "tiny", a folder, or a name on the Hugging Face hub.
        env_id: The environment.
        train: Options of the environment to train in.
        evaluate: Options of the environment to evaluate in.
        agent: "brief" (for small models) or "explorer" (with instructions).
        benchmark: Whose actions the prompt describes.
        seed: Of everything.
        workers: "serial", "processes" or "threads".
        slots: Environments at a time.
        timeout: Seconds that a step of an environment may take, where workers can tell.
        generator: What draws responses: "hf" (the weights being trained) or "vllm" (in process, weights sent after each update).
        dtype: Of the weights; "auto" for that of the files.
        keep_rollouts: Whether to write the transitions of every iteration to the run's folder.
        start: The recipe (``setup`` and ``config``) of the training run that made the model; None if none did.
    """

    model: str = "tiny"
    env_id: str = "backtrail/ALFWorld-v0"
    train: Mapping[str, Any] = field(default_factory=dict)
    evaluate: Mapping[str, Any] = field(default_factory=dict)
    agent: Literal["brief", "explorer"] = "brief"
    benchmark: str = "alfworld"
    seed: int = 0
    workers: Literal["serial", "processes", "threads"] = "serial"
    slots: int = 128
    timeout: float = 60.0
    generator: Literal["hf", "vllm"] = "hf"
    dtype: str = "auto"
    keep_rollouts: bool = False
    start: Mapping[str, Any] | None = None


def open_folder(folder: Path, setup: Setup, config: Config, about: Mapping[str, Any]) -> None:
    """Make a run's folder, or check that an old one is of the same run.

    Raises:
        ValueError: If the folder holds another run.
    """
    recipe = {"format": FORMAT, "setup": asdict(setup), "config": config.to_dict()}
    path = folder / "training.json"
    if path.exists():
        old = json.loads(path.read_text("utf-8"))
        if {name: old.get(name) for name in recipe} != json.loads(json.dumps(recipe)):
            raise ValueError(
                f"Expected a new folder, or the same settings as in {path}: resume with those, or take another name"
            )
        return
    draft = path.with_name(path.name + ".part")
    if folder.exists() and any(each != draft for each in folder.iterdir()):
        raise ValueError(f"Expected a new or empty folder, got {folder}")
    folder.mkdir(parents=True, exist_ok=True)
    draft.write_text(json.dumps(recipe | dict(about), indent=2), "utf-8")
    draft.replace(path)


class Run:
    """The parts of a training run, made once; stages share them.

    Attributes:
        setup: What is trained on what.
        config: The hyper-parameters.
        folder: Where everything is written.
        learner: The weights; a new one for each stage.
        sampler: What draws responses.
        metrics: Where numbers go.
        demonstrations: The demonstrated steps, once they were made: two stages use them.
    """

    def __init__(
        self,
        setup: Setup,
        config: Config,
        folder: Path,
        metrics: Metrics | None,
        progress: Progress,
        accelerator: Any = None,
    ):
        """Load the model and prepare the environments; nothing is trained yet."""
        self.setup, self.config, self.folder = setup, config, folder
        self.metrics, self.progress, self.accelerator = metrics, progress, accelerator
        source = str(build_tiny()) if setup.model == "tiny" else setup.model
        self.loaded = load(source, None, setup.dtype, None, False)
        self.train_recipe = EnvRecipe(setup.env_id, setup.train, config.max_steps)
        self.evaluation_recipe = EnvRecipe(setup.env_id, setup.evaluate, config.max_steps)
        self._workers: dict[str, Workers] = {}
        self.learner: Learner = None  # pyright: ignore[reportAttributeAccessIssue]  # `begin` makes it
        self.sampler: Model = None  # pyright: ignore[reportAttributeAccessIssue]
        self.strategies: Strategies | None = None
        self.demonstrations: list[Row] | None = None

    def begin(self) -> None:
        """Start a stage: a new optimiser on the weights as they are."""
        self.learner = Learner(self.loaded, self.config, self.accelerator)
        self.loaded = self.learner.loaded
        if self.setup.generator == "hf":
            self.sampler = HFModel(self.loaded, batch_tokens=4 * self.config.micro_tokens)
        elif self.sampler is None:
            self.sampler = self._vllm()

    def _vllm(self) -> Model:
        from backtrail.agents.models.vllm import VLLMModel

        source = self.folder / "sampler"  # whichever weights are in it, `sync` replaces them
        if self.first:
            save_model(self.learner, source)
        if self.accelerator is not None:
            self.accelerator.wait_for_everyone()
        shared = {"gpu_memory_utilization": 0.5} if self.loaded.model.device.type == "cuda" else {}  # rest: the learner
        dtype = str(self.loaded.model.dtype).removeprefix("torch.")
        return VLLMModel(str(source), dtype=dtype, max_num_seqs=self.setup.slots, engine=shared)

    def sync(self) -> None:
        """Give the sampler the weights as they are; those of "hf" are the same tensors."""
        if self.setup.generator == "vllm":
            self.sampler.load_weights(self.learner.weights())  # pyright: ignore[reportAttributeAccessIssue]

    @property
    def first(self) -> bool:
        """Whether this process is the one that writes."""
        return self.accelerator is None or self.accelerator.is_main_process

    def log(self, stage: str, iteration: int, values: Mapping[str, Any]) -> None:
        """Write numbers, in the process that writes."""
        if self.metrics is not None:
            self.metrics.log(stage, iteration, values)

    # ---- collecting

    def make_agent(self, model: Model, sampling: Sampling) -> Explorer:
        """Make the agent of one rollout."""
        return AGENTS[self.setup.agent](model, sampling, benchmark=self.setup.benchmark)

    def sampling(self) -> Sampling:
        """Return how responses are drawn in training."""
        config = self.config
        hot = config.explore_temperature
        mixed = None if hot is None else MixedTemperature("<explore>", "</explore>", hot)
        return Sampling(config.temperature, max_tokens=config.max_tokens, min_p=config.min_p, mixed=mixed)

    def plan(self, task_id: str, job: Job) -> Plan:
        """Return how one rollout of training is sampled: perhaps with a reflection."""
        rng = np.random.default_rng([job.draw, 1])
        shown = self.strategies.draw(task_id, rng) if self.strategies is not None else None
        return Plan(self.sampling(), shown)

    def jobs(self, iteration: int, tasks: int, round: int = 0) -> list[Job]:
        """Return the rollouts of an iteration: ``group`` of each of some tasks, chosen by seed and iteration."""
        rng = np.random.default_rng([self.setup.seed, 2, iteration, round])
        seeds, group = rng.integers(2**31, size=tasks), self.config.group
        draws = rng.integers(2**31, size=(tasks, group))
        return [
            Job(f"{iteration}.{round}.{task}.{member}", int(seeds[task]), int(draws[task, member]))
            for task in range(tasks)
            for member in range(group)
        ]

    def collect(self, jobs: list[Job]) -> Rollouts:
        """Make the rollouts of all processes, and return them all in each."""
        workers = self._of("train", self.train_recipe)
        return self._shared(jobs, workers, self.plan, self.config.attempts)

    def _shared(self, jobs: list[Job], workers: Workers, plan: Callable[[str, Job], Plan], attempts: int) -> Rollouts:
        """Make a share of the rollouts in each process; the result does not depend on how many there are."""
        found = collect(
            jobs[self.learner.rank :: self.learner.world],
            workers,
            self.sampler,
            self.make_agent,
            plan,
            attempts=attempts,
            version=self.learner.version,
        )
        if self.learner.world > 1:
            everything = self.learner.gathered(found.transitions)
            order = {job.episode: place for place, job in enumerate(jobs)}
            found.transitions = sorted(everything, key=lambda step: (order[step.episode], step.step))
            found.faults = dict(self.learner.gathered(list(found.faults.items())))
        return found

    def evaluate(self, stage: str, iteration: int) -> dict[str, float]:
        """Play the tasks of evaluations without learning, write what came of each, and return the means."""
        config = self.config
        how = Sampling(config.eval_temperature, max_tokens=config.max_tokens)
        jobs = [Job(f"evaluation {place}", EVALUATION_SEED + place, place) for place in range(config.eval_episodes)]
        workers = self._of("evaluate", self.evaluation_recipe)
        found = require(self._shared(jobs, workers, lambda task_id, job: Plan(how), 1))
        episodes = [
            {
                "task_id": found.transitions[places[0]].task_id,
                "success": found.transitions[places[0]].success,
                "steps": len(places),
            }
            for places in trajectories(found.transitions)
        ]
        numbers = {
            "success": float(np.mean([episode["success"] for episode in episodes])),
            "episodes": float(len(episodes)),
            "faults": float(len(found.faults)),
            "steps": float(np.mean([episode["steps"] for episode in episodes])),
            **exploration(found.transitions),
            **{f"seconds/{name}": value for name, value in found.seconds.items()},
        }
        if self.first:
            row = {"stage": stage, "iteration": iteration, "options": dict(self.setup.evaluate), "episodes": episodes}
            with (self.folder / "evaluations.jsonl").open("a", encoding="utf-8") as file:
                file.write(json.dumps(row) + "\n")
        self.log(f"{stage}-evaluation", iteration, numbers)
        return numbers

    def _of(self, name: str, recipe: EnvRecipe) -> Workers:
        if name not in self._workers:
            setup = self.setup
            if setup.workers == "serial":
                self._workers[name] = Serial(recipe, setup.slots)
            elif setup.workers == "threads":
                self._workers[name] = Threads(recipe, setup.slots, timeout=setup.timeout)
            else:
                self._workers[name] = Processes(recipe, setup.slots, per_process=16, timeout=setup.timeout)
        return self._workers[name]

    def close(self) -> None:
        """Close environments, sampler and sinks; safe to call twice."""
        for workers in self._workers.values():
            workers.close()
        if self.sampler is not None:
            self.sampler.close()
        if self.metrics is not None:
            self.metrics.close()


def save_model(learner: Learner, folder: Path) -> None:
    """Write the model as a transformers folder that loads anywhere, LoRA merged, unless it is there; complete or not at all."""
    if folder.exists():
        return
    draft = folder.with_name(folder.name + ".part")
    model = learner.loaded.model
    model = plain_copy(model) if is_adapted(model) else model
    with no_progress_bar(import_transformers()):
        model.save_pretrained(draft)
    learner.loaded.tokenizer.save_pretrained(draft)
    if learner.loaded.processor is not None:
        learner.loaded.processor.save_pretrained(draft)
    draft.rename(folder)


def reload(run: Run, folder: Path) -> Loaded:
    """Read a model that `save_model` wrote."""
    return replace(load(str(folder), None, run.setup.dtype, None, True), name=run.loaded.name)
