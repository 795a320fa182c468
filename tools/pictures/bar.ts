/** The moment at which a progress bar is more than half full. */
export function inTheMiddle(written: string): string {
  const [until] = /^[^]*?\] [56]\d %[^\r]*/.exec(written) ?? []
  if (until === undefined) throw new Error(`no bar was drawn: ${written}`)
  return until
}
