// The setup that each operation needs: its own VM, and what it removes created again.
import assert from 'node:assert/strict'

import { operations as onOne } from './hostile.ts'

const vmOf = (at: number): string => `vm-${at + 1}`

/** A directory that root, the sender, may share. */
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

/** Restores the state that the operation needs. */
const rights: Readonly<Record<number, () => readonly Call[]>> = {
  0: () => [['DELETE', '/api/vms/evil-1']],
  1: () => [['DELETE', '/api/vms/evil-2']],
  8: () => [['DELETE', `/api/vms/${vmOf(8)}/folders/x`]],
  10: () => [docsOf(10)],
  // A truncated address is that of the VM, which it then deletes.
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

/** After an effect: parts that are already restored, or unchanged, are left alone. */
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

/** Whether a response comes from the operation itself, for an existing resource. */
export function found(status: number, answer: string): boolean {
  if ([0, 401, 403, 405, 408].includes(status)) return false
  return !/cannot be read|path not found|there is no VM/.test(answer)
}
