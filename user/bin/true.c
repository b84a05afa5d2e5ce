/* SPDX-License-Identifier: MIT */
/* true: does nothing, successfully. */
int main(void)
{
	return 0;
}
