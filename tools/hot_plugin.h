/* SPDX-License-Identifier: MIT */
/*
 * QEMU's interface for plugins, and what the parts of the plugin of tools/hot have of each other.
 *
 * Debian ships no qemu-plugin.h.  This is the part of version 1 of the interface that we use.
 */
#ifndef HOT_PLUGIN_H
#define HOT_PLUGIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define QEMU_PLUGIN_VERSION        1
#define QEMU_PLUGIN_CB_NO_REGS     0
#define QEMU_PLUGIN_MEM_W          2
#define QEMU_PLUGIN_INLINE_ADD_U64 0

typedef uint64_t qemu_plugin_id_t;
typedef uint32_t qemu_plugin_meminfo_t;
typedef void (*qemu_plugin_cpu_callback)(unsigned int cpu, void *data);
typedef void (*qemu_plugin_memory_callback)(unsigned int cpu, qemu_plugin_meminfo_t info,
					    uint64_t address, void *data);

struct qemu_plugin_tb;
struct qemu_plugin_insn;
struct qemu_info;

size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
uint64_t qemu_plugin_tb_vaddr(const struct qemu_plugin_tb *tb);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t index);
const void *qemu_plugin_insn_data(const struct qemu_plugin_insn *insn);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *insn);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *insn);
void *qemu_plugin_insn_haddr(const struct qemu_plugin_insn *insn);
unsigned int qemu_plugin_mem_size_shift(qemu_plugin_meminfo_t info);
void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id,
					   void (*callback)(qemu_plugin_id_t,
							    struct qemu_plugin_tb *));
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *tb,
					  qemu_plugin_cpu_callback callback, int flags, void *data);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn,
					    qemu_plugin_cpu_callback callback, int flags,
					    void *data);
void qemu_plugin_register_vcpu_insn_exec_inline(struct qemu_plugin_insn *insn, int op,
						void *counter, uint64_t step);
void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *insn,
				      qemu_plugin_memory_callback callback, int flags, int kind,
				      void *data);
void qemu_plugin_register_atexit_cb(qemu_plugin_id_t id, void (*callback)(qemu_plugin_id_t, void *),
				    void *data);

#define KERNEL_BASE  0xc0000000u /* The kernel's addresses start here. */
#define CPUS_MAX     256
#define COUNTERS_MAX (1u << 22) /* Untouched ones cost no memory. */

/* Ends QEMU without a report, which would look whole. */
_Noreturn void hot_fail(const char *why);

/* ---------------- Whose instructions they are: hot_who.c ---------------- */

/* An argument of the plugin's that is about this; false if it is not, or cannot be taken. */
bool who_take_argument(const char *name, const char *value);

/* Whether it was asked for, with all that has to be known for it.  Else nothing below is called. */
bool who_is_wanted(void);

/* The kernel's instruction at this address lies there in our memory. */
void who_find_memory(uint32_t address, const void *host);

/* From now on this CPU executes.  All that was executed has been credited. */
void who_runs(unsigned int cpu);

/* Whether a store of so many bytes by the kernel may have changed who runs, on any CPU. */
bool who_may_change(uint32_t address, uint32_t size);

/* It has changed; all that was executed before has been credited. */
void who_look(void);

/* That many more instructions of this counter are those of who runs. */
void who_credit(uint32_t counter, uint64_t count);

/*
 * From now on this CPU is in the sampling interrupt, or no longer.  All that was executed has been
 * credited.
 */
void who_samples(unsigned int cpu, bool sampling);

/* Whether the sampling interrupt begins with the instruction at this address, or is over before. */
bool who_begins_to_sample(uint32_t address);
bool who_ends_to_sample(uint32_t address);

/* Ends QEMU unless memory says that the same runs on this CPU as we believe. */
void who_check(unsigned int cpu);

/*
 * The sections of the report: `number` has the line of each of the counters that has one.  False
 * after a complaint: then the counts are not to be used.
 */
bool who_report(FILE *out, const uint32_t *number, uint32_t n_counters);

#endif
