import type { CloudRoute } from './route.ts'
import { entities } from './routes/entities.ts'
import { events } from './routes/events.ts'
import { orgs } from './routes/orgs.ts'
import { query } from './routes/query.ts'
import { schema } from './routes/schema.ts'
import { sessions } from './routes/sessions.ts'
import { tasks } from './routes/tasks.ts'

/** Every address of the tenants' door. */
export const routes: readonly CloudRoute[] = [
  ...sessions,
  ...orgs,
  ...entities,
  ...tasks,
  ...query,
  ...events,
  ...schema,
]
