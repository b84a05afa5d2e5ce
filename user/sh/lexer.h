/* SPDX-License-Identifier: MIT */
/*
 * The lexer: from characters to tokens, one ahead of the parser.
 *
 * lexer.c knows tokens, words.c what is inside a word.  There is one lexer; a substitution's
 * commands are read by it while the word around them is unfinished.
 */
#ifndef SH_LEXER_H
#define SH_LEXER_H

#include <stdbool.h>

#include "memory.h"
#include "tree.h"

enum token {
	TOKEN_END,
	TOKEN_NEWLINE,
	TOKEN_WORD,
	TOKEN_NUMBER, /* Digits right before < or >. */
	TOKEN_AND,
	TOKEN_BACKGROUND,
	TOKEN_OR,
	TOKEN_PIPE,
	TOKEN_SEMICOLON,
	TOKEN_CASE_END,
	TOKEN_OPEN,
	TOKEN_CLOSE,
	TOKEN_READ,
	TOKEN_WRITE,
	TOKEN_APPEND,
	TOKEN_CLOBBER,
	TOKEN_BOTH,
	TOKEN_DUPLICATE_READ,
	TOKEN_DUPLICATE_WRITE,
	TOKEN_HERE,
	TOKEN_HERE_TABS,
};

struct lexer {
	struct region *region; /* Of the tree that is being made. */
	bool is_ready;         /* A token was looked at and not taken. */
	enum token token;
	int line;                    /* Where the token begins. */
	struct word *word;           /* Of TOKEN_WORD. */
	int number;                  /* Of TOKEN_NUMBER. */
	unsigned depth;              /* Of nesting, so that input cannot use up the stack. */
	struct redirection *pending; /* Here-documents whose text begins after the next newline. */
};

extern struct lexer lexer;

/* The next token; it stays until lexer_take(). */
enum token lexer_peek(void);
void lexer_take(void);

/* The word's text if nothing in it is quoted or expanded, so that it may be a reserved word. */
const char *lexer_literal(void);
const char *word_literal(const struct word *word);

/* Reports a syntax error where the lexer is. */
_Noreturn void syntax_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Around everything that calls itself: an error if it is too deep. */
void lexer_enter(void);
void lexer_leave(void);

/* Forgets everything that a syntax error left. */
void lexer_reset(void);

/* A character with continued lines joined. */
int lexer_character(void);

/* Registers a redirection whose text is to be read. */
void lexer_expect_here(struct redirection *redirection);
void lexer_read_here(void);

/* ---- words.c ---- */

/* Reads a word up to the first character that cannot belong to it. */
struct word *read_word(void);

/* Reads all of a text as a here-document that is expanded, or as a prompt. */
struct word *read_text(const char *text, int line);

/* What begins with a $ that was read. */
struct part *read_dollar(bool quoted);
struct part *read_backquotes(bool quoted);

struct part *part_create(enum part_kind kind, bool quoted);

/* Places in which characters mean different things. */
enum place {
	PLACE_WORD,
	PLACE_DOUBLE,       /* Between double quotes. */
	PLACE_BRACE,        /* The operand in ${name-operand}. */
	PLACE_BRACE_DOUBLE, /* The same between double quotes. */
	PLACE_HERE,
	PLACE_ARITHMETIC,
};

struct word *read_place(enum place place);

bool is_name_start(int character);
bool is_name_character(int character);

#endif
