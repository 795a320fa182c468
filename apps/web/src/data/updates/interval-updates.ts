// For a user who may not follow the events, such as one who sees only what is shared with them: what is visible is read again at an
// interval, and at once when the page is looked at again.
import { isHidden } from '../../api/visibility.ts'
import { checkOwnTasks } from '../own-tasks.ts'
import { readAgain } from '../query-client.ts'

export const INTERVAL_MS = 15_000
/** A task that this user started ends sooner than that. */
const TASKS_MS = 2000

/** Reads until the returned function is called. */
export function startIntervalUpdates(): () => void {
  const read = (): void => {
    if (!isHidden()) void readAgain()
  }
  const check = async (): Promise<void> => {
    if (!isHidden() && (await checkOwnTasks())) await readAgain()
  }
  const timers = [setInterval(read, INTERVAL_MS), setInterval(() => void check(), TASKS_MS)]
  document.addEventListener('visibilitychange', read)
  return () => {
    for (const timer of timers) clearInterval(timer)
    document.removeEventListener('visibilitychange', read)
  }
}
