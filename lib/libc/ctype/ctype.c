/* SPDX-License-Identifier: MIT */
/* Kinds of characters: one table, in which the macros of <ctype.h> look too. */
#include <ctype.h>

#define CN __CTYPE_CNTRL
#define SC (__CTYPE_CNTRL | __CTYPE_SPACE)
#define TB (__CTYPE_CNTRL | __CTYPE_SPACE | __CTYPE_BLANK)
#define SP (__CTYPE_SPACE | __CTYPE_BLANK)
#define PU __CTYPE_PUNCT
#define DI (__CTYPE_DIGIT | __CTYPE_HEX)
#define UH (__CTYPE_UPPER | __CTYPE_HEX)
#define UP __CTYPE_UPPER
#define LH (__CTYPE_LOWER | __CTYPE_HEX)
#define LO __CTYPE_LOWER

/* clang-format off */
const unsigned char __ctype_kinds[257] = {
	0, /* EOF */
	CN, CN, CN, CN, CN, CN, CN, CN, CN, TB, SC, SC, SC, SC, CN, CN,
	CN, CN, CN, CN, CN, CN, CN, CN, CN, CN, CN, CN, CN, CN, CN, CN,
	SP, PU, PU, PU, PU, PU, PU, PU, PU, PU, PU, PU, PU, PU, PU, PU, /*   ! " # ... */
	DI, DI, DI, DI, DI, DI, DI, DI, DI, DI, PU, PU, PU, PU, PU, PU, /* 0 1 2 3 ... */
	PU, UH, UH, UH, UH, UH, UH, UP, UP, UP, UP, UP, UP, UP, UP, UP, /* @ A B C ... */
	UP, UP, UP, UP, UP, UP, UP, UP, UP, UP, UP, PU, PU, PU, PU, PU, /* P Q R S ... */
	PU, LH, LH, LH, LH, LH, LH, LO, LO, LO, LO, LO, LO, LO, LO, LO, /* ` a b c ... */
	LO, LO, LO, LO, LO, LO, LO, LO, LO, LO, LO, PU, PU, PU, PU, CN, /* p q r s ... */
};
/* clang-format on */

/* The name in parentheses is no use of the macro. */
#define KIND(name, kinds)                            \
	int(name)(int character)                     \
	{                                            \
		return __ctype_is(character, kinds); \
	}

KIND(isalnum, __CTYPE_ALPHA | __CTYPE_DIGIT)
KIND(isalpha, __CTYPE_ALPHA)
KIND(isblank, __CTYPE_BLANK)
KIND(iscntrl, __CTYPE_CNTRL)
KIND(isdigit, __CTYPE_DIGIT)
KIND(isgraph, __CTYPE_GRAPH)
KIND(islower, __CTYPE_LOWER)
KIND(ispunct, __CTYPE_PUNCT)
KIND(isspace, __CTYPE_SPACE)
KIND(isupper, __CTYPE_UPPER)
KIND(isxdigit, __CTYPE_HEX)

int isprint(int character)
{
	return character == ' ' || __ctype_is(character, __CTYPE_GRAPH);
}

int isascii(int character)
{
	return character >= 0 && character <= 0x7f;
}

int toascii(int character)
{
	return character & 0x7f;
}

int tolower(int character)
{
	return isupper(character) ? character - 'A' + 'a' : character;
}

int toupper(int character)
{
	return islower(character) ? character - 'a' + 'A' : character;
}
