// A cell of a lab's cloud, in the network of the lab's switch.
import { join } from 'node:path'

import { labServer, type LabServer } from '../servers/server-process.ts'
import type { CellPlan } from './cloud-plan.ts'

export const CLOUD_PROGRAM = join(import.meta.dirname, '../../../../apps/cloud/src/main.ts')

export type LabCell = LabServer

export function labCell(
  { name, dir, config, url, port, machines, original }: CellPlan,
  started: { readonly netns: string; readonly outlives: boolean },
): LabCell {
  const ports = [port, machines.port, ...(original === undefined ? [] : [original])]
  return labServer({
    ...started,
    name,
    dir,
    url,
    ports,
    log: join(dir, 'cell.log'),
    command: [process.execPath, CLOUD_PROGRAM, '--config', config],
  })
}
