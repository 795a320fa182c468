// What the workflow server says of a definition that is imported.

/** One error, and its place in the text if it has one. */
export interface ImportComplaint {
  /** From 1. */
  readonly line?: number
  readonly column?: number
  /** The place in the definition, such as /do/0/greet. */
  readonly at?: string
  readonly message: string
}

export interface WorkflowImportReport {
  readonly result: 'created' | 'updated' | 'unchanged' | 'refused'
  readonly id?: string
  readonly name?: string
  readonly version?: string
  readonly category?: string
  readonly complaints: readonly ImportComplaint[]
}

/** A rejection that lists what is wrong is a report, too. */
export const isImportReport = (document: unknown): document is WorkflowImportReport =>
  typeof document === 'object' &&
  document !== null &&
  'complaints' in document &&
  Array.isArray(document.complaints)

export const markedLines = (complaints: readonly ImportComplaint[]): ReadonlySet<number> =>
  new Set(complaints.flatMap(({ line }) => (line === undefined ? [] : [line])))

/** From where to where a complaint is in the text: from its column to the end of its line. */
export function rangeOf(
  text: string,
  { line = 1, column = 1 }: Pick<ImportComplaint, 'line' | 'column'>,
): readonly [start: number, end: number] {
  const lines = text.split('\n')
  const at = Math.min(line, lines.length) - 1
  const begin = lines.slice(0, at).reduce((sum, each) => sum + each.length + 1, 0)
  const length = lines[at]?.length ?? 0
  return [begin + Math.min(column - 1, length), begin + length]
}
