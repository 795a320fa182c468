import type { Complaint } from '@skerry/serverless-workflow'

import type { WorkflowHrefs } from './addresses.ts'
import { field, list, resource, type Document } from './document.ts'

/** What an import did or, with dryRun, would do, and all errors with their places. */
export interface ImportReport {
  readonly dryRun: boolean
  readonly result: 'created' | 'updated' | 'unchanged' | 'refused'
  readonly id?: string
  readonly name?: string
  readonly version?: string
  readonly previous?: string
  readonly category?: string
  readonly digest?: string
  /** Schedules of other users that are paused until their owners have reviewed the change. */
  readonly paused?: readonly string[]
  readonly complaints: readonly (Partial<Complaint> & Pick<Complaint, 'message'>)[]
}

export const reportDocument = (report: ImportReport, hrefs: WorkflowHrefs): Document => {
  const { id, complaints, result } = report
  const refused = result === 'refused'
  const [first] = complaints
  return resource(
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
    field('schedules-paused', report.paused?.length),
    list(
      'complaints',
      complaints.map(({ line, column, at, message }) =>
        resource('complaint', { line, column, at }, field('message', message)),
      ),
    ),
  )
}

const summary = (count: number, first: ImportReport['complaints'][number] | undefined): string => {
  const where = first?.line === undefined ? '' : `line ${first.line}: `
  return `not imported: ${where}${first?.message}${count > 1 ? `, and ${count - 1} more` : ''}`
}
