// The Debian guest: the same image that `skerry template build` makes, for tests that need a real system.
import { join } from 'node:path'

import { runQuietly } from '../../apps/cli/src/machine/child.ts'
import { buildTemplate, packages } from '../../apps/cli/src/templates/build-template.ts'
import type { Recipe } from './recipe.ts'

export const debian: Recipe = {
  kind: 'debian',
  files: [join(import.meta.dirname, '../../apps/cli/src/templates/build-template.ts')],
  packages,
  async build(work, out, say) {
    await buildTemplate(work, out, runQuietly, say)
  },
}
