// Finds test files whose tests have all ended, but whose process has not: a server, a timer or a thread keeps it alive.

interface Progress {
  /** Tests that are queued or run. */
  readonly open: number
  /** When the last test ended. */
  readonly ended: number
}

export interface FileEnds {
  /** A test is queued. Its file is where it was declared: a test file, or a module that test files import. */
  queued(file: string): void
  /** A test ended. */
  completed(file: string): void
  /** The process of this file ended. */
  exited(file: string): void
  /** Files whose last test ended longer ago than this. Each is returned once. */
  overdue(ms: number): string[]
}

/** Times are milliseconds of the given clock. */
export function followFiles(files: readonly string[], now: () => number): FileEnds {
  const running = new Map<string, Progress>()
  // A test of an imported module may run in any of the files, so while one does, none of them is overdue.
  let imported: Progress = { open: 0, ended: now() }
  const count = (file: string, more: 1 | -1) => {
    const { open } = (files.includes(file) ? running.get(file) : imported) ?? { open: 0 }
    const progress = { open: open + more, ended: now() }
    if (files.includes(file)) running.set(file, progress)
    else imported = progress
  }
  return {
    queued: (file) => count(file, 1),
    completed: (file) => count(file, -1),
    exited: (file) => void running.delete(file),
    overdue: (ms) => {
      const isOverdue = ({ open, ended }: Progress) => open <= 0 && now() - ended > ms
      if (!isOverdue(imported)) return []
      const late = [...running].filter(([, each]) => isOverdue(each)).map(([file]) => file)
      for (const file of late) running.delete(file)
      return late
    },
  }
}
