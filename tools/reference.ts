// Generates the reference pages from tables in the code and from samples recorded here; starts a PostgreSQL for them.
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { ours } from '../apps/cloud/src/dialect/dialect.ts'
import { cloudOpenApi } from '../apps/cloud/src/documents/openapi.ts'
import { apiReference } from '../apps/cloud/src/reference/api-reference.ts'
import { operationsReference } from '../apps/cloud/src/reference/operations-reference.ts'
import { routes } from '../apps/cloud/src/routes.ts'
import { recordSamples } from '../apps/cloud/test/samples.ts'
import { functionsReference } from '../apps/workflow/src/functions/functions-reference.ts'
import { apiReference as workflowApiReference } from '../apps/workflow/src/http/api-reference.ts'
import { workflowOpenApi } from '../apps/workflow/src/http/openapi.ts'
import { routes as workflowRoutes } from '../apps/workflow/src/routes.ts'
import { subsetPage } from '../apps/workflow/test/subset-page.ts'
import { metricReference } from '../packages/service/src/index.ts'
import { clientTypes } from './client-types.ts'

const docs = join(import.meta.dirname, '../docs')
await mkdir(join(docs, 'reference/api'), { recursive: true })
await writeFile(join(docs, 'reference/operations.md'), operationsReference())
await writeFile(join(docs, 'reference/metrics.md'), metricReference())
await writeFile(join(docs, 'reference/workflow-subset.md'), subsetPage())
await writeFile(join(docs, 'reference/workflow-functions.md'), functionsReference())
await writeFile(join(docs, 'reference/api/cloud.md'), apiReference(routes, await recordSamples()))
await writeFile(join(docs, 'reference/api/workflow.md'), workflowApiReference(workflowRoutes))
const describes = async (name: string, document: object): Promise<void> =>
  writeFile(
    join(docs, `reference/api/${name}.openapi.json`),
    `${JSON.stringify(document, undefined, 2)}\n`,
  )
const base = new URL('https://cloud.example')
const cloudDocument = cloudOpenApi(routes, { dialect: ours, base })
await describes('cloud', cloudDocument)
await writeFile(
  join(docs, '../packages/api-client/src/documents.gen.ts'),
  clientTypes(cloudDocument),
)
await describes(
  'workflow',
  workflowOpenApi(workflowRoutes, new URL('https://workflow.example:8281')),
)
