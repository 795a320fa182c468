import { Fault } from '@skerry/fault'

import { runTool } from './tool.ts'

/** systemd answers at once unless the machine is overloaded. */
const TIMEOUT_MS = 5000

/** Whether this machine is shutting down. A machine without systemd reports nothing and counts as up. */
export async function isGoingDown(): Promise<boolean> {
  try {
    const words = ['show', '--property=SystemState', '--value']
    return (await runTool('systemctl', words, { timeoutMs: TIMEOUT_MS })).trim() === 'stopping'
  } catch (error) {
    if (error instanceof Fault && error.kind === 'unavailable') return false
    throw error
  }
}
