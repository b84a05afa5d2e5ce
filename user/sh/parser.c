/* SPDX-License-Identifier: MIT */
/* Lists, pipelines, simple commands and redirections. */
#include <assert.h>
#include <string.h>

#include "parser.h"
#include "sh.h"
#include "source.h"

static const char *const closing_words[] = {"then", "else", "elif", "fi", "do",
					    "done", "esac", "}",    NULL};

struct node *node_create(enum node_kind kind)
{
	struct node *node = region_allocate(lexer.region, sizeof(*node));

	node->kind = kind;
	node->line = lexer.line;
	return node;
}

bool is_name(const char *text)
{
	if (!is_name_start((unsigned char)*text))
		return false;
	while (is_name_character((unsigned char)*text))
		text++;
	return *text == '\0';
}

void parse_newlines(void)
{
	while (lexer_peek() == TOKEN_NEWLINE)
		lexer_take();
}

bool parse_at(const char *reserved)
{
	const char *literal = lexer_literal();

	return literal != NULL && strcmp(literal, reserved) == 0;
}

void parse_unexpected(void)
{
	static const char *const names[] = {
		[TOKEN_END] = "end of file",
		[TOKEN_NEWLINE] = "end of line",
		[TOKEN_WORD] = "word",
		[TOKEN_NUMBER] = "number",
		[TOKEN_AND] = "&&",
		[TOKEN_BACKGROUND] = "&",
		[TOKEN_OR] = "||",
		[TOKEN_PIPE] = "|",
		[TOKEN_SEMICOLON] = ";",
		[TOKEN_CASE_END] = ";;",
		[TOKEN_OPEN] = "(",
		[TOKEN_CLOSE] = ")",
		[TOKEN_READ] = "<",
		[TOKEN_WRITE] = ">",
		[TOKEN_APPEND] = ">>",
		[TOKEN_CLOBBER] = ">|",
		[TOKEN_BOTH] = "<>",
		[TOKEN_DUPLICATE_READ] = "<&",
		[TOKEN_DUPLICATE_WRITE] = ">&",
		[TOKEN_HERE] = "<<",
		[TOKEN_HERE_TABS] = "<<-",
	};
	enum token token = lexer_peek();
	const char *literal = lexer_literal();

	syntax_error("%s unexpected", literal != NULL ? literal : names[token]);
}

void parse_expect(const char *reserved)
{
	if (!parse_at(reserved)) {
		const char *literal = lexer_literal();

		if (literal != NULL)
			syntax_error("%s unexpected (expecting %s)", literal, reserved);
		if (lexer_peek() == TOKEN_END)
			syntax_error("end of file unexpected (expecting %s)", reserved);
		parse_unexpected();
	}
	lexer_take();
}

void parse_expect_token(enum token token, const char *text)
{
	if (lexer_peek() == TOKEN_END)
		syntax_error("end of file unexpected (expecting %s)", text);
	if (lexer_peek() != token)
		parse_unexpected();
	lexer_take();
}

static bool at_closing_word(void)
{
	for (const char *const *word = closing_words; *word != NULL; word++)
		if (parse_at(*word))
			return true;
	return false;
}

bool parse_at_redirection(void)
{
	enum token token = lexer_peek();

	return token == TOKEN_NUMBER || token >= TOKEN_READ;
}

static enum redirection_kind kind_of(enum token token)
{
	static const enum redirection_kind kinds[] = {
		[TOKEN_READ] = REDIRECT_READ,
		[TOKEN_WRITE] = REDIRECT_WRITE,
		[TOKEN_APPEND] = REDIRECT_APPEND,
		[TOKEN_CLOBBER] = REDIRECT_CLOBBER,
		[TOKEN_BOTH] = REDIRECT_BOTH,
		[TOKEN_DUPLICATE_READ] = REDIRECT_DUPLICATE,
		[TOKEN_DUPLICATE_WRITE] = REDIRECT_DUPLICATE,
		[TOKEN_HERE] = REDIRECT_HERE,
		[TOKEN_HERE_TABS] = REDIRECT_HERE,
	};

	assert(token >= TOKEN_READ);
	return kinds[token];
}

static bool reads_by_default(enum token token)
{
	return token == TOKEN_READ || token == TOKEN_BOTH || token == TOKEN_DUPLICATE_READ ||
	       token == TOKEN_HERE || token == TOKEN_HERE_TABS;
}

/* The delimiter is what the word's text is; expansions in it are no text. */
static void expect_here(struct redirection *redirection, const struct word *word)
{
	struct string delimiter;

	string_start(&delimiter, lexer.region);
	for (const struct part *part = word->parts; part != NULL; part = part->next) {
		if (part->kind != PART_TEXT)
			syntax_error("bad end of a here-document");
		redirection->is_literal |= part->quoted;
		string_add_text(&delimiter, part->text);
	}
	redirection->delimiter = delimiter.bytes;
	lexer_expect_here(redirection);
}

struct redirection *parse_redirection(void)
{
	struct redirection *redirection = region_allocate(lexer.region, sizeof(*redirection));
	enum token token = lexer_peek();
	int descriptor = -1;

	if (token == TOKEN_NUMBER) {
		descriptor = lexer.number;
		lexer_take();
		token = lexer_peek();
	}
	lexer_take();
	redirection->kind = kind_of(token);
	redirection->strips_tabs = token == TOKEN_HERE_TABS;
	redirection->descriptor = descriptor >= 0 ? descriptor : !reads_by_default(token);
	if (lexer_peek() != TOKEN_WORD)
		parse_unexpected();
	if (redirection->kind == REDIRECT_HERE)
		expect_here(redirection, lexer.word);
	else
		redirection->word = lexer.word;
	lexer_take();
	return redirection;
}

struct redirection *parse_redirections(void)
{
	struct redirection *first = NULL;
	struct redirection **end = &first;

	while (parse_at_redirection()) {
		*end = parse_redirection();
		end = &(*end)->next;
	}
	return first;
}

/* Makes an assignment of a word such as name=value; NULL if it is none. */
static struct assignment *assignment_of(struct word *word)
{
	struct part *part = word->parts;
	struct assignment *assignment;
	size_t length = 0;

	if (part->kind != PART_TEXT || part->quoted)
		return NULL;
	while (is_name_character((unsigned char)part->text[length]))
		length++;
	if (part->text[length] != '=' || !is_name_start((unsigned char)part->text[0]))
		return NULL;
	assignment = region_allocate(lexer.region, sizeof(*assignment));
	assignment->name = region_copy(lexer.region, part->text, length);
	part->text += length + 1;
	assignment->word = word;
	return assignment;
}

/* name() command */
static struct node *parse_function(struct node *node)
{
	const char *name = word_literal(node->words);

	if (name == NULL || !is_name(name))
		syntax_error("bad function name");
	lexer_take();
	parse_expect_token(TOKEN_CLOSE, ")");
	parse_newlines();
	node->kind = NODE_FUNCTION;
	node->name = region_copy(lexer.region, name, strlen(name));
	node->body = parse_compound();
	if (node->body == NULL)
		parse_unexpected();
	node->body->redirections = parse_redirections();
	node->region = lexer.region;
	return node;
}

struct simple_ends {
	struct assignment **assignment;
	struct word **word;
	struct redirection **redirection;
};

/* One word or redirection of a simple command; false where it ends. */
static bool parse_simple_element(struct node *node, struct simple_ends *ends)
{
	struct assignment *assignment;

	if (parse_at_redirection()) {
		*ends->redirection = parse_redirection();
		ends->redirection = &(*ends->redirection)->next;
		return true;
	}
	if (lexer_peek() != TOKEN_WORD)
		return false;
	assignment = node->words == NULL ? assignment_of(lexer.word) : NULL;
	if (assignment != NULL) {
		*ends->assignment = assignment;
		ends->assignment = &assignment->next;
	} else {
		*ends->word = lexer.word;
		ends->word = &lexer.word->next;
	}
	lexer_take();
	return true;
}

static struct node *parse_simple(void)
{
	struct node *node = node_create(NODE_SIMPLE);
	struct simple_ends ends = {&node->assignments, &node->words, &node->redirections};

	while (parse_simple_element(node, &ends))
		if (lexer_peek() == TOKEN_OPEN && node->words != NULL &&
		    node->words->next == NULL && node->assignments == NULL &&
		    node->redirections == NULL)
			return parse_function(node);
	if (node->words == NULL && node->assignments == NULL && node->redirections == NULL)
		parse_unexpected();
	return node;
}

static struct node *parse_command(void)
{
	struct node *node;

	if (at_closing_word())
		parse_unexpected();
	lexer_enter();
	node = parse_compound();
	if (node != NULL)
		node->redirections = parse_redirections();
	else
		node = parse_simple();
	lexer_leave();
	return node;
}

static struct node *parse_pipeline(void)
{
	struct node *node = node_create(NODE_PIPELINE);
	struct node **end = &node->first;

	while (parse_at("!")) {
		node->is_negated = !node->is_negated;
		node->is_explicit = true;
		lexer_take();
	}
	*end = parse_command();
	while (lexer_peek() == TOKEN_PIPE) {
		lexer_take();
		parse_newlines();
		end = &(*end)->next;
		*end = parse_command();
	}
	return node->first->next == NULL && !node->is_explicit ? node->first : node;
}

static struct node *parse_and_or(void)
{
	struct node *node = node_create(NODE_AND_OR);
	struct node **end = &node->first;

	*end = parse_pipeline();
	while (lexer_peek() == TOKEN_AND || lexer_peek() == TOKEN_OR) {
		enum connector connector = lexer_peek() == TOKEN_AND ? CONNECT_AND : CONNECT_OR;

		lexer_take();
		parse_newlines();
		end = &(*end)->next;
		*end = parse_pipeline();
		(*end)->connector = connector;
	}
	return node->first->next == NULL ? node->first : node;
}

static bool at_list_end(void)
{
	enum token token = lexer_peek();

	return token == TOKEN_END || token == TOKEN_CLOSE || token == TOKEN_CASE_END ||
	       at_closing_word();
}

/* Takes ; or & after a command; false if there is none. */
static bool parse_separator(struct node *node)
{
	enum token token = lexer_peek();

	if (token != TOKEN_SEMICOLON && token != TOKEN_BACKGROUND)
		return false;
	node->is_background = token == TOKEN_BACKGROUND;
	lexer_take();
	return true;
}

struct node *parse_list(const char *what)
{
	struct node *node = node_create(NODE_LIST);
	struct node **end = &node->first;

	parse_newlines();
	while (!at_list_end()) {
		*end = parse_and_or();
		if (!parse_separator(*end) && lexer_peek() != TOKEN_NEWLINE)
			break;
		end = &(*end)->next;
		parse_newlines();
	}
	if (node->first != NULL)
		return node;
	if (what != NULL)
		parse_unexpected();
	return NULL;
}

/* The same up to the end of the line. */
static struct node *parse_line(void)
{
	struct node *node = node_create(NODE_LIST);
	struct node **end = &node->first;

	do {
		*end = parse_and_or();
		if (!parse_separator(*end))
			break;
		end = &(*end)->next;
	} while (lexer_peek() != TOKEN_NEWLINE && lexer_peek() != TOKEN_END);
	if (lexer_peek() != TOKEN_NEWLINE && lexer_peek() != TOKEN_END)
		parse_unexpected();
	return node;
}

enum parsed parse_command_line(struct node **command, struct region *region)
{
	enum parsed result = PARSED_COMMAND;

	lexer.region = region;
	*command = NULL;
	source_prompt_command();
	if (lexer_peek() == TOKEN_END)
		result = PARSED_END;
	else if (lexer_peek() == TOKEN_NEWLINE)
		result = PARSED_NOTHING;
	else
		*command = parse_line();
	lexer_take();
	assert(lexer.depth == 0);
	return result;
}

/* The word around it is unfinished: what the lexer knows of that is kept. */
struct node *parse_substitution(bool in_parentheses)
{
	struct lexer saved = lexer;
	struct node *node;

	lexer.is_ready = false;
	lexer.pending = NULL;
	lexer_enter();
	node = parse_list(NULL);
	if (in_parentheses)
		parse_expect_token(TOKEN_CLOSE, ")");
	else if (lexer_peek() != TOKEN_END)
		parse_unexpected();
	lexer_read_here();
	saved.region = lexer.region;
	lexer = saved;
	return node;
}
