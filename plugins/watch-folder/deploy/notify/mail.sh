#!/bin/sh
# Mails the end of a watched file with curl. voxmux adds the last four arguments:
#   mail.sh CURL-CONFIG [--all] status output source preset
# CURL-CONFIG holds url, mail-from, mail-rcpt and, if the server needs them, user and ssl-reqd (see mail.curl).
# Without --all, only failures are mailed.
set -eu
config=$1
shift
all=
if [ "$1" = --all ]; then
  all=1
  shift
fi
[ -z "$2" ] || [ -n "$all" ] || exit 0

value() {
  sed -n "s/^$1 *= *\"\(.*\)\"/\1/p" "$config" | head -n 1
}
text() {
  printf '%s\n' "${VOXMUX_MESSAGE:-}" "${VOXMUX_REMEDIES:-}" "" "Source: $3" "Output: $2" "Preset: $4" \
    "Dashboard: ${VOXMUX_DASHBOARD:-}" "Report: ${VOXMUX_REPORT:-}"
}
# Base64 keeps any file name out of the headers, and within the lines that mail allows.
{
  printf 'From: %s\nTo: %s\nDate: %s\n' "$(value mail-from)" "$(value mail-rcpt)" "$(LC_ALL=C date -R)"
  printf 'Subject: voxmux: a file is %s\nMIME-Version: 1.0\n' "$1"
  printf 'Content-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: base64\n\n'
  text "$@" | base64
} | curl --silent --show-error --max-time 60 --config "$config" --crlf --upload-file -
