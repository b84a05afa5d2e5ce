#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Gradescope runs this once, as root, where it has unpacked the zip file that was uploaded.  In that
# are this script, run_autograder, assay-grader.tar (`make bundle`) and secret.
set -eu
cd "$(dirname "$0")"
if ! [ -s secret ]; then
	echo "setup.sh: the zip file has no file 'secret', of which inputs are made:" >&2
	echo '    (umask 077; openssl rand -hex 16 >secret)' >&2
	exit 1
fi
tar xf assay-grader.tar
assay-grader/setup grading
chmod 600 secret
chmod 700 . # Not for the user who compiles what was handed in.
