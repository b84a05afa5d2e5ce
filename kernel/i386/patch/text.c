/* SPDX-License-Identifier: MIT */
/* Writing to the text: see text.h. */
#include "i386/patch/text.h"

#include "i386/mmu/pmap.h"

static uint32_t window_page; /* That it shows; 0: none. */

bool text_open(void)
{
	return pmap_window_open();
}

void text_close(void)
{
	pmap_window_close();
	window_page = 0;
}

volatile struct unaligned *text_window_for(uint32_t address)
{
	if (page_trunc(address) != window_page) {
		window_page = page_trunc(address);
		pmap_window_show_text(window_page);
	}
	return (volatile struct unaligned *)(PATCH_WINDOW + (address - window_page));
}

void text_write(uint32_t address, uint32_t word)
{
	text_window_for(address)->word = word;
}
