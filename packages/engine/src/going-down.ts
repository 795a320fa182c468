import { Fault } from '@skerry/fault'

import { runTool } from './tool.ts'

/** systemd answers at once; a machine on which it does not is busy with something. */
const TIMEOUT_MS = 5000

/** Whether this machine is being taken down. One that is not systemd's does not say, and stays up. */
export async function isGoingDown(): Promise<boolean> {
  try {
    const words = ['show', '--property=SystemState', '--value']
    return (await runTool('systemctl', words, { timeoutMs: TIMEOUT_MS })).trim() === 'stopping'
  } catch (error) {
    if (error instanceof Fault && error.kind === 'unavailable') return false
    throw error
  }
}
