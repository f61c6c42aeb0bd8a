#!/usr/bin/env bash
# A shop.
set -euo pipefail
MAX_ITEMS=10
export Shop="corner"

total_price() {
  local order="$1"
  grep -c price "$order" || echo "$MAX_ITEMS"
}

function add_item {
  if [ "$(total_price "$1")" -lt "${MAX_ITEMS}" ]; then
    echo "$Shop" >> "$1"
  fi
}

add_item "$@"
