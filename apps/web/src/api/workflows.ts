// The API of the workflow server, which the cell passes on at /api/workflow. Its documents name resources by their ids.
import { request, type RequestOptions } from './client.ts'

export const WORKFLOW_API = '/api/workflow'

/** A value with its type, such as { string: { value: 'web' } }. */
export type TypedParameterValue = Readonly<Record<string, unknown>> | null

export interface WorkflowParameter {
  readonly name: string
  readonly type: string
  readonly value?: TypedParameterValue
}

interface WorkflowLink {
  readonly rel: string
  readonly href: string
  readonly attributes?: readonly { readonly name: string; readonly value: string }[]
}

interface Relations {
  readonly relations: { readonly link: readonly WorkflowLink[]; readonly total?: number }
}

export interface WorkflowListDocument {
  readonly link: readonly WorkflowLink[]
  readonly total?: number
}

export interface WorkflowDocument extends Relations {
  readonly id: string
  readonly name: string
  readonly description?: string
  readonly version: string
  readonly category?: string
  readonly owner?: string
  readonly 'changed-at'?: string
}

export interface PresentationDocument {
  readonly form: Readonly<Record<string, unknown>>
}

export interface RunDocument {
  readonly id: string
  readonly name: string
  readonly state: string
  readonly version: string
  readonly 'started-by': string
  readonly 'start-date': string
  readonly 'end-date'?: string
  readonly 'content-exception'?: string
  readonly 'current-item-display-name'?: string
  /** 'canceling' from the request until the run has ended. */
  readonly 'business-state'?: string
  readonly 'input-parameters'?: readonly WorkflowParameter[]
  readonly 'output-parameters'?: readonly WorkflowParameter[]
}

export interface RunsDocument extends Relations {
  readonly total: number
}

export interface QuestionDocument {
  readonly id: string
  /** The title. */
  readonly name: string
  readonly description?: string
  readonly approver: string
  readonly state: string
  readonly workflow: string
  readonly 'workflow-id': string
  readonly execution: string
  readonly 'create-date': string
  readonly form: Readonly<Record<string, unknown>>
}

export interface QuestionsDocument {
  readonly 'user-interaction': readonly QuestionDocument[]
}

export interface ScheduleDocument {
  readonly id: string
  readonly name: string
  /** The id of its workflow. */
  readonly workflow: string
  readonly state: string
  readonly 'paused-because'?: string
  readonly cron?: string
  readonly 'every-seconds'?: number
  readonly 'time-zone': string
  readonly user: string
}

export interface SchedulesDocument {
  readonly schedule: readonly ScheduleDocument[]
}

export interface RunLogEntry {
  readonly number: number
  readonly 'time-stamp': string
  readonly severity: string
  readonly 'short-description': string
  readonly 'long-description'?: string
  /** The place of its step in the definition. */
  readonly origin: string
}

export interface RunLogDocument {
  readonly logs: readonly { readonly entry: RunLogEntry }[]
}

export interface DrawnStep {
  readonly place: string
  readonly name: string
  readonly kind: string
  readonly detail: string
  readonly condition: string
  readonly state?: 'running' | 'done' | 'failed' | 'skipped' | 'canceled'
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
  readonly rows: readonly { readonly text: string; readonly y: number }[]
  readonly leadsOn: boolean
  readonly ends: readonly { readonly flow: string; readonly y: number }[]
  readonly columns: readonly DrawnColumn[]
}

export interface DrawnColumn {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
  readonly centre: number
  readonly role: 'list' | 'lane' | 'loop' | 'try' | 'catch'
  readonly caption: string
  readonly steps: readonly DrawnStep[]
  readonly jumps: readonly {
    readonly from: number
    readonly to: number
    readonly x: number
    readonly y: number
  }[]
}

export interface DrawingDocument {
  readonly title: string
  readonly summary: string
  readonly column: DrawnColumn
}

export const workflowRequest = <T>(path: string, options: RequestOptions = {}): Promise<T> =>
  request<T>(`${WORKFLOW_API}${path}`, {
    ...options,
    headers: { accept: 'application/json', ...options.headers },
  })

export const attributesOf = ({ attributes = [] }: WorkflowLink): Readonly<Record<string, string>> =>
  Object.fromEntries(attributes.map(({ name, value }) => [name, value]))

/** Whether the document has a link of this kind: the server leaves out what the user may not do. */
export const hasWorkflowLink = ({ relations }: Relations, rel: string): boolean =>
  relations.link.some((link) => link.rel === rel)
