"""q_phi as a language model: the policy's initial weights with an adapter, or a full copy of them, trained on successes.

The prompt is the plain text of the state, without chat template or special tokens; the target is `Insight.target`. Both are
tokenized by themselves, so a text has the same tokens in every state. What is EAPO's released recipe and what is ours is
said where it is done.
"""

from __future__ import annotations

import copy
import json
import math
import os
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from backtrail.agents.models.hf_load import Loaded, import_transformers
from backtrail.training.config import Config
from backtrail.training.learner import Row, micro_batches
from backtrail.training.lora import plain_copy, with_adapter
from backtrail.training.posterior import FORMAT, Insight, Posterior, Replay, Scores, held_out
from backtrail.training.posterior_model import fingerprint, kl_per_token, target_logprobs, target_sums

if TYPE_CHECKING:
    import torch

__all__ = ["LMPosterior"]

CLIP = 1.0  # largest norm of a gradient: the released code's


class LMPosterior(Posterior):
    """A causal language model as the posterior.

    With `config.posterior_rank` above 0 it is a LoRA adapter on all linear layers of a frozen copy of the model, and the
    prior is the copy without the adapter. With 0 it is a trained copy beside a frozen one (the released code). The given
    model is never changed. No global random generator is used; the same seed, device and calls give the same numbers.
    """

    FILE = "posterior.safetensors"

    def __init__(
        self,
        loaded: Loaded,
        config: Config,
        seed: int = 0,
        *,
        batch: int = 64,
        sample: int = 64,
        per_task: int = 32,
    ):
        """Copy the model as it is now.

        Args:
            loaded: The policy before training; an adapter in it is merged into the copy.
            config: Its posterior_*, next_tokens and micro_tokens; as many older successes as ``posterior_rows`` join an update.
            seed: Of the adapter's first weights and of all draws.
            batch: Texts of one optimiser step of `update`.
            sample: Texts that the trust region and the held-out likelihood are measured on.
            per_task: See `Replay`.

        Raises:
            gymnasium.error.DependencyNotInstalled: If torch, transformers or peft is missing.
        """
        import_transformers()
        import torch

        self._config, self._tokenizer = config, loaded.tokenizer
        self._batch, self._limit, self._sample = batch, config.posterior_rows, sample
        self._rng = np.random.default_rng(seed)
        self._replay, self._unseen = Replay(per_task), Replay(per_task)
        base = plain_copy(loaded.model).requires_grad_(False).eval()
        self._base_hash = fingerprint(base)
        if config.posterior_rank:
            self._model, self._prior = with_adapter(base, config.posterior_rank, seed), None
        else:
            self._model, self._prior = copy.deepcopy(base).requires_grad_(True), base
        self._parameters = {name: p for name, p in self._model.named_parameters() if p.requires_grad}
        self._optimizer = torch.optim.AdamW(self._parameters.values(), lr=config.posterior_lr, weight_decay=0.0)

    def cut(self, text: str) -> str:
        """Return the first `config.next_tokens` tokens of an observation as text, all of it if it has no more."""
        ids = self._tokenizer(text, add_special_tokens=False)["input_ids"]
        if len(ids) <= self._config.next_tokens:
            return text
        start = self._tokenizer.decode(ids[: self._config.next_tokens], clean_up_tokenization_spaces=False)
        return start.rstrip("\ufffd").strip()  # a cut within a character; a space that some tokenizers put first

    def score(self, items: Sequence[Insight], *, prior: bool = False) -> Scores:
        """See `Posterior.score`; equal texts are computed once."""
        places = {item: place for place, item in enumerate(dict.fromkeys(items))}
        rows, order = self._rows(list(places)), np.array([places[item] for item in items], np.int64)
        tokens = np.array([len(row.token_ids) for row in rows], np.int64)
        logq, logp = self._sums(self._model, rows), None
        if prior:
            with self._prior_model() as model:
                logp = self._sums(model, rows)[order]
        return Scores(logq[order], tokens[order], logp)

    def _rows(self, items: Sequence[Insight]) -> list[Row]:
        if not items:
            return []
        prompts = self._tokenizer([f"{item.state}\n" for item in items], add_special_tokens=False)["input_ids"]
        targets = self._tokenizer([item.target for item in items], add_special_tokens=False)["input_ids"]
        return [Row(tuple(prompt), tuple(target)) for prompt, target in zip(prompts, targets, strict=True)]

    def _sums(self, model: Any, rows: Sequence[Row]) -> np.ndarray:
        return target_sums(model, rows, self._config.micro_tokens)

    @contextmanager
    def _prior_model(self) -> Generator[Any]:
        if self._prior is not None:
            yield self._prior
        else:
            with self._model.disable_adapter():
                yield self._model

    def update(self, items: Sequence[Insight], outcomes: np.ndarray, tasks: Sequence[str]) -> dict[str, float]:
        """Take one pass over the batch and as many older successes, unless it changes the posterior too much. Ours.

        The loss of a text of n tokens with outcome Q, b the mean outcome of what may be trained on, is

            -(Q - b) log q / n + posterior_kl * KL(q || prior) / n

        averaged over texts; the KL is exact over the vocabulary, summed over the target's tokens. Older successes have
        Q = 1. Texts of held-out tasks are never trained on. If afterwards the mean KL(q_new || q_old) per token, exact over
        the vocabulary, exceeds `config.posterior_trust` on a sample of the batch, weights and optimiser are put back.

        Returns:
            "posterior/steps" (of the optimiser), "posterior/nll" (nats per token of the successes trained on, before their
            step), "posterior/prior_kl", "posterior/grad_norm" (means over texts and steps), "posterior/trust_kl",
            "posterior/rejected" (0 or 1), "posterior/replay" (texts), "posterior/heldout_nll" (nats per token of successes
            of held-out tasks, after the update). NaN for what was not measured.
        """
        outcomes = np.asarray(outcomes, np.float64)
        if not len(items) == len(outcomes) == len(tasks):
            raise ValueError(
                f"Expected as many outcomes and tasks as texts, got {len(items)}, {len(outcomes)}, {len(tasks)}"
            )
        fresh = [place for place, task in enumerate(tasks) if not held_out(task)]
        baseline = float(outcomes[fresh].mean()) if fresh else 0.0
        fresh = [fresh[place] for place in self._rng.permutation(len(fresh))[: self._limit]]
        older = self._replay.draw(len(fresh), self._rng)
        for item, outcome, task in zip(items, outcomes, tasks, strict=True):
            if outcome >= 0.5:
                (self._unseen if held_out(task) else self._replay).add(task, item)
        rows = self._rows([items[place] for place in fresh] + older)
        weights = np.concatenate([outcomes[fresh] - baseline, np.full(len(older), 1.0 - baseline)])
        metrics = dict.fromkeys(("nll", "prior_kl", "grad_norm", "trust_kl"), math.nan) | {
            "steps": 0.0,
            "rejected": 0.0,
        }
        if weights.any():  # else only the KL would move it
            probe = self._rng.permutation(len(items))[: self._sample]
            before = self._values(), copy.deepcopy(self._optimizer.state_dict())
            metrics |= self._train(rows, weights)
            metrics["trust_kl"] = self._moved(self._rows([items[place] for place in probe]), before[0])
            if not metrics["trust_kl"] <= self._config.posterior_trust:  # also if it is NaN
                self._put_back(*before)
                metrics["rejected"] = 1.0
        metrics |= {"replay": float(len(self._replay.items())), "heldout_nll": self._heldout()}
        return {f"posterior/{name}": value for name, value in metrics.items()}

    def _train(self, rows: Sequence[Row], weights: np.ndarray) -> dict[str, float]:
        order = self._rng.permutation(len(rows))
        parts = [order[start : start + self._batch] for start in range(0, len(order), self._batch)]
        nll, divergence, norms = np.zeros(len(rows)), np.zeros(len(rows)), []
        for part in parts:
            self._optimizer.zero_grad()
            for chunk in micro_batches([rows[place] for place in part], self._config.micro_tokens):
                places = part[chunk]
                nll[places], divergence[places] = self._backward(
                    [rows[place] for place in places], weights[places], len(part)
                )
            norms.append(self._step())
        won = weights > 0
        return {
            "steps": float(len(parts)),
            "nll": float(nll[won].mean()) if won.any() else math.nan,
            "prior_kl": float(divergence.mean()),
            "grad_norm": float(np.mean(norms)),
        }

    def _backward(self, rows: Sequence[Row], weights: np.ndarray, batch: int) -> tuple[np.ndarray, np.ndarray]:
        """Add the gradient of these rows' share of a batch; return their NLL and KL to the prior, per token."""
        import torch

        lengths = [len(row.token_ids) for row in rows]
        if self._config.posterior_kl:
            with torch.no_grad(), self._prior_model() as model:
                prior, _ = target_logprobs(model, rows)
        else:
            prior = None  # not worth a forward pass
        logprobs, chosen = target_logprobs(self._model, rows)
        nll = -torch.stack([row.mean() for row in chosen.split(lengths)])
        loss = (torch.tensor(weights, dtype=nll.dtype, device=nll.device) * nll).sum()
        divergence = torch.full_like(nll, torch.nan)
        if prior is not None:
            divergence = torch.stack([row.mean() for row in kl_per_token(logprobs, prior).split(lengths)])
            loss = loss + self._config.posterior_kl * divergence.sum()
        (loss / batch).backward()
        return nll.detach().cpu().numpy(), divergence.detach().cpu().numpy()

    def _step(self) -> float:
        import torch

        norm = torch.nn.utils.clip_grad_norm_(self._parameters.values(), CLIP)
        self._optimizer.step()
        self._optimizer.zero_grad()
        return float(norm)

    def _values(self) -> list[torch.Tensor]:
        return [parameter.detach().clone() for parameter in self._parameters.values()]

    def _put_back(self, values: Sequence[torch.Tensor], optimizer: dict[str, Any] | None = None) -> None:
        import torch

        with torch.no_grad():
            for parameter, value in zip(self._parameters.values(), values, strict=True):
                parameter.copy_(value)
        if optimizer is not None:
            self._optimizer.load_state_dict(optimizer)

    def _moved(self, rows: Sequence[Row], before: Sequence[torch.Tensor]) -> float:
        """Return the mean KL(now || before) per target token."""
        import torch

        now, total = self._values(), 0.0
        with torch.no_grad():
            for chunk in micro_batches(rows, self._config.micro_tokens):
                part = [rows[place] for place in chunk]
                new, _ = target_logprobs(self._model, part)
                self._put_back(before)
                old, _ = target_logprobs(self._model, part)
                self._put_back(now)
                total += float(kl_per_token(new, old).double().sum())
        return total / sum(len(row.token_ids) for row in rows)

    def _heldout(self) -> float:
        latest = self._unseen.items()[-self._sample :]
        if not latest:
            return math.nan
        scores = self.score(latest)
        return float(-scores.logq.sum() / scores.tokens.sum())

    def score_released(
        self, now: Sequence[Insight], following: Sequence[Insight | None], outcomes: np.ndarray
    ) -> tuple[Scores, Scores]:
        """See `Posterior.score_released`: REINFORCE, one step for each text, without baseline, replay or trust region.

        The signal is Q - posterior_kl (log q - log p), detached; the loss -signal log q, summed over tokens. The released
        code has learning rate 1e-4, a KL weight of 1 and full copies. Where it runs several workers each has a posterior of
        its own; here there is one, so its scores depend on the order of the samples only.
        """
        then = [item for item in following if item is not None]
        shape = (2, len(now))
        logq, logp, tokens = np.full(shape, np.nan), np.full(shape, np.nan), np.zeros(shape, np.int64)
        first, second = iter(self._rows(now)), iter(self._rows(then))
        for place, (_, extended, outcome) in enumerate(zip(now, following, outcomes, strict=True)):
            rows = [next(first), *([next(second)] if extended is not None else [])]
            with self._prior_model() as model:
                priors = [float(self._sums(model, [row])[0]) for row in rows]
            for row, prior in zip(rows, priors, strict=True):
                self._reinforce(row, prior, float(outcome))
            for term, (row, prior) in enumerate(zip(rows, priors, strict=True)):
                logq[term, place], logp[term, place] = self._sums(self._model, [row])[0], prior
                tokens[term, place] = len(row.token_ids)
        return Scores(logq[0], tokens[0], logp[0]), Scores(logq[1], tokens[1], logp[1])

    def _reinforce(self, row: Row, prior: float, outcome: float) -> None:
        self._optimizer.zero_grad()
        loss = -target_logprobs(self._model, [row])[1].sum()
        ((outcome - self._config.posterior_kl * (-loss.item() - prior)) * loss).backward()
        self._step()

    def save(self, folder: str | Path) -> None:
        """See `Posterior.save`; the frozen weights are not in it."""
        from safetensors.torch import save_file

        tensors = {f"model.{name}": parameter.detach().contiguous() for name, parameter in self._parameters.items()}
        state = self._optimizer.state_dict()["state"]
        for place, name in enumerate(self._parameters):
            for key, value in state.get(place, {}).items():
                tensors[f"optimizer.{key}.{name}"] = value
        extra = {
            "format": FORMAT,
            "base": self._base_hash,
            "rng": self._rng.bit_generator.state,
            "replay": self._replay.to_json(),
            "unseen": self._unseen.to_json(),
        }
        path = Path(folder) / self.FILE
        draft = path.with_name(path.name + ".part")
        save_file(tensors, draft, metadata={"posterior": json.dumps(extra)})
        os.replace(draft, path)

    def restore(self, folder: str | Path) -> None:
        """See `Posterior.restore`; the posterior must have been made from the same weights and with the same rank."""
        from safetensors import SafetensorError, safe_open

        path = Path(folder) / self.FILE
        try:
            with safe_open(path, framework="pt") as file:
                extra = json.loads(file.metadata()["posterior"])
                tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118  # not a dict
            if extra["format"] != FORMAT:
                raise ValueError(f"format {extra['format']!r}")
        except (SafetensorError, ValueError, KeyError, TypeError) as error:
            raise ValueError(f"Expected a posterior (format {FORMAT}) in {path}: {error!r}") from error
        shapes = {name[6:]: value.shape for name, value in tensors.items() if name.startswith("model.")}
        wanted = {name: parameter.shape for name, parameter in self._parameters.items()}
        if extra["base"] != self._base_hash or shapes != wanted:
            raise ValueError(
                f"Expected the state of a posterior with rank {self._config.posterior_rank} on these weights in {path}, got "
                "another; make it from the model as it was before the first update, then restore"
            )
        state: dict[int, dict[str, torch.Tensor]] = {}
        for place, name in enumerate(self._parameters):
            for key in ("step", "exp_avg", "exp_avg_sq"):
                if (value := tensors.get(f"optimizer.{key}.{name}")) is not None:
                    state.setdefault(place, {})[key] = value
        groups = self._optimizer.state_dict()["param_groups"]
        self._put_back([tensors[f"model.{name}"] for name in wanted], {"state": state, "param_groups": groups})
        self._rng.bit_generator.state = extra["rng"]
        self._replay.from_json(extra["replay"])
        self._unseen.from_json(extra["unseen"])

    def close(self) -> None:
        """Free the weights."""
        del self._model, self._prior, self._parameters, self._optimizer
