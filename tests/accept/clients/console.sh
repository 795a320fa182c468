#!/bin/bash
# A client script that opens a VM's screen: log in, find a running VM, get a ticket, build its address, log out. Only curl, grep, sed
# and awk; statuses and headers are searched as text. Arguments: url, ca, org, user, password.
set -euo pipefail
url=$1 ca=$2 org=$3 user=$4 password=$5
accept='Accept: application/*+xml;version=1.5'
answer=$(mktemp)
trap 'rm -f "$answer"' EXIT

ask() { curl -sS -i --cacert "$ca" -H "$accept" "$@" | tr -d '\r' >"$answer"; }
need() { grep -q "$1" "$answer" || { cat "$answer" >&2; exit 1; }; }

ask -u "$user@$org:$password" -X POST "$url/api/sessions"
need '200 OK'
token=$(grep '^x-vcloud-authorization: ' "$answer")

ask -H "$token" "$url/api/query?type=vm&filter=status==POWERED_ON&fields=name,containerName"
need '200 OK'
vm=$(grep '<VMRecord ' "$answer" | sed 's/.* href="\([^"]*\)".*/\1/' | head -n 1)

ask -H "$token" -X POST "$vm/screen/action/acquireTicket"
need '200 OK'
ticket=$(awk -F'[<|>]' '/ScreenTicket/{print $3}' "$answer")
echo "$(printf %s "$ticket" | sed 's/%/%25/g; s/:/%3A/g; s,/,%2F,g; s/?/%3F/g; s/=/%3D/g')"

ask -H "$token" -X DELETE "$url/api/session"
need ' 204 No Content'
