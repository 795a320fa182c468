// A cell of a lab's cloud, in the network of the lab's switch.
import { join } from 'node:path'

import type { CellPlan } from './cloud-plan.ts'
import { labServer, type LabServer } from './server-process.ts'

export const CLOUD_PROGRAM = join(import.meta.dirname, '../../../apps/cloud/src/main.ts')

export type LabCell = LabServer

export function labCell(
  { name, dir, config, url, port, machines }: CellPlan,
  started: { readonly netns: string; readonly outlives: boolean },
): LabCell {
  return labServer({
    ...{ ...started, name, dir, url, ports: [port, machines.port], log: join(dir, 'cell.log') },
    command: [process.execPath, CLOUD_PROGRAM, 'serve', '--config', config],
  })
}
