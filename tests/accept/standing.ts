// What each operation needs to have something to do: a VM of its own, and what it takes away made again.
import assert from 'node:assert/strict'

import { operations as onOne } from './hostile.ts'

const vmOf = (at: number): string => `vm-${at + 1}`

/** A directory that root, who asks, may share. */
let folder = ''

/** The 13 operations, each on a VM of its own. */
export const operations = onOne.map(([method, path, body], at) => {
  const own = (text: string) => text.replace('vm-1', vmOf(at))
  return [method, own(path), ...(body === undefined ? [] : [own(body)])] as [
    string,
    string,
    string?,
  ]
})

type Call = readonly [method: string, path: string, body?: object]

/** Makes it so again that the operation has something to do. */
const rights: Readonly<Record<number, () => readonly Call[]>> = {
  0: () => [['DELETE', '/api/vms/evil-1']],
  1: () => [['DELETE', '/api/vms/evil-2']],
  8: () => [['DELETE', `/api/vms/${vmOf(8)}/folders/x`]],
  10: () => [docsOf(10)],
  // Cut short, its address is that of the VM, which it then deletes.
  11: () => [vmAgain(11), docsOf(11)],
  12: () => [vmAgain(12)],
}

const vmAgain = (at: number): Call => ['POST', '/api/vms', { id: vmOf(at) }]

const docsOf = (at: number): Call => [
  'POST',
  `/api/vms/${vmOf(at)}/folders`,
  { guestPath: 'docs', hostPath: folder, flags: 4 },
]

/** All VMs, all off. */
export async function makeAll(hostPath: string): Promise<void> {
  folder = hostPath
  for (const at of operations.keys()) {
    assert.equal(await ask(['POST', '/api/vms', { id: vmOf(at) }]), 201)
    if (at === 10 || at === 11) assert.equal(await ask(docsOf(at)), 201)
  }
  const share = operations[8]
  if (share?.[2] !== undefined) share[2] = share[2].replace('/srv', hostPath)
}

/** After something was done: what another already set right, or what was not touched, is left as it is. */
export async function setRight(at: number): Promise<void> {
  for (const call of rights[at]?.() ?? []) {
    const status = await ask(call)
    assert.ok([201, 204, 404].includes(status), `${call[0]} ${call[1]}: ${status}`)
  }
}

async function ask([method, path, body]: Call): Promise<number> {
  const answer = await fetch(`http://127.0.0.1:8080${path}`, {
    method,
    ...(body && { body: JSON.stringify(body) }),
  })
  await answer.arrayBuffer()
  return answer.status
}

/** Whether an answer comes from the operation itself and about something that is there. */
export function found(status: number, answer: string): boolean {
  if ([0, 401, 403, 405, 408].includes(status)) return false
  return !/cannot be read|there is nothing at this address|there is no VM/.test(answer)
}
