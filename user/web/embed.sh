#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The page as C: embed.sh > page_html.h
set -eu

echo '/* Made by user/web/embed.sh. */'
echo 'static const char page_html[] ='
sh "$(dirname "$0")/assemble.sh" | sed 's/\\/\\\\/g; s/"/\\"/g; s/??/?\\?/g; s/^/"/; s/$/\\n"/'
echo ';'
