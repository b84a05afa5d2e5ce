# SPDX-License-Identifier: MIT
"""What the book says in numbers, lists and orders is so in the sources (tests/docs/claims)."""

import pytest
from assay import ROOT

from docs import claims

CLAIMS = claims.claims()
OTHERS = {"names": claims.wrong_names, "calls": claims.wrong_calls, "lines": claims.wrong_lines,
          "story": claims.wrong_story}


@pytest.fixture(name="values", scope="module")
def values_fixture(tmp_path_factory) -> dict[str, dict[str, int]]:
    return claims.values_of(CLAIMS, tmp_path_factory.mktemp("values"))


@pytest.mark.parametrize("page", dict.fromkeys(claim.page for claim in CLAIMS))
def test_what_the_page_says_is_so(page: str, values: dict[str, dict[str, int]]) -> None:
    of_page = [claim for claim in CLAIMS if claim.page == page]
    text = (ROOT / page).read_text()
    wrong = [OTHERS[claim.kind](claim, text) if claim.kind in OTHERS else
             claims.wrong_value(claim, text, values[claim.where]) for claim in of_page]
    assert not any(wrong), "\n".join(filter(None, wrong))


# ---------------- The tests of pages ----------------

SOURCE = "kernel/ipc/mach_msg.c"


@pytest.mark.parametrize(("text", "what", "is_wrong"), [
    ("a queue\nof 5 messages", "queue of {LIMIT} messages", False),
    ("a queue of five messages", "queue of {LIMIT} messages", False),
    ("a queue of 50 messages", "queue of {LIMIT} messages", True),
    ("a queue of messages", "queue of {LIMIT} messages", True),
    ("at most 262,144 rights", "most {RIGHTS} rights", False),
    ("from 0xc0000000 on", "from {END} on", False),
])
def test_what_is_a_value(text: str, what: str, is_wrong: bool) -> None:
    claim = claims.Claim("page", "value", "file", what)
    values = {"LIMIT": 5, "RIGHTS": 262144, "END": 0xc0000000}
    assert bool(claims.wrong_value(claim, text, values)) == is_wrong


@pytest.mark.parametrize(("kind", "where", "what", "text", "is_wrong"), [
    ("calls", f"{SOURCE} trap_mach_msg", "fast_path mach_msg_send_and_receive",
     "trap_mach_msg fast_path mach_msg_send_and_receive", False),
    ("calls", f"{SOURCE} trap_mach_msg", "mach_msg_send_and_receive fast_path",
     "trap_mach_msg fast_path mach_msg_send_and_receive", True),
    ("calls", f"{SOURCE} trap_mach_msg", "fast_path", "trap_mach_msg", True),
    ("calls", f"{SOURCE} trap_no_such", "fast_path", "fast_path", True),
    ("names", SOURCE, r"^TRAP_ABI \w+ (\w+)", "trap_mach_msg trap_mach_reply_port", False),
    ("names", SOURCE, r"^TRAP_ABI \w+ (\w+)", "trap_mach_msg", True),
    ("names", SOURCE, "(no_such)", "no_such", True),
    ("lines", SOURCE, "if (name == 0) ;; return;", "if (name == 0)  why\nreturn;", True),
    ("lines", SOURCE, "if (port == NULL) ;; return name;", "if (port == NULL) x\n return name;",
     False),
    ("lines", SOURCE, "if (port == NULL) ;; return name;", "return name; if (port == NULL)", True),
    ("story", "kernel/i386/boot/start.c add_memory", "A", "## A\n", True),
])
def test_what_is_an_order(kind: str, where: str, what: str, text: str, is_wrong: bool) -> None:
    assert bool(OTHERS[kind](claims.Claim("page", kind, where, what), text)) == is_wrong


def test_a_story_has_an_order() -> None:
    claim = claims.Claim("docs/boot.md", "story", "kernel/i386/boot/start.c boot_cpu_init", "A")
    steps = [f"`{name}()`" for name in
             ("segment_init", "segment_load", "cpu_features_find", "cpu_features_enable",
              "fpu_init", "pic_silence", "interrupts_on", "kernel_lock")]
    assert not claims.wrong_story(claim, f"## A\n{' '.join(steps)}\n")
    assert claims.wrong_story(claim, f"## A\n{' '.join(reversed(steps))}\n")
    assert claims.wrong_story(claim, f"## A\n{' '.join(steps[1:])}\n")
