/** What the simulated server says of a definition: a line with the word `wrong` is an error, at that word. */
export function importReport(text: string, dryRun: boolean, id: string) {
  const complaints = text.split('\n').flatMap((line, at) => {
    const column = line.indexOf('wrong') + 1
    const message = `unknown property ${line.trim()}`
    return column === 0 ? [] : [{ line: at + 1, column, at: '/', message }]
  })
  if (complaints.length > 0) {
    const message = `not imported: line ${complaints[0]?.line}: ${complaints[0]?.message}`
    return { status: 400, code: 'invalid', message, result: 'refused', complaints } as const
  }
  const [, name = 'unnamed'] = /^ *title: (.+)$/m.exec(text) ?? []
  const rest = { id, name, version: '1.0.0', category: 'Workflows' }
  return { result: 'created', 'dry-run': dryRun, ...rest, complaints } as const
}
