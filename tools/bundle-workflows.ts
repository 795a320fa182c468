// npm run -s setup:bundles: bundles the workflows in advance, so that the programs that run them start seconds faster.
import { join } from 'node:path'

import { keepBundle } from '@skerry/temporal'

const at = (file: string): string => join(import.meta.dirname, '../apps', file)
const failureConverterPath = at('workflow/src/durable/failures.ts')

for (const [file, converter] of [
  [at('cloud/src/durable/workflows.ts')],
  [at('workflow/src/durable/workflows.ts'), { failureConverterPath }],
] as const) {
  const isNew = await keepBundle(file, converter)
  console.log(`bundles: ${file} ${isNew ? 'was bundled' : 'is unchanged'}`)
}
