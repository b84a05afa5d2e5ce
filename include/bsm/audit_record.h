/* SPDX-License-Identifier: MIT */
/*
 * How a record lies in the trail: a header, tokens, a trailer, each begun by a byte that says what
 * it is.  All numbers are big-endian, none is aligned.
 *
 *	header   AUT_HEADER32: u32 bytes of the record, u8 version, u16 event, u16 modifier,
 *	         u32 seconds, u32 milliseconds
 *	trailer  AUT_TRAILER: u16 AUT_TRAILER_MAGIC, u32 bytes of the record
 *
 * A file may begin and end with a file token, which is in no record.
 */
#ifndef BSM_AUDIT_RECORD_H
#define BSM_AUDIT_RECORD_H

#define AUT_OTHER_FILE32 0x11 /* u32 seconds, u32 milliseconds, u16 length, name with its zero */
#define AUT_TRAILER      0x13
#define AUT_HEADER32     0x14
#define AUT_DATA         0x21 /* u8 how to print, u8 unit, u8 count, units */
#define AUT_OPAQUE       0x29 /* u16 length, bytes */
#define AUT_PATH         0x23 /* u16 length, text with its zero */
#define AUT_SUBJECT32    0x24 /* u32 auid, euid, egid, ruid, rgid, pid, session, port, address */
#define AUT_PROCESS32    0x26 /* The same, of whom it was done to. */
#define AUT_RETURN32     0x27 /* u8 error, u32 value */
#define AUT_TEXT         0x28 /* u16 length, text with its zero */
#define AUT_ARG32        0x2d /* u8 which argument, u32 value, u16 length, its name */
#define AUT_SEQ          0x2f /* u32 */
#define AUT_NEWGROUPS    0x3b /* u16 count, u32 each */
#define AUT_EXEC_ARGS    0x3c /* u32 count, strings with their zeros */
#define AUT_ATTR32       0x3e /* u32 mode, uid, gid, file system, u64 inode, u32 device */
#define AUT_EXIT         0x52 /* u32 status, u32 value */
#define AUT_ARG64        0x71 /* u8 which argument, u64 value, u16 length, its name */

#define AUDIT_HEADER_VERSION 11
/* Of AUT_DATA: how to print, and its units, of 1, 2, 4 or 8 bytes. */
#define AUP_BINARY  0
#define AUP_OCTAL   1
#define AUP_DECIMAL 2
#define AUP_HEX     3
#define AUP_STRING  4
#define AUR_BYTE    0
#define AUR_SHORT   1
#define AUR_INT32   2
#define AUR_INT64   3

#define AUT_TRAILER_MAGIC  0xb105
#define AUDIT_HEADER_SIZE  18
#define AUDIT_TRAILER_SIZE 7

/* Modifiers. */
#define PAD_NOTATTR 0x4000 /* Of nobody who logged in. */
#define PAD_FAILURE 0x8000

#endif
