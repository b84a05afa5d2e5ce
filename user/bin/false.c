/* SPDX-License-Identifier: MIT */
/* false: does nothing, without success. */
int main(void)
{
	return 1;
}
