# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Of which boot a record is: by the marks of whoever captured the log, or, without them, by what
the apps say of themselves. Nothing is guessed: where marks and apps contradict each other, or what
would tell was lost, the boot is one of which nothing is known (docs/protocol.md).

Every function notes in `measured.problems` what it found."""

import re
from dataclasses import dataclass

from tockmark.log.marks import Marks
from tockmark.log.measured import App, Booted, Measured, Run
from tockmark.log.protocol import BOOT_NAME, BootMark, Problem
from tockmark.suite.catalogue import LANGS, Lang, language

_IMAGE = re.compile("[0-9a-f]{8}")


@dataclass(frozen=True)
class Said:
    """What an app's `begin` says of where it is."""

    boot: str
    image: str


def said(begin: dict[str, str]) -> Said | None:
    """The boot and the image of a `begin`; older apps say none. ValueError if they cannot be."""
    if not {"boot", "image"} & begin.keys():
        return None
    boot, image = begin.get("boot", ""), begin.get("image", "")
    if not re.fullmatch(BOOT_NAME, boot) or not _IMAGE.fullmatch(image):
        raise ValueError(f"boot={boot} image={image} is no boot and its image")
    return Said(boot, image)


def mark(measured: Measured, record: BootMark) -> None:
    """A mark begins a boot, or ends the one at hand if it fits that."""
    if record.lang:
        measured.langs.add(record.lang)
    if not record.ends:
        measured.boots.append(Booted(record.name, record.icache, record.app, lang=record.lang))
        return
    measured.ends = True
    boot = measured.boots[-1] if measured.boots else Booted()
    own = boot.name, boot.icache, boot.reporter, boot.lang
    boot.closed = not boot.closed and own == (record.name, record.icache, record.app, record.lang)


def speaking(
    measured: Measured, app: str, begins: Said | None = None, back: bool = False
) -> Booted:
    """The boot that an app now speaks in; `begins` is what its `begin` says, if this is one; `back`
    if its lines went back to a smaller number without one."""
    if not measured.boots:
        measured.boots.append(Booted())
    boot, again = measured.boots[-1], measured.again.pop(app, None)
    if boot.reporter is not None:
        if again is None and not boot.closed:
            _two_runs(measured, boot, app, back)
        return _marked(measured, boot, app, begins, again)
    return _unmarked(measured, boot, app, begins, again)


def _two_runs(measured: Measured, boot: Booted, app: str, back: bool) -> None:
    """An app that goes back or on after its end without a begin: two ran since the boot's mark, and
    which of them is the mark's was lost. All is left out, and what follows is of no known boot."""
    own = boot.apps.get(app)
    if own is None or not (back or own.ended):
        return
    how = "goes on after its end" if own.ended else "goes back"
    what = f"{how} without a begin; what it said in the boot {boot.name} is left out"
    measured.problems.append(Problem(app, what))
    boot.apps, boot.runs, boot.closed = {}, [], True


def _marked(
    measured: Measured, boot: Booted, app: str, begins: Said | None, again: Problem | None
) -> Booted:
    """In a boot with a mark. An app that cannot be of it tells that a mark was lost."""
    strange = app != boot.reporter or boot.closed
    other = not strange and begins is not None and begins.boot != boot.name
    same = begins is not None and not other and begins.image == boot.image
    if strange or other or (again is not None and not same):
        if again is not None:
            measured.problems.append(again)
        what = f"the mark of a boot is missing: {app} reports in the boot {boot.name}"
        if other and begins is not None:
            what = f"its begin says boot={begins.boot}, but the mark of its boot {boot.name}"
        measured.problems.append(Problem(app, what))
        return _opened(measured, Booted())
    if again is not None:
        _run_again(boot, app, again)
    if begins is not None:
        boot.image = begins.image
    return boot


def _unmarked(
    measured: Measured, boot: Booted, app: str, begins: Said | None, again: Problem | None
) -> Booted:
    """Without a mark. A boot that an app names is known by that; else all is of one boot."""
    if begins is None:
        own = boot.apps.get(app)
        if boot.name is not None and (again is not None or own is None or own.ended):
            measured.problems.append(Problem(app, "of which boot it is was lost"))
            return _opened(measured, Booted())
        if again is not None:
            measured.problems.append(again)
            boot.apps[app] = App(app)
        return boot
    known = measured.named.get(begins.boot)
    if known is None:
        if again is not None:
            _name_unended(measured, boot, app)
        blank = boot.name is None and not boot.apps  # such as one of which only marks came so far
        named = boot if blank else _opened(measured, Booted())
        named.name, named.image = begins.boot, begins.image
        measured.named[begins.boot] = named
        return named
    if known is not boot:
        _name_unended(measured, boot, app)
        measured.boots.remove(known)
        measured.boots.append(known)
    if known.image != begins.image:
        what = (
            f"the boot {begins.boot} began again from another image; what came before is set aside"
        )
        measured.problems.append(Problem(app, what))
        known.apps, known.runs, known.image = {}, [], begins.image
    elif app in known.apps:
        _run_again(known, app, again or Problem(app, "began again"))
    return known


def _opened(measured: Measured, boot: Booted) -> Booted:
    measured.boots.append(boot)
    return boot


def _name_unended(measured: Measured, boot: Booted, app: str) -> None:
    """Another boot begins; the decoder keeps of an app that speaks in both the last end only."""
    if app in boot.apps and not boot.apps[app].ended:
        what = f"the boot {boot.of(boot.apps[app])} stops before its 'end'"
        measured.problems.append(Problem(app, what))


def _run_again(boot: Booted, app: str, again: Problem) -> None:
    """The same image runs a second time, as after a reset."""
    boot.runs.append(Run(boot.apps.get(app, App(app)), again))
    boot.apps[app] = App(app)
    boot.marks = Marks()


def settle(measured: Measured) -> None:
    """The log is over: choose among the runs of each boot, and take the names of boots back of
    which not everything is certain."""
    for boot in measured.boots:
        for run in reversed(boot.runs):
            _choose(measured, boot, run)
        _announced(measured, boot)
        needs_end = measured.ends or (boot.reporter is not None and boot.runs)
        if needs_end and boot.name is not None and not boot.closed:
            what = f"the end of the boot {boot.name} is missing: what follows it may be another's"
            measured.problems.append(Problem(boot.reporter, what))
            boot.name = boot.icache = boot.image = None
    _leave_out_strays(measured)
    _attribute(measured)


def _choose(measured: Measured, boot: Booted, run: Run) -> None:
    """Of a run and the one chosen among those behind it: the later, but if that did not end, one
    that did: a board may be reset once more before it is given its next image."""
    name, what = run.before.name, "began again; what came before is set aside"
    if run.before.ended and not boot.apps[name].ended:
        boot.apps[name] = run.before
        what = "began again, and did not end; what came before counts"
    measured.problems.append(Problem(name, what, run.again.line))


def _leave_out_strays(measured: Measured) -> None:
    """Where apps name their boots, what without a mark could be of any: an app whose boot was lost,
    and one of which a piece was lost whose end does not say that it is the same behind that."""
    if not any(app.begin and "boot" in app.begin for _, app in measured.each()):
        return
    for boot, app in list(measured.each()):
        unsure = boot.name is None or (app.lost and not app.ended)
        if unsure and boot.reporter is None:
            what = "left out: of which boot it is was lost, or is not certain"
            measured.problems.append(Problem(app.name, what))
            del boot.apps[app.name]


def _attribute(measured: Measured) -> None:
    """Give every app its language: what its `begin` says, or its boot's mark, or all of the log.
    Where that is not certain it is left out, so that no language's rows pass as another's."""
    begun: dict[int, Lang] = {
        id(app): language(app.begin["lang"])
        for _, app in measured.each()
        if app.begin and "lang" in app.begin
    }
    first, *others = sorted({*begun.values(), *measured.langs}) or list(LANGS)[:1]
    for boot, app in list(measured.each()):
        own = begun.get(id(app), boot.lang)
        if boot.lang and own != boot.lang:
            what = f"its begin says lang={own}, but the mark of its boot lang={boot.lang}"
            measured.problems.append(Problem(app.name, what))
        # Without its end and its begin a boot may have lent its mark to another's lines.
        torn = not boot.closed and (measured.ends or app.begin is None)
        unsure = measured.langs and torn
        if unsure or (own is None and others):
            what = "left out: of which language it is was lost"
            measured.problems.append(Problem(app.name, what))
            del boot.apps[app.name]
        else:
            app.lang = own or first


def _announced(measured: Measured, boot: Booted) -> None:
    """Count the apps of a boot: its first `begin` says how many there are."""
    left = 0
    for app in boot.apps.values():
        if app.begin is not None and left == 0:
            left = int(app.begin["apps"])
        left = max(left - 1, 0)
    if left:
        what = f"{left} of the announced apps never began"
        measured.problems.append(Problem(None, what))
