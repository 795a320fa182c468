/**
 * Chromium without windows: the same engine as the desktop program, for half of its processor time. The program itself, since Debian's
 * script around it would be the process that is killed.
 */
export const BROWSER = '/usr/lib/chromium/chromium-headless-shell'
