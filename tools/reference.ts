// Writes the pages that are made of the tables in the code, and of samples that are recorded here: a PostgreSQL is started for it.
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { apiReference } from '../apps/cloud/src/api-reference.ts'
import { operationsReference } from '../apps/cloud/src/reference.ts'
import { routes } from '../apps/cloud/src/routes.ts'
import { recordSamples } from '../apps/cloud/test/samples.ts'
import { apiReference as workflowApiReference } from '../apps/workflow/src/api-reference.ts'
import { routes as workflowRoutes } from '../apps/workflow/src/routes.ts'
import { functionsReference } from '../apps/workflow/src/worker/functions-reference.ts'
import { subsetPage } from '../apps/workflow/test/subset-page.ts'

const docs = join(import.meta.dirname, '../docs')
await mkdir(join(docs, 'reference'), { recursive: true })
await writeFile(join(docs, 'reference/operations.md'), operationsReference())
await writeFile(join(docs, 'reference/workflow-subset.md'), subsetPage())
await writeFile(join(docs, 'reference/workflow-functions.md'), functionsReference())
await writeFile(join(docs, 'api/cloud.md'), apiReference(routes, await recordSamples()))
await writeFile(join(docs, 'api/workflow.md'), workflowApiReference(workflowRoutes))
