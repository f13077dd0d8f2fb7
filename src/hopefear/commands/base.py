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
from hopefear.util.messages import listed

if TYPE_CHECKING:
    from hopefear.runs.directory import Run
    from hopefear.runs.session import Session

R_co = TypeVar("R_co", covariant=True)
P = ParamSpec("P")
T = TypeVar("T")
#: What other libraries call an option.
OTHER_NAMES = {"random_state": "seed", "n_jobs": "jobs", "groups": "group", "y": "outcome", "X": "table"}
EMPTY: tuple[Any, ...] = (None, (), [], {}, False)


@dataclass(frozen=True)
class Arg:
    """The option that a field declares."""

    help: str
    metavar: str | None = None
    choices: tuple[str, ...] = ()
    least: float | None = None
    most: float | None = None
    file: bool = False  # names a file to read, which must exist
    folder: bool = False  # or a folder
    shown: str | None = None  # the default as the help shows it, if not the value itself
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
    declared = Arg(help, needs=(needs,) if isinstance(needs, str) else tuple(needs), **more)
    return field(default=default, kw_only=kw_only, metadata={"arg": declared})


def flag_of(name: str) -> str:
    """The option of a field: ``dev_refs`` is ``--dev-refs``."""
    return "--" + name.strip("_").replace("_", "-")


@dataclass_transform(kw_only_default=True, frozen_default=True, field_specifiers=(arg,))
@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Command(Generic[R_co]):
    """A command; subclasses add their options as fields, and ``run``."""

    examples: ClassVar[str] = ""
    python: ClassVar[str] = ""  # the example in the docstring of the function

    seed: int = arg("The random seed.", default=1, least=0, most=2**63 - 1, decides=True)
    jobs: int = arg("Threads or processes; 0: one per core.", default=0, least=0, most=100_000)

    def __init_subclass__(cls, **more: Any) -> None:
        super().__init_subclass__(**more)
        if cls.__doc__ is None:
            cls.__doc__ = sys.modules[cls.__module__].__doc__
        dataclass(frozen=True, kw_only=True, repr=False, eq=False)(cls)

    def __post_init__(self) -> None:
        for option in fields(self):
            if many(option):
                object.__setattr__(self, option.name, _sequence(getattr(self, option.name)))
            else:
                _check_number(option, getattr(self, option.name))
        self.check()
        self.check_needs(option.name for option in fields(self) if self.given(option.name))

    def check_needs(self, given: Iterable[str]) -> None:
        """Raise an OptionError for an option that was given without those that it goes with."""
        by_name = {option.name: option for option in fields(self)}
        needs = {name: about(option).needs for name, option in by_name.items()}
        for name in given:
            known = {other: option for other in needs[name] if (option := by_name.get(other)) is not None}
            if needs[name] and not any(self.given(other) for other in known):
                others = [flag_of(other) for other, option in known.items() if not about(option).python]
                raise OptionError(f"{flag_of(name)} works only with {listed(others, 'or')}.")

    def given(self, name: str) -> bool:
        """Whether an option has another value than its default."""
        value = getattr(self, name)
        if any(value is empty for empty in EMPTY) or (isinstance(value, list | tuple | dict) and not value):
            return False
        default = next(option.default for option in fields(self) if option.name == name)
        return default is dataclasses.MISSING or value is not default

    def _has(self, name: str) -> bool:
        return hasattr(self, name) and self.given(name)

    def check(self) -> None:
        """Raise an OptionError for options that do not go together; ``needs`` of the fields is checked already."""

    def check_origin(self, *names: str) -> None:
        """Raise an OptionError unless exactly one of these options is given; the message omits those of Python only."""
        if [self.given(name) for name in names].count(True) != 1:
            python = {option.name for option in fields(self) if about(option).python}
            raise OptionError(f"give one of {', '.join(flag_of(name) for name in names if name not in python)}.")

    def as_options(self, kind: type[T], **others: Any) -> T:
        """A dataclass of options: its fields have the values of the options of their names, or those of ``others``."""
        names = {option.name for option in fields(kind) if option.init} & {option.name for option in fields(self)}  # type: ignore[arg-type]
        return kind(**{name: getattr(self, name) for name in names} | others)

    def run(self, session: Session) -> R_co:
        """Do the work. Messages go to the session; the result prints itself."""
        raise NotImplementedError

    def as_json(self, result: Any) -> Any:
        """The output of ``--json``, for commands that have it."""
        return result.record()

    def printed(self, result: Any) -> Any:
        """The output for the terminal: a text, an iterator of pieces of text, or None."""
        return result

    def decisive(self) -> dict[str, Any]:
        """The options that decide the result, without those that do nothing here: what they go with is not given."""
        values = {
            option.name: getattr(self, option.name)
            for option in fields(self)
            if about(option).decides and (not about(option).needs or any(map(self._has, about(option).needs)))
        }
        return {name: value for name, value in values.items() if value not in (None, ())}

    def files(self) -> dict[str, Any]:
        """The options that name files to read: the roles of the inputs."""
        return {option.name: getattr(self, option.name) for option in fields(self) if about(option).file}


class RunCommand(Command[R_co]):
    """A command that leaves a run directory."""

    out: str = arg("The run directory to create.", metavar="RUN")
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
            session.warn(f"--resume: there is no run in {self.out}, so a new one starts")

    def open_run(self, kind: str, settings: Mapping[str, Any], session: Session) -> Run:
        from hopefear.runs.directory import Run
        from hopefear.runs.tracking import tracker

        trackers = [tracker(given) for given in self.track]
        how = {"resume": self.resume, "overwrite": self.overwrite}
        run = Run.open(self.out, kind=kind, command=session.command, settings=settings, **how)
        run.track(trackers, session.listen)
        return run


def about(option: dataclasses.Field[Any]) -> Arg:
    """The option that a field declares."""
    declared: Arg = option.metadata["arg"]
    return declared


def _sequence(value: Any) -> Any:
    """Several values: those of an array or index as a list, a single one alone, none for None."""
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, str) or not isinstance(value, Iterable | type(None)):
        return (value,)
    return () if value is None else value


def _check_number(option: dataclasses.Field[Any], value: Any) -> None:
    """Raise an OptionError for a value that is not a number, or outside the limits of the option."""
    least, most = about(option).least, about(option).most
    if value is None or (least is None and most is None):
        return
    if not isinstance(value, int | float) or (str(option.type).startswith("int") and int(value) != value):
        raise OptionError(f"{flag_of(option.name)} is a number, not {value!r}.")
    if (least is not None and value < least) or (most is not None and value > most):
        limits = f"{least:g} or more" if most is None else f"between {least:g} and {most:g}"
        raise OptionError(f"{flag_of(option.name)} must be {limits}, not {value}.")


def required(option: dataclasses.Field[Any]) -> bool:
    """Whether an option must be given."""
    return option.default is dataclasses.MISSING


def many(option: dataclasses.Field[Any]) -> bool:
    """Whether an option takes several values."""
    return about(option).several or str(option.type).startswith("Sequence")


def placeholder(option: dataclasses.Field[Any]) -> str:
    """An argument as the usage line shows it: ``MODEL``, ``[FILE...]``."""
    word = (about(option).metavar or option.name.upper()) + ("..." if many(option) else "")
    return word if required(option) else f"[{word}]"


def options(command: type[Command[Any]]) -> list[dataclasses.Field[Any]]:
    """The fields of a command as its help lists them: arguments, its own, those of runs, those of every command."""
    ranks = {option.name: 1 for option in fields(RunCommand)} | {option.name: 2 for option in fields(Command)}
    return sorted(fields(command), key=lambda option: (not about(option).positional, ranks.get(option.name, 0)))


def command_line(command: Command[Any]) -> str:
    """The command as a user would type it: the options that differ from their defaults."""
    import shlex

    arguments, words = [], []
    for option in options(type(command)):
        value = getattr(command, option.name)
        if not command.given(option.name) or value == option.default:
            continue
        texts = [str(item) for item in value] if many(option) else [] if value is True else [str(value)]
        if about(option).positional:
            arguments += texts
        else:
            words += [flag_of(option.name), *texts]
    return shlex.join(["hopefear", name_of(type(command)), *arguments, *words])


def function(command: Callable[P, Command[R_co]]) -> Callable[P, R_co]:
    """The command as a Python function: options are keyword arguments, warnings are Python warnings."""
    from hopefear.util.messages import plural

    kind: Any = command

    def call(*args: P.args, **given: P.kwargs) -> R_co:
        unnamed = [option.name for option in options(kind) if not option.kw_only]
        if len(args) > len(unnamed):
            most = plural(len(unnamed), "argument")
            raise TypeError(f"{name_of(kind)}() takes {most} without a name, not {len(args)}")
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
            option.name,
            inspect.Parameter.KEYWORD_ONLY if option.kw_only else inspect.Parameter.POSITIONAL_OR_KEYWORD,
            default=inspect.Parameter.empty if required(option) else option.default,
            annotation=option.type,
        )
        for option in options(command)
        if not about(option).terminal
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
    """A command with these options; an OptionError for unknown and for missing ones."""
    name = name_of(command)
    known = [option for option in fields(command) if not about(option).terminal]
    names = [option.name for option in known]
    for wrong in given:
        if wrong not in names:
            raise no_option(name, wrong, names)
    for option in known:
        if required(option) and option.name not in given:
            raise OptionError(f"{name}() needs {option.name}: {about(option).help[0].lower()}{about(option).help[1:]}")
    made = command(**given)
    made.check_needs(given)  # also of options that were given the value of their default
    return made


def no_option(function: str, wrong: str, known: Iterable[str]) -> OptionError:
    """What to say of an option that a function does not have."""
    from hopefear.util.messages import suggestion

    known = list(known)
    meant = next((f" Did you mean {name!r}?" for name in [OTHER_NAMES.get(wrong)] if name in known), "")
    return OptionError(f"{function}() has no option {wrong!r}.{meant or suggestion(wrong, known)}")


def docstring(command: type[Command[Any]]) -> str:
    """The docstring of the function: that of the command, then its options."""
    import textwrap

    lines = [inspect.cleandoc(command.__doc__ or ""), ""]
    lines += [inspect.cleandoc(command.python), ""] if command.python else []
    lines += ["Options:", ""]
    for option in options(command):
        if about(option).terminal:
            continue
        text = f"{option.name}: {about(option).help}{default_text(option)}"
        lines += textwrap.wrap(text, 100, initial_indent="  ", subsequent_indent="      ")
    return "\n".join(lines)


def default_text(option: dataclasses.Field[Any]) -> str:
    """The default as help shows it, with a blank before it; nothing where there is none."""
    declared = about(option)
    if declared.shown is not None:
        return f" [{declared.shown}]" if declared.shown else ""
    if isinstance(option.default, bool) or option.default in (None, (), dataclasses.MISSING):
        return ""
    return f" [{option.default:g}]" if isinstance(option.default, float) else f" [{option.default}]"
