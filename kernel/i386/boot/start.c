/* SPDX-License-Identifier: MIT */
/*
 * The machine's part of starting, in the order in which each step needs the one before:
 * descriptors, what the loader says, memory, page tables, interrupt controllers, clocks, CPUs.
 */
#include <stddef.h>

#include <assay/report.h>

#include "base/arguments.h"
#include "base/clock.h"
#include "base/divide.h"
#include "base/lock.h"
#include "base/log.h"
#include "base/machine.h"
#include "base/string.h"
#include "boot/bootstrap.h"
#include "boot/main.h"
#include "boot/report.h"
#include "device/disk.h"
#include "device/ramdisk.h"
#include "i386/boot/calibrate.h"
#include "i386/boot/multiboot.h"
#include "i386/boot/smp.h"
#include "i386/cpu/lapic.h"
#include "i386/cpu/memory.h"
#include "i386/devices/acpi.h"
#include "i386/devices/ioapic.h"
#include "i386/devices/pit.h"
#include "i386/devices/virtio_pci.h"
#include "i386/mmu/pmap.h"
#include "i386/thread/fpu.h"
#include "thread/cpu_state.h"
#include "thread/holder.h"
#include "thread/load.h"
#include "thread/sched.h"
#include "thread/thread.h"
#include "thread/tick.h"

#define MEGABYTE       0x100000u
#define SMALLEST_MIB   16
#define FIRMWARE_SLACK MEGABYTE /* What firmware and loader may keep of the smallest machine. */

extern uint64_t boot_cycles;
extern char kernel_start[], kernel_end[];

noreturn void kernel_main(uint32_t magic, uint32_t information);

/* ---------------- Memory ---------------- */

/*
 * What the allocator may still be given, in bytes.  The argument pool= makes it less than there is,
 * so that memory pressure does not depend on the machine.
 */
static uint32_t pool = DIRECT_MAP_SIZE;

static uint32_t start_memory_size(void)
{
	uint32_t size = MEGABYTE; /* The first one is there, if in pieces. */

	for (unsigned n = 0; n < boot_info.n_ranges; n++)
		size += boot_info.ranges[n].end - boot_info.ranges[n].start;
	return size;
}

/* The end of the memory that the kernel can map. */
static uint32_t start_memory_end(void)
{
	uint32_t end = boot_info.ranges[boot_info.n_ranges - 1].end;

	return end < DIRECT_MAP_SIZE ? end : DIRECT_MAP_SIZE;
}

/* The end of the kernel and of everything that the loader left, in whole pages. */
static uint32_t start_loaded_end(void)
{
	uint32_t end = virt_to_phys(kernel_end);

	for (unsigned n = 0; n < boot_info.n_modules; n++)
		if (boot_info.modules[n].image.end > end)
			end = boot_info.modules[n].image.end;
	return page_round(end);
}

/*
 * The end of a RAM disk that was said to lie in [place, place + size), and holds something already;
 * 0: there is none.
 */
static uint32_t start_disk_in_the_way(uint32_t place, uint32_t size)
{
	struct ramdisk_wish wish;

	for (unsigned n = 0; ramdisk_wanted(n, &wish); n++)
		if (wish.start != 0 && wish.start < place + size && wish.start + wish.size > place)
			return wish.start + wish.size;
	return 0;
}

/* Memory of `size` bytes, from a page's beginning, at or above `start`; refuses without. */
static uint32_t start_place_above(uint32_t start, uint32_t size, const char *what)
{
	for (unsigned n = 0; n < boot_info.n_ranges; n++) {
		const struct boot_range *range = &boot_info.ranges[n];
		uint32_t place = page_round(range->start > start ? range->start : start);
		uint32_t end = range->end < start_memory_end() ? range->end : start_memory_end();
		uint32_t behind;

		while ((behind = start_disk_in_the_way(place, size)) != 0)
			place = behind;
		if (end > place && end - place >= size)
			return place;
	}
	machine_refuse("no room for %s (%u KiB) above the boot modules", what, size / 1024);
}

/* The module's last record is filled up with zeroes: the rest of its last page is nobody's. */
static void start_add_ramdisk_module(const struct boot_module *module)
{
	uint32_t start = module->image.start;
	uint32_t size = module->image.end - start;
	uint32_t rest = -size % DISK_RECORD_SIZE;

	if (size == 0 || start % PAGE_SIZE != 0 || module->image.end > DIRECT_MAP_SIZE - PAGE_SIZE)
		machine_refuse("the boot module \"%s\" cannot be a RAM disk", module->command);
	memset(phys_to_virt(module->image.end), 0, rest);
	if (!ramdisk_add(start, size + rest))
		machine_refuse("there are more than %u RAM disks", MACHINE_RAMDISKS);
}

static bool start_is_memory(struct boot_range wanted)
{
	bool is_memory = false;

	for (unsigned n = 0; n < boot_info.n_ranges; n++)
		is_memory |= wanted.start >= boot_info.ranges[n].start &&
			     wanted.end <= boot_info.ranges[n].end;
	return is_memory && wanted.end <= start_memory_end();
}

/* Where a RAM disk lies, which must be free; the `n` at `others` were placed before. */
static struct boot_range start_check_place(const struct ramdisk_wish *wish,
					   const struct boot_range *others, unsigned n)
{
	struct boot_range place = {wish->start, wish->start + wish->size};
	bool is_free = start_is_memory(place) && place.start >= start_loaded_end();

	for (; n > 0; n--, others++)
		is_free &= place.end <= others->start || place.start >= others->end;
	if (!is_free)
		machine_refuse("ramdisk=%u@%u: no free memory is there, or another disk",
			       wish->size / MEGABYTE, wish->start / MEGABYTE);
	return place;
}

/*
 * Those of boot modules, whose memory is reserved as it is; and those of ramdisk=, at or above
 * `start` if nothing else is said, whose memory goes to `reserved`.  Returns how many these are.
 */
static unsigned start_add_ramdisks(uint32_t start, struct boot_range *reserved)
{
	struct ramdisk_wish wish;
	struct boot_range place;
	unsigned n;

	for (unsigned module = 0; module < boot_info.n_modules; module++) {
		if (ramdisk_is_module(boot_info.modules[module].command))
			start_add_ramdisk_module(&boot_info.modules[module]);
	}
	for (n = 0; ramdisk_wanted(n, &wish); n++) {
		bool is_said = wish.start != 0;

		if (!is_said)
			wish.start = start_place_above(start, wish.size, "a RAM disk");
		place = start_check_place(&wish, reserved, n);
		if (!ramdisk_add(place.start, wish.size))
			machine_refuse("there are more than %u RAM disks", MACHINE_RAMDISKS);
		reserved[n] = place;
		start = is_said ? start : place.end;
	}
	return n;
}

/* Gives [start, end) to the allocator, as much of it as pool= leaves. */
static void start_add_some(uint32_t start, uint32_t end)
{
	if (end - start > pool)
		end = start + pool;
	pool -= end - start;
	page_add_range(start, end);
}

/* Gives [start, end) to the allocator but for what lies in the reserved ranges from `first` on. */
static void start_add_free(uint32_t start, uint32_t end, const struct boot_range *reserved,
			   unsigned n)
{
	for (; n > 0; n--, reserved++) {
		if (reserved->start >= end || reserved->end <= start)
			continue;
		if (reserved->start > start)
			start_add_free(start, reserved->start, reserved + 1, n - 1);
		if (reserved->end >= end)
			return;
		start = reserved->end;
	}
	start_add_some(start, end);
}

static void start_add_memory(const struct boot_range *reserved, unsigned n_reserved)
{
	uint32_t mib = argument_number("pool", 0);
	uint32_t added = 0;

	if (mib != 0)
		pool = mib < DIRECT_MAP_SIZE / MEGABYTE ? mib * MEGABYTE : DIRECT_MAP_SIZE;
	for (unsigned n = 0; n < boot_info.n_ranges; n++) {
		struct boot_range range = boot_info.ranges[n];

		/* Firmware may report a range twice. */
		if (range.start < added)
			range.start = added;
		if (range.end > added)
			added = range.end;
		if (range.end > start_memory_end())
			range.end = start_memory_end();
		if (range.start < range.end)
			start_add_free(range.start, range.end, reserved, n_reserved);
	}
}

static void start_memory_init(void)
{
	struct boot_range reserved[MAX_MODULES + MACHINE_RAMDISKS + 2];
	uint32_t array_size = page_round((uint32_t)page_init(NULL, start_memory_end()));
	uint32_t array = start_place_above(start_loaded_end(), array_size, "the page structures");
	unsigned n = 0;

	reserved[n++] = (struct boot_range){MEGABYTE, page_round(virt_to_phys(kernel_end))};
	reserved[n++] = (struct boot_range){array, array + array_size};
	for (unsigned module = 0; module < boot_info.n_modules; module++) {
		struct boot_range image = boot_info.modules[module].image;

		reserved[n++] = (struct boot_range){page_trunc(image.start), page_round(image.end)};
	}
	n += start_add_ramdisks(array + array_size, reserved + n);
	page_init(phys_to_virt(array), start_memory_end());
	start_add_memory(reserved, n);
}

static void start_memory_report(void)
{
	uint32_t used = page_count(PAGE_FREE) / (MEGABYTE / PAGE_SIZE);
	uint32_t beyond = boot_info.beyond;

	for (unsigned n = 0; n < boot_info.n_ranges; n++)
		if (boot_info.ranges[n].end > DIRECT_MAP_SIZE)
			beyond += (boot_info.ranges[n].end - DIRECT_MAP_SIZE) / MEGABYTE;
	klog("memory: %u MiB for programs\n", used);
	if (beyond != 0)
		klog("memory: %u MiB above %u MiB are left alone\n", beyond,
		     DIRECT_MAP_SIZE / MEGABYTE);
}

/* ---------------- The story ---------------- */

/* The boot CPU's tables and stacks: before this a fault could not even be told of. */
static void boot_cpu_init(void)
{
	struct cpu *cpu = &cpus[0];

	cpu->self = cpu;
	segment_init(cpu);
	segment_load(cpu);
	cpu_features_find();
	cpu_features_enable();
	fpu_init();
	pic_silence();
	interrupts_on();
	kernel_lock();
}

static void start_read_loader(uint32_t magic, uint32_t information)
{
	const char *wrong = multiboot_read(magic, information);

	if (wrong != NULL)
		machine_refuse("%s", wrong);
	arguments_init(boot_info.command);
	log_configure();
	if (start_memory_size() < SMALLEST_MIB * MEGABYTE - FIRMWARE_SLACK)
		machine_refuse("it needs %u MiB of memory and there are %u", SMALLEST_MIB,
			       start_memory_size() / MEGABYTE);
}

static void boot_thread_init(void)
{
	struct cpu *cpu = &cpus[0];

	cpu->idle_thread = thread_create_boot();
	cpu->thread = cpu->idle_thread;
	cpu->machine.tss.esp0 = cpu->thread->machine.stack_top;
}

static void start_interrupts_init(struct acpi_machine *machine)
{
	const char *wrong = acpi_read(machine);

	if (wrong != NULL)
		machine_refuse("%s", wrong);
	if (lapic_is_x2apic())
		machine_refuse("firmware left the local APIC in x2APIC mode; turn that off");
	lapic_map(machine->lapic_address);
	lapic_enable();
	cpus[0].machine.apic_id = lapic_id();
	ioapic_init(machine);
	if (!ioapic_has(PIT_IRQ))
		machine_refuse("no I/O APIC has a pin for the interval timer");
}

static void start_clocks_init(void)
{
	struct calibration rates;
	const char *wrong;
	char delivery[8];

	interrupts_off();
	wrong = calibrate(&rates);
	interrupts_on();
	if (wrong != NULL)
		machine_refuse("%s", wrong);
	clock_init(rates.tsc_hz, boot_cycles);
	tick_init();
	load_init();
	if (argument_string("clock", delivery, sizeof delivery) && strcmp(delivery, "block") == 0)
		klog("clock: interrupts come between blocks of code only: no sample is exact\n");
	klog("clock: %u kHz by %s, within %u parts of a million\n",
	     (unsigned)divide(rates.tsc_hz, 1000), rates.source, rates.doubt);
}

static unsigned start_cpus_wanted(void)
{
	uint32_t wanted = argument_number("cpus", MAX_CPUS);

	return wanted < MAX_CPUS ? wanted : MAX_CPUS;
}

void kernel_main(uint32_t magic, uint32_t information)
{
	static struct acpi_machine machine;

	boot_cpu_init();
	report_begin(boot_cycles);
	start_read_loader(magic, information);
	klog("Assay: a kernel that samples\n");
	start_memory_init();
	pmap_init();
	objects_init();
	boot_thread_init();
	start_interrupts_init(&machine);
	start_clocks_init();
	tick_start(&cpus[0]);
	start_cpus(&machine, start_cpus_wanted());
	start_memory_report();
	klog("cpus: %u\n", n_cpus);
	holder_start();
	virtio_pci_find();
	arguments_check();
	start_programs();
	sched_idle();
}
