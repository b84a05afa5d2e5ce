# SPDX-License-Identifier: MIT
"""How test programs become tests: what they say they are, what they printed, what that means."""
