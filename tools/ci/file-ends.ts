// Finds test files whose tests have all ended, but whose process has not: a server, a timer or a thread keeps it alive.

interface Progress {
  /** Tests that are queued or run. */
  readonly open: number
  /** When the last test ended. */
  readonly ended: number
}

export interface FileEnds {
  /** A test of this file is queued. */
  queued(file: string): void
  /** A test of this file ended. */
  completed(file: string): void
  /** The process of this file ended. */
  exited(file: string): void
  /** Files whose last test ended longer ago than this. Each is returned once. */
  overdue(ms: number): string[]
}

/** Times are milliseconds of the given clock. */
export function followFiles(now: () => number): FileEnds {
  const running = new Map<string, Progress>()
  const openIn = (file: string) => running.get(file)?.open ?? 0
  return {
    queued: (file) => void running.set(file, { open: openIn(file) + 1, ended: now() }),
    completed: (file) => void running.set(file, { open: openIn(file) - 1, ended: now() }),
    exited: (file) => void running.delete(file),
    overdue: (ms) => {
      const isOverdue = ({ open, ended }: Progress) => open <= 0 && now() - ended > ms
      const files = [...running].filter(([, each]) => isOverdue(each)).map(([file]) => file)
      for (const file of files) running.delete(file)
      return files
    },
  }
}
