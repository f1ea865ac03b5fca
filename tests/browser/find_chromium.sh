#!/bin/sh
# Finds a Chromium for the browser tests, or installs one: Debian's as root, Playwright's own otherwise.
set -eu
for name in chromium chromium-browser google-chrome google-chrome-stable; do
    command -v "$name" >/dev/null 2>&1 && exit 0
done
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq chromium >/dev/null
    exit 0
fi
.venv/bin/playwright install chromium-headless-shell && exit 0
echo "error: no Chromium found; install it (Debian: apt-get install chromium) and run make test again" >&2
exit 1
