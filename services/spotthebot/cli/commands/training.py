"""`stb bots train` and `stb fed train-scorer`: train a model on a corpus."""

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bars

from spotthebot.kit.errors import Invalid
from spotthebot.local import sample
from spotthebot.local.progress import screen
from spotthebot.local.training.corpus import Corpus, read_corpus, with_validation
from spotthebot.local.training.errors import TrainingStopped
from spotthebot.local.training.options import ModelKind, Size, TrainingOptions, preset
from spotthebot.local.training.progress import Progress
from spotthebot.local.training.train import train

OutFolder = Annotated[Path, typer.Option(help="Folder of the trained model; new, or with --resume an unfinished one.")]
ModelSize = Annotated[Size, typer.Option(help="tiny trains in a minute or so, paper needs a GPU.")]
Epochs = Annotated[int | None, typer.Option(min=1, help="Times that the corpus is gone through.")]
Steps = Annotated[int | None, typer.Option(min=1, help="Batches after which training ends at the latest.")]
Seed = Annotated[int, typer.Option(min=0, max=2**62, help="Same seed, same data: same model on a CPU.")]
Device = Annotated[str, typer.Option(help="cpu, cuda, cuda:1 ...")]
Resume = Annotated[bool, typer.Option("--resume", help="Resume the training in the folder.")]
CORPUS = "File of JSON Lines with 'turns', or a folder of such files; 'sample' is the suite's own."


def train_model(
    model: Annotated[ModelKind, typer.Argument(help="One of the pool of the paper 'Spot The Bot'.")],
    corpus: Annotated[str, typer.Option(help=CORPUS)],
    out: OutFolder,
    size: ModelSize = Size.TINY,
    epochs: Epochs = None,
    steps: Steps = None,
    layers: Annotated[int | None, typer.Option(min=1, help="Layers of the network.")] = None,
    width: Annotated[int | None, typer.Option(min=2, help="Width of each layer.")] = None,
    vocabulary: Annotated[int | None, typer.Option(min=300, help="Tokens to know at most.")] = None,
    batch_size: Annotated[int | None, typer.Option(min=2, help="Examples in a batch.")] = None,
    pretrained: Annotated[
        str | None, typer.Option("--from", help="Folder of pretrained weights: GPT-2's for gpt, BERT's for bert_rank.")
    ] = None,
    word_vectors: Annotated[str | None, typer.Option(help="File of word vectors, as fastText's .vec: s2, dr.")] = None,
    learning_rate: Annotated[float | None, typer.Option(min=0, max=1, help="Of the optimiser.")] = None,
    checkpoint_every: Annotated[int | None, typer.Option(min=1, help="Steps between two checkpoints.")] = None,
    seed: Seed = 0,
    device: Device = "cpu",
    resume: Resume = False,
) -> None:
    """Train a model on a corpus. Ctrl-C saves a checkpoint, from which --resume continues."""
    if not model.is_bot:
        raise NotABot(model=model.value)
    if pretrained is not None and (layers or width or vocabulary):
        raise SizesAreGiven(folder=pretrained)
    given = {
        "epochs": epochs,
        "max_steps": steps,
        "layers": layers,
        "width": width,
        "vocabulary": vocabulary,
        "batch_size": batch_size,
        "pretrained": pretrained,
        "word_vectors": word_vectors,
        "learning_rate": learning_rate,
        "checkpoint_every": checkpoint_every,
    }
    _train(model, size, corpus, out, {**given, "seed": seed, "device": device}, resume=resume)


def train_scorer(
    corpus: Annotated[str, typer.Argument(help=CORPUS)],
    out: OutFolder,
    size: ModelSize = Size.TINY,
    epochs: Epochs = None,
    steps: Steps = None,
    seed: Seed = 0,
    device: Device = "cpu",
    resume: Resume = False,
) -> None:
    """Train a language model for FED on a corpus. Ctrl-C saves a checkpoint, from which --resume continues."""
    given = {"epochs": epochs, "max_steps": steps, "seed": seed, "device": device}
    _train(ModelKind.SCORER, size, corpus, out, given, resume=resume)


class NotABot(Invalid):
    """'{model}' scores dialogues and can't be trained as a bot: train it with './stb fed train-scorer'."""


class SizesAreGiven(Invalid):
    """The weights in {folder} have their own sizes: leave out --layers, --width and --vocabulary."""


def _train(
    model: ModelKind, size: Size, corpus: str, out: Path, given: Mapping[str, int | float | str | None], *, resume: bool
) -> None:
    changed = {name: value for name, value in given.items() if value is not None}
    options = _with(preset(model, size), changed)
    data = corpus_named(corpus)
    with _training_display(model) as show:
        try:
            card = train(
                model,
                data.dialogues,
                out,
                options,
                corpus=data.name,
                today=datetime.now(UTC).date(),
                on_progress=show,
                resume=resume,
            )
        except TrainingStopped as stopped:
            screen.print(stopped.detail, highlight=False, soft_wrap=True)
            raise typer.Exit(130) from stopped
    screen.print(
        f"Trained {model.value} ({card.parameters:,} parameters, {card.steps:,} steps): {out}",
        highlight=False,
        soft_wrap=True,
    )


def _with(options: TrainingOptions, changed: dict[str, int | float | str]) -> TrainingOptions:
    change: Callable[..., TrainingOptions] = replace  # the names were checked above
    return change(options, **changed)


def corpus_named(name: str) -> Corpus:
    """Return the corpus in a file or folder, or the sample; raises CorpusMissing, CorpusMalformed and CorpusEmpty."""
    if name != sample.NAME:
        return read_corpus(Path(name))
    dialogues = [each for each in sample.sample_dialogues() if each["split"] == "train"]
    return with_validation(sample.NAME, {"train": [tuple(each["turns"]) for each in dialogues]})


@contextmanager
def _training_display(model: ModelKind) -> Iterator[Callable[[Progress], None]]:
    """Show a progress bar on a terminal. Print a line after each epoch, also without a terminal."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("loss {task.fields[loss]}"),
        TextColumn("{task.fields[pace]} examples/s"),
        TimeRemainingColumn(),
    )
    with Bars(*columns, console=screen, transient=True, disable=not sys.stderr.isatty()) as bars:
        bar = bars.add_task(f"Training {model.value}", total=None, loss="...", pace="...")

        def show(progress: Progress) -> None:
            loss, pace = f"{progress.loss:.3f}", f"{progress.examples_per_second:.0f}"
            bars.update(bar, completed=progress.step, total=progress.steps, loss=loss, pace=pace)
            if progress.epoch_ended:
                screen.print(_epoch_line(progress), highlight=False)

        yield show


def _epoch_line(progress: Progress) -> str:
    validated = "" if progress.validation_loss is None else f", validation {progress.validation_loss:.3f}"
    return f"epoch {progress.epoch} of {progress.epochs}: loss {progress.loss:.3f}{validated}"
