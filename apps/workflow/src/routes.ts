import type { WorkflowRoute } from './http/route.ts'
import { about } from './routes/about.ts'
import { categories } from './routes/categories.ts'
import { executions } from './routes/executions.ts'
import { interactions } from './routes/interactions.ts'
import { lists } from './routes/list.ts'
import { logs } from './routes/logs.ts'
import { describing } from './routes/openapi.ts'
import { pages } from './routes/pages.ts'
import { presentation } from './routes/presentation.ts'
import { progress } from './routes/progress.ts'
import { schedules } from './routes/schedules.ts'
import { workflows } from './routes/workflows.ts'

const described: readonly WorkflowRoute[] = [
  ...about,
  ...lists,
  ...workflows,
  ...presentation,
  ...executions,
  ...logs,
  ...progress,
  ...interactions,
  ...schedules,
  ...categories,
  ...pages,
]

/** Every route: the API's and those of the web pages. */
export const routes: readonly WorkflowRoute[] = [...described, describing(described)]
