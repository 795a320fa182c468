// Data to diagnose a failed storm: every log, every row, the ledgers of every vmd.
import { cp, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import type { Place } from './place.ts'

const TABLES = [
  'host',
  'vapp',
  'vm',
  'task',
  'request_key',
  'pending_undo',
  'event',
  'cell',
  'network',
  'nic',
  'network_change',
  'network_zone',
]

export async function keep({ cloud, hosts }: Place, directory: string): Promise<void> {
  await mkdir(directory, { recursive: true })
  const copies = [
    ...cloud.cells.map(({ name, log }) => [log, `${name}.log`] as const),
    [cloud.postgres.log, 'postgres.log'] as const,
    [cloud.temporal.log, 'temporal.log'] as const,
    ...(cloud.network ? [[cloud.network.log, 'network.log'] as const] : []),
    ...hosts.flatMap(({ name, dir }) => [
      [join(dir, 'log'), `${name}-log`] as const,
      [join(dir, 'skerry', 'cloud', 'orders'), `${name}-orders`] as const,
    ]),
  ]
  for (const [from, to] of copies) {
    await cp(from, join(directory, to), { recursive: true }).catch(() => undefined)
  }
  for (const table of TABLES) {
    const rows = await cloud.postgres
      .psql(`select to_jsonb(row) from ${table} row`, 'cloud')
      .catch((error: Error) => error.message)
    await writeFile(join(directory, `${table}.jsonl`), rows)
  }
}
