/** So long may a file's name be on most systems, with room for what follows it. */
const LENGTH_MAX = 200

/** A header that makes clients save what comes under this name (RFC 6266), whatever stands in it. */
export function attachment(name: string, ending: string): string {
  const whole = `${name.slice(0, LENGTH_MAX).toWellFormed()}${ending}`
  // Nothing that leads elsewhere, ends the quotes, or hides the file.
  const plain = whole.replaceAll(/[^\x20-\x7E]|["\\/%:*?<>|]/g, '_').replace(/^\.+/, '_')
  const same = plain === whole
  const coded = encodeURIComponent(whole.replaceAll(/[/\\\p{Cc}]/gu, '_').replace(/^\.+/, '_'))
  const exact = coded.replaceAll(
    /['()*!]/g,
    (each) => `%${each.charCodeAt(0).toString(16).toUpperCase()}`,
  )
  return `attachment; filename="${plain}"${same ? '' : `; filename*=UTF-8''${exact}`}`
}
