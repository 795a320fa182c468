import type { Hrefs } from '../addresses.ts'
import type { Complaint } from '../definition/definition.ts'
import { field, list, thing, type Document } from './document.ts'

/** What an import did or, dry, would do; and everything that is wrong, each with its place. */
export interface Report {
  readonly dryRun: boolean
  readonly result: 'created' | 'updated' | 'unchanged' | 'refused'
  readonly id?: string
  readonly name?: string
  readonly version?: string
  readonly previous?: string
  readonly category?: string
  readonly digest?: string
  readonly complaints: readonly (Partial<Complaint> & Pick<Complaint, 'message'>)[]
}

export const reportDocument = (report: Report, hrefs: Hrefs): Document => {
  const { id, complaints, result } = report
  const refused = result === 'refused'
  const [first] = complaints
  return thing(
    'import-report',
    id === undefined || refused ? {} : { href: hrefs.workflow(id) },
    field('status', refused ? 400 : undefined),
    field('code', refused ? 'invalid' : undefined),
    field('message', refused ? summary(complaints.length, first) : undefined),
    field('result', result),
    field('dry-run', report.dryRun),
    field('id', id),
    field('name', report.name),
    field('version', report.version),
    field('previous-version', report.previous),
    field('category', report.category),
    field('digest', report.digest),
    list(
      'complaints',
      complaints.map(({ line, column, at, message }) =>
        thing('complaint', { line, column, at }, field('message', message)),
      ),
    ),
  )
}

const summary = (count: number, first: Report['complaints'][number] | undefined): string => {
  const where = first?.line === undefined ? '' : `line ${first.line}: `
  return `it is not imported: ${where}${first?.message}${count > 1 ? `, and ${count - 1} more` : ''}`
}
