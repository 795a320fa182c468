/** Below the maximum of most file systems, with space for a suffix. */
const LENGTH_MAX = 200

/** The header that makes clients save the response under this name (RFC 6266), safe for any name. */
export function attachment(name: string, ending: string): string {
  const whole = `${name.slice(0, LENGTH_MAX).toWellFormed()}${ending}`
  // Remove path separators, quotes and leading dots.
  const plain = whole.replaceAll(/[^\x20-\x7E]|["\\/%:*?<>|]/g, '_').replace(/^\.+/, '_')
  const same = plain === whole
  const coded = encodeURIComponent(whole.replaceAll(/[/\\\p{Cc}]/gu, '_').replace(/^\.+/, '_'))
  const exact = coded.replaceAll(
    /['()*!]/g,
    (each) => `%${each.charCodeAt(0).toString(16).toUpperCase()}`,
  )
  return `attachment; filename="${plain}"${same ? '' : `; filename*=UTF-8''${exact}`}`
}
