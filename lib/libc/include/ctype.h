/* SPDX-License-Identifier: MIT */
/* Kinds of characters, as the C locale has them.  Arguments are EOF or of unsigned char. */
#ifndef _CTYPE_H
#define _CTYPE_H

#define __CTYPE_UPPER 0x01
#define __CTYPE_LOWER 0x02
#define __CTYPE_DIGIT 0x04
#define __CTYPE_SPACE 0x08
#define __CTYPE_PUNCT 0x10
#define __CTYPE_CNTRL 0x20
#define __CTYPE_HEX   0x40
#define __CTYPE_BLANK 0x80 /* Space and tab; of these only space is printed. */

/* The kinds of EOF, then those of every character. */
extern const unsigned char __ctype_kinds[257];

#define __ctype_is(character, kinds) ((__ctype_kinds + 1)[(int)(character)] & (kinds))

int isalnum(int character);
int isalpha(int character);
int isascii(int character);
int isblank(int character);
int iscntrl(int character);
int isdigit(int character);
int isgraph(int character);
int islower(int character);
int isprint(int character);
int ispunct(int character);
int isspace(int character);
int isupper(int character);
int isxdigit(int character);
int toascii(int character);
int tolower(int character);
int toupper(int character);

#define __CTYPE_ALPHA (__CTYPE_UPPER | __CTYPE_LOWER)
#define __CTYPE_GRAPH (__CTYPE_ALPHA | __CTYPE_DIGIT | __CTYPE_PUNCT)

#define isalnum(character)  __ctype_is(character, __CTYPE_ALPHA | __CTYPE_DIGIT)
#define isalpha(character)  __ctype_is(character, __CTYPE_ALPHA)
#define isblank(character)  __ctype_is(character, __CTYPE_BLANK)
#define iscntrl(character)  __ctype_is(character, __CTYPE_CNTRL)
#define isdigit(character)  __ctype_is(character, __CTYPE_DIGIT)
#define isgraph(character)  __ctype_is(character, __CTYPE_GRAPH)
#define islower(character)  __ctype_is(character, __CTYPE_LOWER)
#define ispunct(character)  __ctype_is(character, __CTYPE_PUNCT)
#define isspace(character)  __ctype_is(character, __CTYPE_SPACE)
#define isupper(character)  __ctype_is(character, __CTYPE_UPPER)
#define isxdigit(character) __ctype_is(character, __CTYPE_HEX)

#endif
