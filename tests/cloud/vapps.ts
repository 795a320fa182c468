// vApps of one VM, as a tenant creates and changes them: each request is waited for, and must succeed.
import assert from 'node:assert/strict'

import type { VmId } from '@skerry/vm'
import { attribute, childrenByLocalName } from '@skerry/xml'

import { taskOf, type CloudClient, type Reply } from '../../apps/cloud/test/cloud-client.ts'

export interface Made {
  readonly vapp: string
  readonly vm: VmId
}

export async function make(client: CloudClient, name: string, power = true): Promise<Made> {
  const made = await client.instantiate(name, { power })
  await succeeds(client, made)
  const vapp = attribute(made.root, 'href') ?? ''
  const [children] = childrenByLocalName(await client.get(vapp), 'Children')
  const vm = attribute(childrenByLocalName(children, 'Vm')[0], 'href') ?? ''
  return { vapp, vm: vm.slice(-36) as VmId }
}

export async function power(client: CloudClient, { vapp }: Made, to: 'On' | 'Off'): Promise<void> {
  await succeeds(client, await client.ask('POST', `${vapp}/power/action/power${to}`))
}

export async function remove(client: CloudClient, { vapp }: Made): Promise<void> {
  await succeeds(client, await client.ask('DELETE', vapp))
}

/** Generous: guests may be emulated, several at a time on few cores. */
const ENDS_MS = 180_000

async function succeeds(client: CloudClient, { status, text, root }: Reply): Promise<void> {
  assert.ok(status === 201 || status === 202, text)
  const task = await client.ended(taskOf(root), ENDS_MS)
  assert.equal(attribute(task, 'status'), 'success', JSON.stringify(task))
}
