/* SPDX-License-Identifier: MIT */
/*
 * Virtio disks: devices vd0, vd1, and so on.
 *
 * Data goes straight between the device and the pages of the request.  Several requests are under
 * way at once, in no order: two that overlap have none either.  What a completed request wrote is
 * on the disk, not in a cache of it.
 */
#ifndef DEVICE_VIRTIO_DISK_H
#define DEVICE_VIRTIO_DISK_H

struct virtio;

/* The memory for one more, and what its interrupt calls; or NULL if there are enough of them. */
struct virtio *virtio_disk_next(void);

/*
 * Makes a device of the disk whose registers are mapped and whose interrupt is connected: of what
 * virtio_disk_next() gave last.  NULL, or in a sentence why it cannot be used.  At boot.
 */
const char *virtio_disk_start(struct virtio *virtio);

#endif
