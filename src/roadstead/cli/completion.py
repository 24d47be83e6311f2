"""`roadstead completion SHELL`: a script that knows every command and flag, and runs nothing."""

from typing import Annotated, Any

import typer

from roadstead.cli.main import ALIASES, COMMANDS, GROUPS, load
from roadstead.cli.options import application
from roadstead.cli.out import Screen
from roadstead.deploy.shipped import WHAT
from roadstead.errors import InputError
from roadstead.explain.ask import kinds
from roadstead.explain.subjects import CHECKS, MEANINGS
from roadstead.kube.nearest import did_you_mean

EXAMPLES = (
    "source <(roadstead completion bash)",
    "roadstead completion fish > ~/.config/fish/completions/roadstead.fish",
)
app = application()

_GROUPS = tuple(sorted(GROUPS))
SHELLS = ("bash", "zsh", "fish")


@app.command()
def completion(
    shell: Annotated[str, typer.Argument(metavar="SHELL", help="bash, zsh or fish.")],
) -> int:
    """Print the script that completes commands and flags in a shell."""
    if shell not in SHELLS:
        raise InputError(
            f"there is no completion for `{shell}`",
            hint=did_you_mean(shell.lower(), SHELLS, f"use {', '.join(SHELLS)}"),
        )
    known = {name: flags_of(load(name)[0]) for name in COMMANDS}
    known |= {alias: known[name] for alias, name in ALIASES.items()}
    Screen.here("never").write({"bash": _bash, "zsh": _zsh, "fish": _fish}[shell](known))
    return 0


def flags_of(command: Any) -> tuple[str, ...]:
    """Every flag of a command."""
    flags = {flag for one in command.params for flag in one.opts if flag.startswith("-")}
    return tuple(sorted({*flags, "--help"}))


def _bash(known: dict[str, tuple[str, ...]]) -> str:
    cases = "".join(
        f'    "{name}") words="{" ".join(flags)}{_words(name)}" ;;\n'
        for name, flags in known.items()
    )
    cases += "".join(f'    {group}) words="{" ".join(_verbs(group))}" ;;\n' for group in _GROUPS)
    firsts = dict.fromkeys(name.partition(" ")[0] for name in known)
    return (
        "_roadstead() {\n"
        '  local current="${COMP_WORDS[COMP_CWORD]}" word words=""\n'
        f'  local commands="{" ".join(firsts)}" groups="{" ".join(_GROUPS)}"\n'
        '  local command=""\n'
        '  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do\n'
        '    if [[ -n "$command" && "$word" != -* ]]; then command+=" $word"; break; fi\n'
        '    [[ -z "$command" && " $commands " == *" $word "* ]] && command="$word"\n'
        '    [[ -n "$command" && " $groups " != *" $command "* ]] && break\n'
        "  done\n"
        '  case "$command" in\n'
        f"{cases}"
        '    *) words="$commands" ;;\n'
        "  esac\n"
        '  COMPREPLY=($(compgen -W "$words" -- "$current"))\n'
        "}\n"
        "complete -o default -F _roadstead roadstead kubectl-roadstead\n"
    )


def _zsh(known: dict[str, tuple[str, ...]]) -> str:
    return (
        "#compdef roadstead kubectl-roadstead\n"
        "autoload -U +X bashcompinit && bashcompinit\n" + _bash(known)
    )


def _fish(known: dict[str, tuple[str, ...]]) -> str:
    lines = [
        f"complete -c roadstead -n __fish_use_subcommand -a {name}"
        f" -d {_quoted(COMMANDS[ALIASES.get(name, name)].gives)}"
        for name in known
        if " " not in name
    ]
    for group in _GROUPS:
        lines.append(f"complete -c roadstead -n __fish_use_subcommand -a {group}")
        alone = f"__fish_seen_subcommand_from {group}; and not __fish_seen_subcommand_from"
        lines += [
            f"complete -c roadstead -n '{alone} {' '.join(_verbs(group))}' -a {verb}"
            f" -d {_quoted(COMMANDS[f'{group} {verb}'].gives)}"
            for verb in _verbs(group)
        ]
    for name, flags in known.items():
        seen = "; and ".join(f"__fish_seen_subcommand_from {word}" for word in name.split())
        seen = f"'{seen}'"
        for flag in flags:
            form = f"-l {flag[2:]}" if flag.startswith("--") else f"-s {flag[1:]}"
            lines.append(f"complete -c roadstead -n {seen} {form}")
        if words := _words(name).strip():
            lines.append(f"complete -c roadstead -n {seen} -a '{words}'")
    return "".join(f"{line}\n" for line in lines)


def _quoted(text: str) -> str:
    """A text between single quotes, as fish reads it."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def _verbs(group: str) -> list[str]:
    """The words that may follow the first word of a group."""
    return [name.partition(" ")[2] for name in COMMANDS if name.startswith(f"{group} ")]


def _words(name: str) -> str:
    """The fixed words a command takes as its argument, each after a blank."""
    words = {
        "manifests": WHAT,
        "gateways": ("resolve", "render"),
        "completion": SHELLS,
        "docs": (*MEANINGS, *(check.name for _, check in CHECKS)),
        "why": tuple(f"{kind}/" for kind in kinds()),
        "explain": tuple(f"{kind}/" for kind in kinds()),
    }.get(name, ())
    return "".join(f" {word}" for word in words)
