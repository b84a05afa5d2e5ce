/* SPDX-License-Identifier: MIT */
/* Commands that have commands in them. */
#include <string.h>

#include "parser.h"
#include "sh.h"

static struct node *parse_subshell(void)
{
	struct node *node = node_create(NODE_SUBSHELL);

	lexer_take();
	node->body = parse_list("(");
	parse_expect_token(TOKEN_CLOSE, ")");
	return node;
}

static struct node *parse_group(void)
{
	struct node *node = node_create(NODE_GROUP);

	lexer_take();
	node->body = parse_list("{");
	parse_expect("}");
	return node;
}

/* From `if` or `elif` on. */
static struct node *parse_if(void)
{
	struct node *node = node_create(NODE_IF);

	lexer_enter();
	lexer_take();
	node->condition = parse_list("if");
	parse_expect("then");
	node->body = parse_list("then");
	if (parse_at("elif")) {
		node->otherwise = parse_if();
		lexer_leave();
		return node;
	}
	if (parse_at("else")) {
		lexer_take();
		node->otherwise = parse_list("else");
	}
	parse_expect("fi");
	lexer_leave();
	return node;
}

static struct node *parse_do(void)
{
	struct node *body;

	parse_expect("do");
	body = parse_list("do");
	parse_expect("done");
	return body;
}

static struct node *parse_while(void)
{
	struct node *node = node_create(NODE_WHILE);

	node->is_negated = parse_at("until");
	lexer_take();
	node->condition = parse_list("while");
	node->body = parse_do();
	return node;
}

static struct word *parse_words(void)
{
	struct word *first = NULL;
	struct word **end = &first;

	while (lexer_peek() == TOKEN_WORD) {
		*end = lexer.word;
		end = &lexer.word->next;
		lexer_take();
	}
	return first;
}

static struct node *parse_for(void)
{
	struct node *node = node_create(NODE_FOR);
	const char *name;

	lexer_take();
	name = lexer_literal();
	if (name == NULL || !is_name(name))
		syntax_error("bad variable name after for");
	node->name = region_copy(lexer.region, name, strlen(name));
	lexer_take();
	if (lexer_peek() == TOKEN_SEMICOLON)
		lexer_take();
	parse_newlines();
	if (parse_at("in")) {
		node->is_explicit = true;
		lexer_take();
		node->words = parse_words();
		if (lexer_peek() != TOKEN_SEMICOLON && lexer_peek() != TOKEN_NEWLINE)
			parse_unexpected();
		lexer_take();
		parse_newlines();
	}
	node->body = parse_do();
	return node;
}

static struct case_item *parse_case_item(void)
{
	struct case_item *item = region_allocate(lexer.region, sizeof(*item));
	struct word **end = &item->patterns;

	if (lexer_peek() == TOKEN_OPEN)
		lexer_take();
	for (;;) {
		if (lexer_peek() != TOKEN_WORD)
			parse_unexpected();
		*end = lexer.word;
		end = &lexer.word->next;
		lexer_take();
		if (lexer_peek() != TOKEN_PIPE)
			break;
		lexer_take();
	}
	parse_expect_token(TOKEN_CLOSE, ")");
	item->body = parse_list(NULL);
	return item;
}

static struct node *parse_case(void)
{
	struct node *node = node_create(NODE_CASE);
	struct case_item **end = &node->items;

	lexer_take();
	if (lexer_peek() != TOKEN_WORD)
		parse_unexpected();
	node->words = lexer.word;
	lexer_take();
	parse_newlines();
	parse_expect("in");
	parse_newlines();
	while (!parse_at("esac")) {
		*end = parse_case_item();
		end = &(*end)->next;
		if (lexer_peek() != TOKEN_CASE_END)
			break;
		lexer_take();
		parse_newlines();
	}
	parse_expect("esac");
	return node;
}

static const struct compound {
	const char *word;
	struct node *(*parse)(void);
} compounds[] = {
	{"{", parse_group},     {"if", parse_if},   {"while", parse_while},
	{"until", parse_while}, {"for", parse_for}, {"case", parse_case},
};

struct node *parse_compound(void)
{
	if (lexer_peek() == TOKEN_OPEN)
		return parse_subshell();
	for (size_t i = 0; i < sizeof(compounds) / sizeof(compounds[0]); i++)
		if (parse_at(compounds[i].word))
			return compounds[i].parse();
	return NULL;
}
