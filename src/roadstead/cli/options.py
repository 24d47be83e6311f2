"""The flags that commands share, each spelled and explained once."""

from collections.abc import Sequence
from typing import Annotated

import typer

from roadstead.cli.out import Screen
from roadstead.errors import InputError
from roadstead.kube.nearest import did_you_mean

Namespace = Annotated[
    str,
    typer.Option("--namespace", "-n", metavar="NAME", help="The namespace that is looked at."),
]
Everywhere = Annotated[
    bool, typer.Option("--all-namespaces", "-A", help="Look at every namespace.")
]
Context = Annotated[
    str, typer.Option("--context", metavar="NAME", help="The kubeconfig's context to use.")
]
Kubeconfig = Annotated[
    str,
    typer.Option("--kubeconfig", metavar="FILE", help="The kubeconfig; else KUBECONFIG decides."),
]
Files = Annotated[
    list[str] | None,
    typer.Option(
        "--filename",
        "-f",
        metavar="PATH",
        help="A file, a folder, or `-`: the world is read from there. Repeatable.",
    ),
]
SettingsFile = Annotated[
    str,
    typer.Option("--settings", metavar="FILE", help="The flags of `run` in camelCase, as YAML."),
]
SourcesFile = Annotated[
    str,
    typer.Option(
        "--ca-sources-file",
        metavar="FILE",
        help="The engine table: where each kind of application keeps its CA.",
    ),
]
Allowed = Annotated[
    list[str] | None,
    typer.Option(
        "--allow-withdrawals",
        metavar="KIND",
        help="Let many anchors of this application kind go at once. Repeatable.",
    ),
]
Output = Annotated[
    str, typer.Option("--output", "-o", metavar="FORMAT", help="The format of the answer.")
]
Out = Annotated[
    str, typer.Option("--out", metavar="DIR", help="Write files into this folder instead.")
]
Color = Annotated[
    str, typer.Option("--color", metavar="WHEN", help="Paint: auto, always or never.")
]
NoColor = Annotated[bool, typer.Option("--no-color", help="The same as --color=never.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Leave out what is only talk.")]


def application() -> typer.Typer:
    """What a command module hangs its one function on."""
    return typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)


def screen(color: str, no_color: bool, *, quiet: bool = False) -> Screen:
    """Where a command prints.

    Raises: InputError for a word that `--color` does not know.
    """
    if color not in {"auto", "always", "never"}:
        raise InputError(f"`--color {color}` is unknown", hint="use auto, always or never")
    return Screen.here("never" if no_color else color, quiet=quiet)


def chosen(output: str, formats: Sequence[str]) -> str:
    """The format that was asked for, or the first.

    Raises: InputError for one the command does not have.
    """
    if not output:
        return formats[0]
    if output in formats:
        return output
    hint = did_you_mean(output, formats, f"use {', '.join(formats)}")
    raise InputError(f"there is no format `{output}` here", hint=hint)


def one_or_all(namespace: str, *, everywhere: bool) -> None:
    """Check that one namespace is asked for, or all.

    Raises: InputError for both.
    """
    if everywhere and namespace:
        raise InputError("--all-namespaces and --namespace exclude each other")
