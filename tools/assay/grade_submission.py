# SPDX-License-Identifier: MIT
"""A submission, as a grading script has it: its files, its builds and its runs."""

import fnmatch
import hashlib
import hmac
import os
import random
import re
import shutil
import stat
from pathlib import Path
from typing import Any, Callable, Iterable, Mapping, Optional

from assay import OUT, ROOT, ToolError, flame, grade_patch, sandbox
from assay.files import Put
from assay.grade_profile import Failed, check
from assay.grade_run import OUTPUT, PROCESSES, Run, check_arguments, run_boot, run_unix

LIMIT = 10.0  # Seconds of the machine's that a run may take.
FILE = 1 << 20  # Bytes of a file that was handed in.
FILES = 100
TEXT = 1 << 16  # Bytes of one that is read here.
SAID = 4000  # Characters of what the compiler says.
FLAGS = "-std=gnu11 -O1 -g -fno-inline"
PRACTICE = b"practice"  # The secret of those who have none.
BOOT_FLAGS = ("-march=i686 -ffreestanding -fno-pic -fno-stack-protector -fcf-protection=none "
              "-fno-asynchronous-unwind-tables -fno-omit-frame-pointer -Wall -Wextra")


def printable(message: str) -> str:
    """Without control characters: XML cannot say most, and a terminal would obey."""
    return "".join(sign if sign.isprintable() or sign in "\n\t" else "?" for sign in message)


# ---------------- What was handed in ----------------

def snapshot(path: Path, to: Path, patterns: Iterable[str]) -> str:
    """Copies what belongs to a submission; what is wrong with it, or nothing."""
    to.mkdir()
    wanted = tuple(patterns)
    names = sorted(entry.name for entry in os.scandir(path)
                   if any(fnmatch.fnmatchcase(entry.name, pattern) for pattern in wanted)
                   and not entry.is_dir(follow_symlinks=False))
    if len(names) > FILES:
        return f"more than {FILES} files were handed in"
    for name in names:
        if problem := copy_file(path / name, to / name):
            return f"{printable(name)} {problem}"
    return ""


def copy_file(path: Path, to: Path) -> str:
    """Only a file as it is: a link might lead to one of the host's, a pipe nowhere."""
    try:
        file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError as error:
        return f"cannot be read: {error.strerror}" if not path.is_symlink() else "is a link"
    with os.fdopen(file, "rb") as source:
        if not stat.S_ISREG(os.fstat(file).st_mode):
            return "is no file"
        data = source.read(FILE + 1)
    if len(data) > FILE:
        return f"has more than {FILE:,} bytes"
    to.write_bytes(data)
    return ""


def digest(folder: Path) -> bytes:
    """Of all that was handed in."""
    sums = hashlib.sha256()
    for file in sorted(folder.iterdir()):
        sums.update(file.name.encode(errors="surrogateescape") + b"\0" +
                    hashlib.sha256(file.read_bytes()).digest())
    return sums.digest()


class Submission:
    """What was handed in.  Tests share its builds and runs: each is made once."""

    def __init__(self, path: Path, scratch: Path, secret: bytes = b"", refused: str = ""):
        self.path = path
        self.scratch = scratch
        self.seconds = 0.0
        self.refused = refused
        self._secret = secret or PRACTICE
        self._identity = digest(path) if secret else b""
        self._done: dict[object, Any] = {}
        self._runs: list[Run] = []
        self._kept: set[int] = set()

    def check_refused(self) -> None:
        check(not self.refused, self.refused)

    def _once(self, key: object, make: Callable[[], Any]) -> Any:
        """What was made, or why it could not be."""
        if key not in self._done:
            try:
                self._done[key] = make()
            except Failed as failed:
                self._done[key] = failed
        if isinstance(self._done[key], Failed):
            raise Failed(str(self._done[key]))
        return self._done[key]

    def random(self, name: str) -> random.Random:
        """Numbers for an input, that nobody knows who does not know the secret.

        They are others for each submission, so that what one run tells is of no use for the next;
        and the same when it is graded again.  Without a secret all know them.
        """
        key = hmac.new(self._secret, self._identity + name.encode(), "sha256").digest()
        return random.Random(int.from_bytes(key, "big"))

    def text(self, name: str, default: Optional[str] = None) -> str:
        """A file that was handed in."""
        file = self.path / name
        check(file.is_file() or default is not None, f"{name} was not handed in")
        if not file.is_file():
            return default
        check(file.stat().st_size <= TEXT, f"{name} has more than {TEXT:,} bytes")
        return file.read_text(errors="replace").strip()

    # ---- Builds ----

    def build(self, *sources: str, flags: str = "", ours: Optional[Path] = None) -> Path:
        """Compiles a program for the Unix server of these files.

        What is not handed in is in the teacher's folder `ours`, whose files come first.
        """
        return self._once(("build", sources, flags, ours), lambda: self._compile(
            sources, f"{FLAGS} {flags}", "$SDK/bin/ux-cc", {"sdk": OUT / "sdk"}, ours=ours))

    def build_boot(self, *sources: str, flags: str = "", ours: Optional[Path] = None) -> Path:
        """The same for a program that needs no Unix server."""
        gcc = f"{os.environ.get('CROSS', 'i686-linux-gnu-')}gcc"
        compiler = (f"{gcc} {BOOT_FLAGS} -I$INCLUDE -I$LIB -I$GEN")
        linker = (f"{gcc} -nostdlib -static -no-pie -Wl,--build-id=none,-z,noexecstack "
                  "-Wl,-Ttext-segment=0x08048000 $LIBRARY/crt0.o")
        folders = {"include": ROOT / "include", "lib": ROOT / "lib", "library": OUT / "lib",
                   "gen": OUT / "gen" / "user"}
        return self._once(("boot", sources, flags, ours), lambda: self._compile(
            sources, f"{FLAGS} {flags}", compiler, folders, linker, "$LIBRARY/libassay.a", ours))

    def build_kernel(self, patch: str, may_change: Iterable[str]) -> Path:
        """The kernel with a patch, which changes no other files than these (or patterns)."""
        return self._patched(grade_patch.KERNEL, patch, tuple(may_change))

    def build_server(self, patch: str, may_change: Iterable[str]) -> Path:
        """The same for the Unix server: for run(server=...)."""
        return self._patched(grade_patch.SERVER, patch, tuple(may_change))

    def _patched(self, target: grade_patch.Target, patch: str, allowed: tuple[str, ...]) -> Path:
        check((self.path / patch).is_file(), f"{patch} was not handed in")
        return self._once((target.name, patch, allowed), lambda: self._make(
            grade_patch.script(target, self.path / patch, allowed), grade_patch.folders(target),
            Path(target.made).name, f"the changed {target.name} does not compile",
            grade_patch.Limits))

    def _compile(self, sources: tuple[str, ...], flags: str, compiler: str,
                 folders: Mapping[str, Path], linker: str = "", libraries: str = "",
                 ours: Optional[Path] = None) -> Path:
        for source in sources:
            check((self.path / source).is_file() or ours and (ours / source).is_file(),
                  f"{source} was not handed in")
        objects = [f"$TMP/{number}.o" for number in range(len(sources))]
        lines = ["mkdir $TMP/in", "cd $TMP/in", "cp -R $HANDED_IN/. ."]
        if ours:
            folders = {**folders, "ours": self._sources_of(ours)}
            lines.append("cp -R $OURS/. .")
        # The same bytes whoever compiles, wherever that is: a program's size is seen in its times.
        same = " ".join(["-ffile-prefix-map=$TMP=/tmp"] +
                        [f"-ffile-prefix-map=${name.upper()}=/{name}" for name in folders])
        lines += [f"{compiler} {flags} {same} -c -o {made} ./{source} >&2"
                  for source, made in zip(sources, objects)]
        lines += [f"{linker or compiler + ' ' + flags} -o $TMP/made {' '.join(objects)} {libraries}"
                  " >&2", "cat $TMP/made"]
        return self._make("\n".join(lines), folders, Path(sources[0]).stem, "does not compile")

    def _sources_of(self, ours: Path) -> Path:
        """Copies of the sources and headers in a teacher's folder: no more of it is in the room.

        Beside them may be hidden tests and answers, which a source could name.
        """
        folder = self.scratch / f"ours-{len(self._done)}"
        folder.mkdir(exist_ok=True)
        for file in ours.glob("*.[ch]"):
            shutil.copyfile(file, folder / file.name)
        return folder

    def _make(self, script: str, folders: Mapping[str, Path], name: str, failure: str,
              limits: type[sandbox.Limits] = sandbox.Limits) -> Path:
        """What a script in the sandbox writes, as a file that can be executed."""
        made = sandbox.run(script, {"handed_in": self.path, **folders}, limits)
        check(not made.too_much, f"{failure}: the compiler took too much time, memory or room")
        if made.status < 0:
            raise ToolError(f"the compiler was ended from outside, by signal {-made.status}: that "
                            "says nothing of the submission, so grade it again")
        said = re.sub(r"\S*/(?:in|tree|tmp)/(?:\./)?", "", made.messages).strip()
        check(made.status == 0, f"{failure}:\n{said[:SAID]}")
        folder = self.scratch / f"made-{len(self._done)}"
        folder.mkdir(exist_ok=True)
        program = folder / name
        program.write_bytes(made.data)
        program.chmod(0o755)
        return program

    # ---- Runs ----

    def run(self, program: Path, arguments: str = "", *, put: Optional[Mapping[str, str]] = None,
            limit: float = LIMIT, append: str = "", cpus: int = 1, user: str = "student",
            processes: int = PROCESSES, output: int = OUTPUT, profiled: bool = False,
            kernel: Optional[Path] = None, server: Optional[Path] = None, **options: Any) -> Run:
        """Runs it as a shell command in a machine of its own; `limit` is in the machine's time.

        `put` are more files for the machine: their text by their path.  A `profiled` run takes
        longer, and has a profile.  It may have so many `processes` at a time, the shell among
        them, and print so many bytes of `output`.
        """
        files = tuple(sorted((put or {}).items()))
        options |= {"server": str(server)} if server else {}
        key = ("run", program, arguments, files, limit, append, cpus, user, processes, output,
               profiled, kernel, tuple(sorted(options.items())))
        return self._once(key, lambda: self._run(lambda folder: run_unix(
            program, arguments, folder, self._write(folder, files), limit=limit, cpus=cpus,
            append=check_arguments(append), user=user, processes=processes, output=output,
            profiled=profiled, kernel=kernel, **options)))

    def boot(self, *commands: object, limit: float = LIMIT, append: str = "", cpus: int = 1,
             output: int = OUTPUT, kernel: Optional[Path] = None, **options: Any) -> Run:
        """Boots programs that need no Unix server: each a path, and arguments behind it."""
        words = tuple(map(str, commands))
        key = ("boot", words, limit, append, cpus, output, kernel, tuple(sorted(options.items())))
        return self._once(key, lambda: self._run(lambda folder: run_boot(
            list(words), folder, limit=limit, cpus=cpus, append=check_arguments(append),
            output=output, kernel=kernel, **options)))

    def _run(self, run: Callable[[Path], Run]) -> Run:
        made = run(self.scratch / f"run-{len(self._runs)}")
        self._runs.append(made)
        self.seconds += made.seconds
        return made

    def _write(self, folder: Path, files: Iterable[tuple[str, str]]) -> list[Put]:
        """The files for the machine, beside what comes out of it."""
        put = []
        for number, (path, text) in enumerate(files):
            file = folder.with_name(f"{folder.name}-put-{number}")
            file.write_text(text)
            put.append(Put(file, path))
        return put

    # ---- Profiles ----

    def keep_profiles(self, keep: Path, test: int, name: str) -> list[str]:
        """Copies recordings that were looked at since the last test, with a picture of each."""
        keep.mkdir(parents=True, exist_ok=True)
        kept = []
        for number, run in enumerate(self._runs):
            if not run.stacks or number in self._kept:
                continue
            self._kept.add(number)
            stem = keep / f"test-{test}-run-{number + 1}"
            picture, recording = stem.with_suffix(".svg"), stem.with_suffix(".perf")
            program = stem.with_suffix(".program") / run.program.name  # gprof goes by its name.
            if program.parent.is_file():  # As this was kept before.
                program.parent.unlink()
            program.parent.mkdir(exist_ok=True)
            picture.write_text(flame.draw(run.stacks, name), encoding="utf-8")
            shutil.copyfile(run.recording, recording)
            shutil.copyfile(run.program, program)
            kept += [str(file.relative_to(keep)) for file in (picture, recording, program)]
        return kept
