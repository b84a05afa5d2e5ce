# SPDX-License-Identifier: MIT
"""Programs that show profiles, as `./setup viewers` installs them: is it there, and how to use it.

speedscope is a page that a browser shows without a network.  It loads a script of ours that hands
it a profile.
"""

import base64
import contextlib
import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Iterator, NamedTuple, Optional

from assay import ToolError

HOW = "./setup viewers installs it"
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "assay" / "viewers"
SPEEDSCOPE = CACHE / "node_modules" / "speedscope" / "dist" / "release"
BROWSERS = ("chromium", "google-chrome", "firefox", "xdg-open")
LIMIT = 60  # Seconds.

# Without a network Chromium would look for updates, and without these find it worth a mention.
HEADLESS = ("chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic",
            "--no-first-run", "--disable-background-networking", "--disable-component-update",
            "--disable-sync", "--window-size=1400,3000")


def missing(*names: str) -> Optional[str]:
    """Why they cannot be used; None if they can.  `speedscope` is one that is no command."""
    for name in names:
        if name == "speedscope":
            if not (SPEEDSCOPE / "index.html").is_file():
                return f"speedscope is not installed: {HOW}"
        elif shutil.which(name) is None:
            return f"{name} is not installed: {HOW}"
    return None


def need(*names: str) -> None:
    reason = missing(*names)
    if reason:
        raise ToolError(reason)


# ---------------- A page for people ----------------

def write_page(profile: bytes, name: str, folder: Path) -> Path:
    """A page in the folder that shows the profile; it leads to speedscope's own."""
    need("speedscope")
    folder.mkdir(parents=True, exist_ok=True)
    script = folder / "profile.js"
    script.write_text(f"speedscope.loadFileFromBase64({json.dumps(name)}, "
                      f"{json.dumps(base64.b64encode(profile).decode())})\n")
    page = folder / "index.html"
    page.write_text(f"<script>window.location = {json.dumps(url_of(script))}</script>\n")
    return page


def url_of(script: Path, view: str = "left-heavy") -> str:
    return f"{(SPEEDSCOPE / 'index.html').as_uri()}#localProfilePath={script.resolve()}&view={view}"


def show(page: Path) -> None:
    """Opens it in the user's browser."""
    wanted = os.environ.get("BROWSER")
    browser = wanted or next((name for name in BROWSERS if shutil.which(name)), None)
    if browser is None:
        raise ToolError(f"there is no browser here; open {page.resolve().as_uri()} with one")
    root = ["--no-sandbox"] if browser == "chromium" and os.geteuid() == 0 else []
    done = subprocess.run([browser, *root, page.resolve().as_uri()], check=False)
    if done.returncode != 0:
        raise ToolError(f"{browser} could not open {page.resolve().as_uri()}")


# ---------------- The same for tests ----------------

class Shown(NamedTuple):
    """What speedscope made of a file."""

    kind: str  # What it took it for; "" if it could make nothing of it.
    title: str
    functions: dict[str, float]  # Own samples; of the file's first profile.
    totals: dict[str, float]  # With those of what a function called.


# Hands one file after the other to the page, reads its table of functions, and leaves all in it.
# The table's rows wait for a frame.  Chromium draws frames by real time, which is not bound to the
# page's: on a slow host none would come.
READER = """
const files = %s, seen = [];
const sleep = ms => new Promise(done => setTimeout(done, ms));
window.requestAnimationFrame = draw => setTimeout(() => draw(performance.now()), 16);
let kind = "", failed = false;
const log = console.log;
console.log = (...words) => {
    const match = /^Importing (?:as|from) (.*)/.exec(words.join(" "));
    if (match) kind = match[1];
    log(...words);
};
window.alert = () => { failed = true; };
const rows = () => [...document.querySelectorAll("tr")].filter(
    row => row.querySelectorAll("td").length == 3 && !row.title).map(
    row => [...row.children].map(cell => cell.textContent));
(async () => {
    for (const [name, text] of files) {
        document.title = kind = "";
        failed = false;
        speedscope.loadFileFromBase64(name, text);
        for (let i = 0; i < 50 && !failed && !document.title.includes(" - speedscope"); i++)
            await sleep(100);
        for (let i = 0; i < 200 && !failed && !rows().length; i++)
            await sleep(100);
        await sleep(300);
        seen.push(failed ? ["", "", []] : [kind, document.title, rows()]);
    }
    const result = document.createElement("pre");
    result.id = "seen";
    result.textContent = btoa(unescape(encodeURIComponent(JSON.stringify(seen))));
    document.body.appendChild(result);
})();
"""


@contextlib.contextmanager
def dumped(url: str, more_rights: bool = True) -> Iterator[str]:
    """The page's elements, when its scripts have come to rest."""
    rights = ["--allow-file-access-from-files"] if more_rights else []
    with tempfile.TemporaryDirectory(prefix="assay.", ignore_cleanup_errors=True) as name:
        done = subprocess.run([*HEADLESS, *rights, f"--user-data-dir={name}/profile",
                               "--virtual-time-budget=300000", "--dump-dom", url],
                              stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=LIMIT, check=False)
        yield done.stdout


def speedscope_reads(files: dict[str, bytes]) -> list[Shown]:
    """What the headless browser shows of files: one start of it for all of them."""
    need("chromium", "speedscope")
    with tempfile.TemporaryDirectory(prefix="assay.") as name:
        script = Path(name) / "files.js"
        coded = [[file, base64.b64encode(data).decode()] for file, data in files.items()]
        script.write_text(READER % json.dumps(coded))
        with dumped(url_of(script, "sandwich")) as page:
            _, mark, rest = page.partition('<pre id="seen">')
    if not mark:
        raise ToolError("speedscope did not come to its end in Chromium")
    seen = json.loads(base64.b64decode(rest.partition("<")[0]))
    return [Shown(kind, title, {name: number(own) for _, own, name in rows},
                  {name: number(total) for total, _, name in rows})
            for kind, title, rows in seen]


def number(text: str) -> float:
    """Of `1,234 (67%)`, or of `5.00ms`."""
    return float(text.split()[0].rstrip("nµms").replace(",", ""))
