/* SPDX-License-Identifier: MIT */
/*
 * What the parser makes of a script: words, redirections and commands.
 *
 * A tree lies in the region of the complete command that it belongs to.  It is never changed, and
 * a function that is defined by it keeps the region.
 */
#ifndef SH_TREE_H
#define SH_TREE_H

#include <stdbool.h>

struct node;

enum part_kind {
	PART_TEXT,       /* Characters as they stand. */
	PART_PARAMETER,  /* ${name} in all its forms. */
	PART_COMMAND,    /* $(...) or backquotes. */
	PART_ARITHMETIC, /* $((...)) */
};

/* What is done with a parameter's value; 0 is nothing. */
enum operation {
	OPERATION_LENGTH = 'L',
	OPERATION_DEFAULT = '-',
	OPERATION_ASSIGN = '=',
	OPERATION_ERROR = '?',
	OPERATION_OTHER = '+',
	OPERATION_SUFFIX = '%',
	OPERATION_PREFIX = '#',
};

/* A piece of a word between two changes of quoting or kind. */
struct part {
	struct part *next;
	enum part_kind kind;
	bool quoted;
	char *text;           /* The characters, or the parameter's name. */
	int operation;        /* On the parameter. */
	bool null_is_unset;   /* The operation had a colon. */
	bool longest;         /* %% or ## */
	struct word *operand; /* Of the operation; the expression of an arithmetic part. */
	struct node *command; /* NULL if there is nothing to execute. */
};

struct word {
	struct word *next;
	struct part *parts; /* At least one, an empty quoted text for "". */
};

struct assignment {
	struct assignment *next;
	char *name;
	struct word *word;
};

enum redirection_kind {
	REDIRECT_READ,      /* < */
	REDIRECT_WRITE,     /* > */
	REDIRECT_CLOBBER,   /* >|, which `set -C` does not hinder. */
	REDIRECT_APPEND,    /* >> */
	REDIRECT_BOTH,      /* <> */
	REDIRECT_DUPLICATE, /* <& and >& */
	REDIRECT_HERE,      /* << and <<- */
};

struct redirection {
	struct redirection *next;
	enum redirection_kind kind;
	int descriptor;
	struct word *word; /* File, descriptor or "-"; the text itself for a here-document. */
	/* Of a here-document while its text is still to come. */
	struct redirection *next_pending;
	char *delimiter;
	bool is_literal; /* The delimiter was quoted: nothing is expanded. */
	bool strips_tabs;
};

enum node_kind {
	NODE_SIMPLE,
	NODE_PIPELINE,
	NODE_AND_OR,
	NODE_LIST,
	NODE_SUBSHELL,
	NODE_GROUP,
	NODE_IF,
	NODE_WHILE,
	NODE_FOR,
	NODE_CASE,
	NODE_FUNCTION,
};

/* How a command of a NODE_AND_OR is joined to the one before it. */
enum connector {
	CONNECT_FIRST,
	CONNECT_AND,
	CONNECT_OR,
};

struct case_item {
	struct case_item *next;
	struct word *patterns;
	struct node *body; /* NULL if empty. */
};

struct node {
	struct node *next; /* In the pipeline or list that this is an element of. */
	enum node_kind kind;
	int line;
	bool is_background; /* An element of a list that ends in &. */
	bool is_negated;    /* A pipeline after !, or a loop with `until`. */
	bool is_explicit;   /* `for` has an `in`, a pipeline has a !. */
	enum connector connector;
	struct redirection *redirections;
	struct assignment *assignments; /* Of a simple command. */
	struct word *words; /* A simple command's, `for`'s, or the one that `case` has. */
	char *name;         /* `for`'s variable, or the function. */
	struct node *first; /* Element of a pipeline or a list. */
	struct node *condition;
	struct node *body;
	struct node *otherwise;
	struct case_item *items;
	struct region *region; /* Where a function's tree lies. */
};

#endif
