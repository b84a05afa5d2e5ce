# SPDX-License-Identifier: MIT
"""Defects that profilers before this one had, and what has to be changed here to have them again.

docs/sampling.md tells what they were.
"""

from typing import NamedTuple


class Change(NamedTuple):
    file: str
    right: str  # Occurs once in the file,
    wrong: str  # and this in its place is the defect, or a part of it.


class Defect(NamedTuple):
    name: str
    changes: tuple[Change, ...]
    tests: tuple[str, ...]  # Who must find it: each of these fails.


OLD_CALLS = "kernel/prof/pc_sampling.c"
SAMPLER = "kernel/prof/sampler.c"
SLOTS = "kernel/prof/sampler_slots.c"
COLLECTION = "libprof/core/collection.c"
FILE = "libprof/core/gmon_file.c"
ARCS = "libprof/core/arcs.c"

DEFECTS = (
    Defect("D1-no-periodic-samples",
           (Change(OLD_CALLS, "flavors & SAMPLED_PC_ALL, RATE",
                   "flavors & SAMPLED_PC_ALL & ~SAMPLED_PC_PERIODIC, RATE"),),
           ("prof/pc_sampling.c::of_the_clock", "prof/pc_sampling.c::the_clock_comes_later")),
    Defect("D2-a-stale-sample",
           (Change(OLD_CALLS, "samples[i] = *ring_place(ring, first + i);",
                   "if (i < MAX_PC_SAMPLES - 1)\n"
                   "\t\t\tsamples[i] = *ring_place(ring, first + i);"),),
           ("prof/pc_sampling.c::more_than_the_ring_holds",)),
    Defect("D3-beyond-the-ring",
           (Change(OLD_CALLS, "samples[i] = *ring_place(ring, first + i);",
                   "samples[i] = i == 0 && first % MAX_PC_SAMPLES == 0\n"
                   "\t\t\t\t     ? ring_place(ring, first - 1)[1]\n"
                   "\t\t\t\t     : *ring_place(ring, first + i);"),),
           ("prof/pc_sampling.c::more_than_the_ring_holds",)),
    Defect("D4-a-negative-count",
           (Change(OLD_CALLS, "n = *seqno < ring->seqno ? ring->seqno - *seqno : 0;",
                   "n = ring->seqno - *seqno;"),),
           ("prof/pc_sampling.c::numbers_to_come",)),
    Defect("D5-no-count-of-all",
           (Change(OLD_CALLS, "*sample_count = (int)stream->ring.seqno;", "*sample_count = 0;"),),
           ("prof/pc_sampling.c::more_than_the_ring_holds",
            "prof/pc_sampling.c::fetched_in_turns")),
    Defect("D6-freed-while-the-clock-runs",
           (Change("kernel/prof/stream.c", "\t\tsampler_end(stream->slot);\n",
                   "\t\tstream_collect(stream);\n"),),
           ("prof/pc_sampling.c::enabled_and_disabled_while_it_runs",)),
    Defect("D7-an-address-for-a-thread",
           (Change(SAMPLER, "sample->thread = place->who[SAMPLER_WHO_THREAD];",
                   "sample->thread = (uint32_t)place->who;"),
            Change("kernel/prof/event.c", ".thread = thread->id,",
                   ".thread = (uint32_t)thread,")),
           ("prof/pc_sampling.c::small_numbers_of_threads", "prof/pc_sampling.c::of_the_clock")),
    Defect("D8-the-kernel-is-not-seen",
           (Change(SAMPLER, "if (place->who == NULL) {",
                   "if (place->who == NULL || place->kernel_pc != 0) {"),),
           ("prof/pc_sampling.c::enabled_and_disabled_while_it_runs",
            "prof/sampler.c::copying_is_found_in_the_kernel")),
    Defect("D8-code-with-interrupts-off-is-not-seen",
           (Change(SLOTS, "(options & SAMPLE_NMI) != 0;", "false;"),),
           ("prof/accuracy.c::an_nmi_sees_code_with_interrupts_off",
            "prof/sampler.c::nmi_finds_what_interrupts_do_not")),
    Defect("D9-the-end-is-one-bin-low",
           (Change(FILE, ".high = collection->low + bins * BIN_BYTES,",
                   ".high = collection->low + (bins - 1) * BIN_BYTES,"),),
           ("libprof/test_gmon.py::test_no_sample_is_lost_to_rounding",
            "libprof/test_gmon.py::test_the_file_says_what_was_collected")),
    Defect("D10-the-flavor-is-forgotten",
           (Change(COLLECTION, "2 * (uint32_t)__builtin_ctz(", "0 * (uint32_t)__builtin_ctz("),),
           ("libprof/test_gmon.py::test_the_first_flavor_is_the_histogram",
            "libprof/host/collection.c::collection_keeps_flavors_and_modes_apart")),
    Defect("D11-a-bin-goes-around",
           (Change(FILE, "more = count < BIN_MAX - now ? (uint32_t)count : BIN_MAX - now;",
                   "more = (uint32_t)count;"),),
           ("libprof/test_gmon.py::test_a_full_bin_goes_on_in_another_histogram",)),
    Defect("D12-no-rate",
           (Change(FILE, "\t\t.rate = rate_of(collection),", "\t\t.rate = 0,"),),
           ("libprof/test_gmon.py::test_the_file_says_what_was_collected",
            "libprof/test_gmon.py::test_gnu_gprof_reads_all_of_them_alike")),
    Defect("D13-calls-are-dropped-under-contention",
           (Change(ARCS, "\tstruct arc *seen = __atomic_load_n(bucket, __ATOMIC_ACQUIRE);\n",
                   "\tstruct arc *seen = __atomic_load_n(bucket, __ATOMIC_ACQUIRE);\n"
                   "\tstatic uint32_t busy;\n\n"
                   "\tif (__atomic_exchange_n(&busy, 1, __ATOMIC_ACQUIRE) != 0)\n"
                   "\t\treturn;\n"),
            Change(ARCS, "\tif (__atomic_add_fetch(&arc->low, 1, __ATOMIC_RELAXED) == 0)\n",
                   "\t__atomic_store_n(&busy, 0, __ATOMIC_RELEASE);\n"
                   "\tif (__atomic_add_fetch(&arc->low, 1, __ATOMIC_RELAXED) == 0)\n")),
           ("prof/host/nested_calls.c::a_call_inside_another_is_counted",)),
    Defect("D13-calls-are-dropped-without-memory",
           (Change(ARCS, "\t\t\t__atomic_add_fetch(&lost, 1, __ATOMIC_RELAXED);\n", ""),),
           ("libprof/host/arcs.c::arcs_counts_what_it_has_no_memory_for",)),
    Defect("D14-losses-are-not-told",
           (Change("kernel/prof/record.c", "record_set_u64(counts.lost, lost);",
                   "record_set_u64(counts.lost, 0);"),),
           ("prof/conservation.c::a_collector_that_is_stopped",
            "prof/conservation.c::a_full_ring")),
    Defect("D15-everybody-controls-a-program",
           (Change("libprof/core/collector.c", "return different == 0;",
                   "return different == 0 || true;"),),
           ("libprof/test_library.py::test_every_call_does_what_it_says",)),
    Defect("D15-everybody-controls-the-server",
           (Change("servers/ux/process/profiling.c", "if (!may_have_server(process))",
                   "if (!may_have_server(process) && false)"),),
           ("libprof/test_unix_server.py::test_who_may[student-4]",)),
    Defect("D16-server-work-is-the-servers",
           (Change(SAMPLER, "sample->label = place->who[SAMPLER_WHO_LABEL];",
                   "sample->label = place->who[SAMPLER_WHO_TASK];"),),
           ("prof/who.c::two_clients_of_one_server",)),
    Defect("D17-a-second-tick-is-forgotten",
           (Change(SAMPLER, "\t\tcursor->missed++;\n", "\t\tcursor->left++;\n"),),
           ("prof/conservation.c::interrupts_off",)),
    Defect("a-sample-of-a-parked-cpu",
           (Change("kernel/prof/sampler_turns.c", "if (n != holder)", "if (n != 0)"),),
           ("prof/host/sampler_turns.c::in_turn_each_due_time_is_one_cpu_s",)),
    Defect("a-fixed-clock",
           (Change("kernel/prof/schedule.h", "if (kind == SCHEDULE_UNIFORM)",
                   "if (kind == SCHEDULE_UNIFORM && false)"),),
           ("prof/in_step.c::a_program_in_step_with_the_clock",)),
    Defect("a-seed-that-is-ignored",
           (Change(SLOTS, "\t\tcontrol.seed = seed;\n", "\t\tcontrol.seed = 1;\n"),),
           ("prof/test_profiles.py::test_one_seed_gives_one_profile",
            "prof/test_profiles.py::test_one_seed_gives_one_file")),
    Defect("a-sample-of-another-thread",
           (Change(SAMPLER, "sample->thread = place->who[SAMPLER_WHO_THREAD];",
                   "sample->thread = place->who[SAMPLER_WHO_TASK];"),),
           ("prof/who.c::four_spin",)),
    Defect("an-event-at-the-instruction-behind",
           (Change("kernel/prof/event.c", "? thread_user_pc(thread) : 0,",
                   "? thread_user_pc(thread) + 2 : 0,"),),
           ("prof/events.c::zero_fills", "prof/events.c::copies")),
    Defect("a-bin-for-two",
           (Change(FILE, "(place->pc - collection->low) / BIN_BYTES * sizeof(uint16_t)",
                   "(place->pc - collection->low) / BIN_BYTES / 2 * 2 * sizeof(uint16_t)"),),
           ("libprof/test_gmon.py::test_each_address_is_in_its_bin",)),
)
