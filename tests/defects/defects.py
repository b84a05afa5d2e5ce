# SPDX-License-Identifier: MIT
"""Defects that profilers before this one had, and what has to be changed here to have them again.

docs/sampling.md tells what they were.
"""

from typing import NamedTuple


class Defect(NamedTuple):
    name: str
    file: str
    right: str  # Occurs once in the file,
    wrong: str  # and this in its place is the defect.
    test: str  # The test program that finds it.


OLD_CALLS = "kernel/prof/pc_sampling.c"
SAMPLER = "kernel/prof/sampler.c"

DEFECTS = [
    Defect("D1-no-periodic-samples", OLD_CALLS, "flavors & SAMPLED_PC_ALL, RATE",
           "flavors & SAMPLED_PC_ALL & ~SAMPLED_PC_PERIODIC, RATE", "prof/pc_sampling"),
    Defect("D2-a-stale-sample", OLD_CALLS, "for (uint32_t i = 0; i < n; i++)\n\t\tsamples[i]",
           "for (uint32_t i = 0; i < n && i < MAX_PC_SAMPLES - 1; i++)\n\t\tsamples[i]",
           "prof/pc_sampling"),
    Defect("D4-a-negative-count", OLD_CALLS,
           "n = *seqno < ring->seqno ? ring->seqno - *seqno : 0;",
           "n = ring->seqno - *seqno;", "prof/pc_sampling"),
    Defect("D5-no-count-of-all", OLD_CALLS, "*sample_count = (int)stream->ring.seqno;",
           "*sample_count = 0;", "prof/pc_sampling"),
    Defect("D7-an-address-for-a-thread", SAMPLER,
           "sample->thread = place->who[SAMPLER_WHO_THREAD];",
           "sample->thread = (uint32_t)place->who;", "prof/who"),
    Defect("D8-code-with-interrupts-off-is-not-seen", "kernel/prof/sampler_slots.c",
           "control.flags = flags;", "control.flags = 0;", "prof/accuracy"),
    Defect("D14-losses-are-not-told", "kernel/prof/record.c",
           "set_u64(counts.lost, lost);", "set_u64(counts.lost, 0);", "prof/conservation"),
    Defect("D16-server-work-is-the-servers", SAMPLER,
           "sample->label = place->who[SAMPLER_WHO_LABEL];",
           "sample->label = place->who[SAMPLER_WHO_TASK];", "prof/who"),
    Defect("D17-a-second-tick-is-forgotten", SAMPLER, "\t\tcursor->counts.missed++;\n",
           "\t\tcursor->counts.due--;\n", "prof/conservation"),
    Defect("a-fixed-clock", "kernel/prof/schedule.h", "\tif (fixed)\n", "\tif (true || fixed)\n",
           "prof/accuracy"),
]
