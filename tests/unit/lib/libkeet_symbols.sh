#!/usr/bin/env bash
# The library shows what its header declares and nothing else, each name with a version; and the header
# is one that C and C++ programs can include alone.
set -euo pipefail
library=$1 header=$2
shown=$(nm -D --defined-only "$library" | awk '$2 == "T" || $2 == "D" || $2 == "B" { print $3 }' | sort)
declared=$(grep -o '\bkeet_[a-z_]*(' "$header" | tr -d '(' | sort -u | sed 's/$/@@KEET_0/')
diff <(echo "$declared") <(echo "$shown")
echo "#include \"$header\"" | cc -std=c11 -Wall -Wextra -Wpedantic -Werror -fsyntax-only -xc -
if command -v c++ >/dev/null; then
    echo "#include \"$header\"" | c++ -std=c++11 -Wall -Wextra -Werror -fsyntax-only -xc++ -
fi
