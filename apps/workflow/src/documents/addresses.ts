import { fill } from '@skerry/service'

/** Every route path of the server. Documents link to these; routes are registered at these. */
export const at = {
  services: '/api',
  about: '/api/about',
  openApi: '/api/openapi.json',
  health: '/health',
  workflows: '/api/workflows',
  workflow: '/api/workflows/:workflow',
  content: '/api/workflows/:workflow/content',
  schema: '/api/workflows/:workflow/schema',
  presentation: '/api/workflows/:workflow/presentation',
  presentationInstances: '/api/workflows/:workflow/presentation/instances',
  tasks: '/api/workflows/:workflow/tasks',
  permissions: '/api/workflows/:workflow/permissions',
  versions: '/api/workflows/:workflow/versions',
  interactions: '/api/workflows/:workflow/interactions',
  executions: '/api/workflows/:workflow/executions',
  execution: '/api/workflows/:workflow/executions/:execution',
  state: '/api/workflows/:workflow/executions/:execution/state',
  logs: '/api/workflows/:workflow/executions/:execution/logs',
  syslogs: '/api/workflows/:workflow/executions/:execution/syslogs',
  interaction: '/api/workflows/:workflow/executions/:execution/interaction',
  progress: '/api/workflows/:workflow/executions/:execution/schema',
  events: '/api/workflows/:workflow/executions/:execution/events',
  categories: '/api/categories',
  category: '/api/categories/:category',
  catalog: '/api/catalog/System/Workflow',
  catalogItem: '/api/catalog/System/Workflow/:workflow',
  catalogCategory: '/api/catalog/System/WorkflowCategory/:category',
  catalogInteractions: '/api/catalog/System/UserInteraction',
  inventory: '/api/inventory/System/Workflows',
  contentOfCategory: '/api/content/workflows/:category',
  schedules: '/api/schedules',
  schedule: '/api/schedules/:schedule',
  pauseSchedule: '/api/schedules/:schedule/action/pause',
  resumeSchedule: '/api/schedules/:schedule/action/resume',
} as const

/** Builds links for documents from the configured public URL. Links of this API end in a slash. */
export class WorkflowHrefs {
  readonly #origin: string
  constructor({ origin }: URL) {
    this.#origin = origin
  }
  to = (path: string): string => `${this.#origin}${path}`
  workflow = (workflow: string): string => `${this.to(fill(at.workflow, { workflow }))}/`
  below = (workflow: string, path: string): string => `${this.workflow(workflow)}${path}/`
  execution = (workflow: string, execution: string): string =>
    `${this.to(fill(at.execution, { workflow, execution }))}/`
  category = (category: string): string => `${this.to(fill(at.catalogCategory, { category }))}/`
  schedule = (schedule: string): string => `${this.to(fill(at.schedule, { schedule }))}/`
}
