// What a cell serves beside its API: the web UI, and the workflow servers for it.
import type { FastifyInstance } from 'fastify'

import { passToWorkflows } from '../src/web-ui/pass-to-workflows.ts'
import { servePages, type WebUi } from '../src/web-ui/serve-pages.ts'
import type { WorkflowServers } from '../src/web-ui/workflow-servers.ts'

export const pagesOf =
  (ui: Omit<WebUi, 'version'>, workflows?: WorkflowServers) =>
  (server: FastifyInstance): void => {
    servePages({ ...ui, version: '0.1.0', hasWorkflows: workflows !== undefined })(server)
    if (workflows) passToWorkflows({ ...ui, workflows })(server)
  }
