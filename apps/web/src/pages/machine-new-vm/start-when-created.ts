import { ApiError, request } from '../../api/client.ts'
import { localPath, type LocalOperation } from '../../api/machine.ts'
import { startTask } from '../../data/machine/machine-source.ts'
import type { ShownTask } from '../../model/task.ts'

const POLL_MS = 250

/** Waits until the VM exists, which takes a second or two, and turns it on if that is wanted. */
export async function startWhenCreated(
  vm: string,
  task: ShownTask | undefined,
  isStarted: boolean,
): Promise<void> {
  if (task) await untilDone(task.href)
  if (isStarted) await startTask(localPath('vms', 'power', vm), { method: 'PATCH', body: 'on' })
}

async function untilDone(href: string): Promise<void> {
  for (;;) {
    const { state, error } = await request<LocalOperation>(href)
    if (state === 'succeeded') return
    if (state === 'failed') {
      const message = [error?.message ?? 'it failed', error?.hint].filter(Boolean).join('; ')
      throw new ApiError(0, 'FAILED', message)
    }
    await new Promise((resolve) => setTimeout(resolve, POLL_MS))
  }
}
