/* SPDX-License-Identifier: MIT */
/* The parser: from tokens to trees, by recursive descent. */
#ifndef SH_PARSER_H
#define SH_PARSER_H

#include <stdbool.h>

#include "lexer.h"
#include "tree.h"

enum parsed {
	PARSED_END,     /* Nothing is left. */
	PARSED_NOTHING, /* An empty line. */
	PARSED_COMMAND,
};

/* Reads one complete command into the region. */
enum parsed parse_command_line(struct node **command, struct region *region);

/* The commands of a substitution up to the closing parenthesis, or to the source's end. */
struct node *parse_substitution(bool in_parentheses);

/* For parse_compound.c: a list up to a token that cannot go on; `what` for the message if empty. */
struct node *parse_list(const char *what);
struct node *node_create(enum node_kind kind);
void parse_newlines(void);

/* Whether the next token is this reserved word; expecting it takes it. */
bool parse_at(const char *reserved);
void parse_expect(const char *reserved);
void parse_expect_token(enum token token, const char *text);
_Noreturn void parse_unexpected(void);

/* A command that begins with a reserved word or a parenthesis; NULL if this does not. */
struct node *parse_compound(void);

struct redirection *parse_redirections(void);
struct redirection *parse_redirection(void);
bool parse_at_redirection(void);

/* Whether it can be a variable's name. */
bool is_name(const char *text);

#endif
