/* SPDX-License-Identifier: MIT */
/*
 * Devices: what drivers offer, and what Mach's device interface (<mach/device.defs>) makes of it.
 *
 * A driver registers its devices by name at boot.  A device that is open has a port; messages to it
 * are calls.  Requests for data never block the caller inside the kernel: what cannot be answered
 * at once is kept, with its reply right and the label of its caller, until the driver completes it.
 * A completion runs in thread context under the kernel lock (interrupt_work()), never in an
 * interrupt handler, and under the label of its request.  Guarded by the kernel lock.
 */
#ifndef DEVICE_DEVICE_H
#define DEVICE_DEVICE_H

#include <stdbool.h>
#include <stdint.h>

#include <mach/device_types.h>
#include <mach/kern_return.h>
#include <mach/vm_prot.h>

#include <assay/list.h>

struct copy;
struct device;
struct message;
struct object;
struct port;

/* The most that one request may read or write. */
#define DEVICE_SIZE_MAX 0x100000u

/*
 * One request for data.  The driver has it from `read` or `write` until it calls request_done(),
 * at once or later.
 */
struct device_request {
	struct list link; /* The driver's, while it has the request. */
	struct device *device;
	struct port *reply;     /* The right to answer by, or PORT_NULL: nobody wants to know; */
	uint32_t reply_kind;    /* MACH_MSG_TYPE_PORT_SEND or PORT_SEND_ONCE. */
	uint32_t label;         /* On whose behalf. */
	struct message *answer; /* Its memory, from the beginning: an answer is never lost. */
	bool write;
	bool in_band;   /* The data is in the message: `bytes`, and not `data`. */
	bool is_passed; /* Its label is whoever the device brings it for, and changes with that. */
	dev_mode_t mode;
	recnum_t record;   /* Where: in units of the device's records. */
	uint32_t size;     /* Bytes wanted, or to write: at most DEVICE_SIZE_MAX. */
	struct copy *data; /* COPY_PAGES: to write, or what the driver has read; NULL if nothing. */
	uint32_t done;     /* Bytes written or read: the driver says. */
	char bytes[IO_INBAND_MAX];
};

struct driver {
	/* For each opening: D_SUCCESS, or why not.  NULL: always.  Does not block. */
	io_return_t (*open)(struct device *device, dev_mode_t mode);
	void (*close)(struct device *device); /* The last one who had it open is gone.  NULL. */
	/*
	 * Takes the request on D_SUCCESS only, and then may have answered it already.  NULL:
	 * D_INVALID_OPERATION.
	 */
	io_return_t (*read)(struct device *device, struct device_request *request);
	io_return_t (*write)(struct device *device, struct device_request *request);
	/* `*n` words of room in, words of answer out.  NULL: a device without a size. */
	io_return_t (*get_status)(struct device *device, dev_flavor_t flavor, int *status,
				  uint32_t *n);
	io_return_t (*set_status)(struct device *device, dev_flavor_t flavor, const int *status,
				  uint32_t n);
	/*
	 * What the device brings of its own accord is for this label from now on, which may be its
	 * event.  Of devices with an event.
	 */
	void (*pass)(struct device *device, uint32_t label);
	/* The object to be mapped, which stays the driver's.  NULL: D_INVALID_OPERATION. */
	io_return_t (*map)(struct device *device, vm_prot_t rights, uint32_t offset, uint32_t size,
			   struct object **object);
};

struct device {
	const char *name;
	const struct driver *driver;
	void *state;          /* The driver's own. */
	uint32_t record_size; /* Bytes in a record: 1, or a disk's sector. */
	uint32_t event;       /* Of what comes before anybody wants it (prof/unclaimed.h); or 0. */
	uint32_t whose;       /* For whom it comes while nobody reads: the event, or somebody. */
	uint32_t opens;       /* How often it is open. */
	struct port *port;    /* OBJECT_DEVICE, while it is open; NULL otherwise. */
	struct list link;     /* On the list of all devices. */
};

/* Adds a device, at boot and for good.  Its name is nobody else's. */
void device_add(struct device *device);

/* The device called `name`, or NULL. */
struct device *device_find(const char *name);

/* ---------------- Opening ---------------- */

/*
 * Opens the device once more, and gives the caller a send right to its port.  D_NO_MEMORY, or what
 * the driver says.
 */
io_return_t device_open(struct device *device, dev_mode_t mode, struct port **right);

/*
 * Undoes one opening, or with the last send right all of them.  Then the port is dead, and the
 * driver answers what it has kept for input that may never come.
 */
void device_close(struct device *device);
void device_no_senders(struct device *device);

/* ---------------- Requests: device_request.c ---------------- */

/* How a request came: <mach/device.defs>. */
struct request_origin {
	struct device *device;
	struct port *reply;
	uint32_t reply_kind;
	bool write;
	bool in_band;
	dev_mode_t mode;
	recnum_t record;
	uint32_t size;
};

/*
 * A request that has the caller's reply right and no data yet; NULL when there is no memory, with
 * the right still the caller's.
 */
struct device_request *request_create(const struct request_origin *origin);

/* Hands the request to its driver, or answers it if there is something wrong with it. */
void request_start(struct device_request *request);

/*
 * The driver is done with a request: answers it with `result`, and frees it with its data.  Of a
 * read that succeeded `data` is what was `done`.  Does not block.
 */
void request_done(struct device_request *request, io_return_t result);

/* Whether the one who is to get the answer is gone. */
bool request_is_orphan(const struct device_request *request);

void device_module_init(void);
void device_request_module_init(void);

#endif
