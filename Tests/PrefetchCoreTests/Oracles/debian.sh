#!/bin/sh
# Compares pairs of versions by dpkg: one pair a line, separated by a tab.
# A version that dpkg warns of and still compares counts as valid.
tab=$(printf '\t')
valid() {
  dpkg --compare-versions "$1" eq "$1" 2>/dev/null && echo True || echo False
}
while IFS= read -r line; do
  a=${line%%"$tab"*}
  b=${line#*"$tab"}
  dpkg --compare-versions "$a" lt "$b" 2>/dev/null
  case $? in
  0) echo '<' ;;
  1) if dpkg --compare-versions "$a" eq "$b" 2>/dev/null; then echo '='; else echo '>'; fi ;;
  *) echo '?' "$(valid "$a")" "$(valid "$b")" ;;
  esac
done
