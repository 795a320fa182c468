// The Debian guest: the very image that `skerry template build` makes, for what needs a real system.
import { join } from 'node:path'

import { buildTemplate, packages } from '../../apps/cli/src/build-template.ts'
import { runQuietly } from '../../apps/cli/src/child.ts'
import type { Recipe } from './recipe.ts'

export const debian: Recipe = {
  kind: 'debian',
  files: [join(import.meta.dirname, '../../apps/cli/src/build-template.ts')],
  packages,
  async build(work, out, say) {
    await buildTemplate(work, out, runQuietly, say)
  },
}
