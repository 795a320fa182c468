import { readdir, readFile } from 'node:fs/promises'

/** The memory of a process in bytes: shared pages count proportionally. With its children, if requested. */
export async function memoryOf(pid: number, { children = false } = {}): Promise<number> {
  const rollup = await readFile(`/proc/${pid}/smaps_rollup`, 'latin1').catch(() => '')
  const own = 1024 * Number(/^Pss:\s+(\d+) kB$/m.exec(rollup)?.[1] ?? 0)
  if (!children) return own
  const tasks = await readdir(`/proc/${pid}/task`).catch(() => [])
  const lists = await Promise.all(
    tasks.map((task) => readFile(`/proc/${pid}/task/${task}/children`, 'latin1').catch(() => '')),
  )
  const born = lists.join(' ').split(' ').filter(Boolean).map(Number)
  const below = await Promise.all(born.map((child) => memoryOf(child, { children: true })))
  return own + below.reduce((sum, each) => sum + each, 0)
}
