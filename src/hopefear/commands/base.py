"""What a command is: a frozen dataclass whose fields are its options, in the module ``hopefear.commands.NAME``.

    class Rerank(Command[Ranking]):
        nbest: Sequence[str] = arg("Candidate lists.", default=(), file=True)
        weights: str = arg("The weights.", file=True)

        def run(self, session: Session) -> Ranking: ...

The docstring of the module is the command's help; its first line is what ``hopefear --help`` says. From the fields come
the options on the command line and their help, the settings of ``--config``, the function in Python with its signature
and docstring, the check that an option goes with another, what decides a run (``--resume``), and the reference page of
the documentation. A default is written once, in the field.
"""

from __future__ import annotations

import dataclasses
import inspect
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, ClassVar, Generic, ParamSpec, TypeVar, dataclass_transform

from hopefear.errors import OptionError, in_python, python_messages

if TYPE_CHECKING:
    from hopefear.runs.directory import Run
    from hopefear.runs.session import Session

R_co = TypeVar("R_co", covariant=True)
P = ParamSpec("P")
EMPTY: tuple[Any, ...] = (None, (), [], {}, False)


@dataclass(frozen=True)
class Arg:
    """What a field says of its option."""

    help: str
    metavar: str | None = None
    choices: tuple[str, ...] = ()
    least: float | None = None
    most: float | None = None
    file: bool = False  # names a file to read, which must exist
    folder: bool = False  # or a folder
    shown: str | None = None  # the default as the help shows it, where the value alone does not tell
    positional: bool = False
    needs: tuple[str, ...] = ()  # it goes with any of these fields only
    decides: bool = False  # it decides the result: a run is resumed under the same value only
    several: bool = False  # takes several values, where the type does not say so
    repeated: bool = False  # several values, each after the option's name: arguments may follow it
    python: bool = False  # a parameter of the Python function only
    terminal: bool = False  # for the command line only, no parameter of the Python function


def arg(
    help: str,
    *,
    default: Any = dataclasses.MISSING,
    needs: str | Sequence[str] = (),
    kw_only: bool | None = None,
    **more: Any,
) -> Any:
    """A field of a command: its help, its default (without one it is required), and whatever else :class:`Arg` has.

    With ``kw_only=False``, as arguments of the command line have it, the function in Python takes it without its name.
    """
    kw_only = not more.get("positional") if kw_only is None else kw_only
    option = Arg(help, needs=(needs,) if isinstance(needs, str) else tuple(needs), **more)
    return field(default=default, kw_only=kw_only, metadata={"arg": option})


def flag_of(name: str) -> str:
    """The option of a field: ``dev_refs`` is ``--dev-refs``."""
    return "--" + name.strip("_").replace("_", "-")


@dataclass_transform(kw_only_default=True, frozen_default=True, field_specifiers=(arg,))
@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Command(Generic[R_co]):
    """A command; subclasses add their options as fields, and ``run``."""

    examples: ClassVar[str] = ""
    python: ClassVar[str] = ""  # the example in the docstring of the function

    seed: int = arg("The random seed.", default=1, least=0, decides=True)
    jobs: int = arg("Threads or processes; 0: one per core.", default=0, least=0)

    def __init_subclass__(cls, **more: Any) -> None:
        super().__init_subclass__(**more)
        if cls.__doc__ is None:
            cls.__doc__ = sys.modules[cls.__module__].__doc__
        dataclass(frozen=True, kw_only=True, repr=False, eq=False)(cls)

    def __post_init__(self) -> None:
        for each in fields(self):
            value = getattr(self, each.name)
            if many(each) and hasattr(value, "tolist"):  # an array or an index
                object.__setattr__(self, each.name, value.tolist())
            elif many(each) and (isinstance(value, str) or not isinstance(value, Iterable | type(None))):  # one will do
                object.__setattr__(self, each.name, (value,))
            elif many(each) and value is None:
                object.__setattr__(self, each.name, ())
            else:
                _check_number(each, value)
        self.check()
        self.check_needs(each.name for each in fields(self) if self.given(each.name))

    def check_needs(self, given: Iterable[str]) -> None:
        """Complain about an option that was given without those that it goes with."""
        by_name = {each.name: each for each in fields(self)}
        needs = {name: about(each).needs for name, each in by_name.items()}
        for name in given:
            known = {other: each for other in needs[name] if (each := by_name.get(other)) is not None}
            if needs[name] and not any(self.given(other) for other in known):
                *most, last = [flag_of(other) for other, each in known.items() if not about(each).python]
                others = f"{', '.join(most)} and {last}" if most else last
                raise OptionError(f"{flag_of(name)} goes with {others} only.")

    def given(self, name: str) -> bool:
        """Whether an option has another value than its default."""
        value = getattr(self, name)
        if any(value is empty for empty in EMPTY) or (isinstance(value, list | tuple | dict) and not value):
            return False
        default = next(each.default for each in fields(self) if each.name == name)
        return default is dataclasses.MISSING or value is not default

    def _has(self, name: str) -> bool:
        return hasattr(self, name) and self.given(name)

    def check(self) -> None:
        """Complain about options that do not go together; ``needs`` of the fields is checked already."""

    def run(self, session: Session) -> R_co:
        """Do the work. Messages go to the session; the result prints itself."""
        raise NotImplementedError

    def as_json(self, result: Any) -> Any:
        """What ``--json`` prints, for commands that have it."""
        return result.record()

    def printed(self, result: Any) -> Any:
        """The output for the terminal: a text, an iterator of pieces of text, or None."""
        return result

    def decisive(self) -> dict[str, Any]:
        """The options that decide the result, without those that do nothing here: what they go with is not given."""
        values = {
            each.name: getattr(self, each.name)
            for each in fields(self)
            if about(each).decides and (not about(each).needs or any(map(self._has, about(each).needs)))
        }
        return {name: value for name, value in values.items() if value not in (None, ())}

    def files(self) -> dict[str, Any]:
        """The options that name files to read: the roles of the inputs."""
        return {each.name: getattr(self, each.name) for each in fields(self) if about(each).file}


class RunCommand(Command[R_co]):
    """A command that leaves a run directory."""

    out: str = arg("The run directory to make.", metavar="RUN")
    resume: bool = arg("Continue an interrupted run.", default=False)
    overwrite: bool = arg("Replace an existing run.", default=False)
    track: Sequence[Any] = arg(
        "Also log the run to mlflow, wandb, or your own module:Class.", default=(), metavar="NAME"
    )

    def check_out(self, session: Session) -> None:
        """Raise early what ``open_run`` would raise, and warn if there is no run to resume."""
        from pathlib import Path

        from hopefear.runs.directory import Run

        Run.check(self.out, resume=self.resume, overwrite=self.overwrite)
        if self.resume and not (Path(self.out) / "run.json").exists():
            session.warn(f"--resume: there is no run in {self.out}, so a new one begins")

    def open_run(self, kind: str, settings: Mapping[str, Any], session: Session) -> Run:
        from hopefear.runs.directory import Run
        from hopefear.runs.tracking import tracker

        trackers = [tracker(given) for given in self.track]
        how = {"resume": self.resume, "overwrite": self.overwrite}
        run = Run.open(self.out, kind=kind, command=session.command, settings=settings, **how)
        run.track(trackers, session.listen)
        return run


def about(each: dataclasses.Field[Any]) -> Arg:
    """What a field says of its option."""
    option: Arg = each.metadata["arg"]
    return option


def _check_number(each: dataclasses.Field[Any], value: Any) -> None:
    """Complain about what is no number, or beyond the limits of the option."""
    least, most = about(each).least, about(each).most
    if value is None or (least is None and most is None):
        return
    if not isinstance(value, int | float) or (str(each.type).startswith("int") and int(value) != value):
        raise OptionError(f"{flag_of(each.name)} is a number, not {value!r}.")
    if (least is not None and value < least) or (most is not None and value > most):
        limits = f"{least:g} or more" if most is None else f"between {least:g} and {most:g}"
        raise OptionError(f"{flag_of(each.name)} must be {limits}, not {value}.")


def required(each: dataclasses.Field[Any]) -> bool:
    """Whether an option must be given."""
    return each.default is dataclasses.MISSING


def many(each: dataclasses.Field[Any]) -> bool:
    """Whether an option takes several values."""
    return about(each).several or str(each.type).startswith("Sequence")


def placeholder(each: dataclasses.Field[Any]) -> str:
    """An argument as the usage line shows it: ``MODEL``, ``[FILE...]``."""
    word = (about(each).metavar or each.name.upper()) + ("..." if many(each) else "")
    return word if required(each) else f"[{word}]"


def options(command: type[Command[Any]]) -> list[dataclasses.Field[Any]]:
    """The fields of a command as its help lists them: arguments, its own, those of runs, those of every command."""
    ranks = {each.name: 1 for each in fields(RunCommand)} | {each.name: 2 for each in fields(Command)}
    return sorted(fields(command), key=lambda each: (not about(each).positional, ranks.get(each.name, 0)))


def command_line(command: Command[Any]) -> str:
    """The command as a user would type it: the options that differ from their defaults."""
    import shlex

    arguments, words = [], []
    for each in options(type(command)):
        value = getattr(command, each.name)
        if not command.given(each.name) or value == each.default:
            continue
        texts = [str(item) for item in value] if many(each) else [] if value is True else [str(value)]
        if about(each).positional:
            arguments += texts
        else:
            words += [flag_of(each.name), *texts]
    return shlex.join(["hopefear", name_of(type(command)), *arguments, *words])


def function(command: Callable[P, Command[R_co]]) -> Callable[P, R_co]:
    """The command as a Python function: options are keyword arguments, warnings are Python warnings."""
    kind: Any = command

    def call(*args: P.args, **given: P.kwargs) -> R_co:
        unnamed = [each.name for each in options(kind) if not each.kw_only]
        if len(args) > len(unnamed):
            raise TypeError(f"{name_of(kind)}() takes {len(unnamed)} arguments without a name, not {len(args)}")
        result: R_co = run_here(kind, {**dict(zip(unnamed, args, strict=False)), **given})
        return result

    call.__name__ = call.__qualname__ = name_of(kind)
    call.__module__ = kind.__module__
    call.__doc__ = docstring(kind)
    call.__signature__ = signature(kind)  # type: ignore[attr-defined]
    call.__annotations__ = {"return": call.__signature__.return_annotation}  # type: ignore[attr-defined]
    return call


def name_of(command: type[Command[Any]]) -> str:
    """A command is called as its module is: ``commands/tune.py`` is ``tune``."""
    return command.__module__.rpartition(".")[2].strip("_").replace("_", "-")


def signature(command: type[Command[Any]]) -> inspect.Signature:
    """The parameters of the function."""
    parameters = [
        inspect.Parameter(
            each.name,
            inspect.Parameter.KEYWORD_ONLY if each.kw_only else inspect.Parameter.POSITIONAL_OR_KEYWORD,
            default=inspect.Parameter.empty if required(each) else each.default,
            annotation=each.type,
        )
        for each in options(command)
        if not about(each).terminal
    ]
    returned = command.run.__annotations__.get("return", inspect.Signature.empty)
    return inspect.Signature(sorted(parameters, key=lambda parameter: parameter.kind), return_annotation=returned)


def run_here(command: type[Command[Any]], given: Mapping[str, Any]) -> Any:
    """Run a command in Python."""
    import warnings

    from hopefear.runs.events import Event, Warned
    from hopefear.runs.session import Session

    def listen(event: Event) -> None:
        if isinstance(event, Warned):
            warnings.warn(in_python(event.text), stacklevel=_callers_level())

    with python_messages():
        return made(command, given).run(Session(listen))


def _callers_level() -> int:
    """How many frames above the one that asks the user's code is, for ``warnings.warn``."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and str(frame.f_globals.get("__name__")).startswith("hopefear."):
        level, frame = level + 1, frame.f_back
    return level


def made(command: type[Command[Any]], given: Mapping[str, Any]) -> Command[Any]:
    """A command with these options. Complains about options it does not have and about those that are missing."""
    from hopefear.util.messages import suggestion

    name = name_of(command)
    known = [each for each in fields(command) if not about(each).terminal]
    names = [each.name for each in known]
    for wrong in given:
        if wrong not in names:
            raise OptionError(f"{name}() has no option {wrong!r}.{suggestion(wrong, names)}")
    for each in known:
        if required(each) and each.name not in given:
            raise OptionError(f"{name}() needs {each.name}: {about(each).help[0].lower()}{about(each).help[1:]}")
    made = command(**given)
    made.check_needs(given)  # also of options that were given the value of their default
    return made


def docstring(command: type[Command[Any]]) -> str:
    """The docstring of the function: what the command says of itself, then its options."""
    import textwrap

    lines = [inspect.cleandoc(command.__doc__ or ""), ""]
    lines += [inspect.cleandoc(command.python), ""] if command.python else []
    lines += ["Options:", ""]
    for each in options(command):
        if about(each).terminal:
            continue
        text = f"{each.name}: {about(each).help}{default_text(each)}"
        lines += textwrap.wrap(text, 100, initial_indent="  ", subsequent_indent="      ")
    return "\n".join(lines)


def default_text(each: dataclasses.Field[Any]) -> str:
    """The default as help shows it, with a blank before it; nothing where there is none."""
    option = about(each)
    if option.shown is not None:
        return f" [{option.shown}]" if option.shown else ""
    if isinstance(each.default, bool) or each.default in (None, (), dataclasses.MISSING):
        return ""
    return f" [{each.default:g}]" if isinstance(each.default, float) else f" [{each.default}]"
