// A vApp of two running guests, observed from outside.
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'

import type { LabCloud, Tenant } from '@skerry/lab'
import { attribute, childrenByLocalName, type Element } from '@skerry/xml'

import { CloudClient, taskOf } from '../../../apps/cloud/test/cloud-client.ts'
import { RUN_MS, type Place } from './place.ts'

export interface Guests {
  /** As workflows see it. */
  readonly vapp: string
  vms(): Promise<readonly Element[]>
  /** The pid of each guest: another one after each start. */
  boots(): Promise<readonly string[]>
}

export const clientOf = async (cloud: LabCloud, tenant: Tenant): Promise<CloudClient> =>
  CloudClient.logIn(
    cloud.url,
    await readFile(cloud.ca, 'utf8'),
    `${tenant.user}@${tenant.org}`,
    tenant.password,
  )

/** A vApp with VMs of these names, once it is complete; returns its address. */
export async function compose(
  client: CloudClient,
  { vdc, template }: Tenant,
  name: string,
  vms: readonly string[],
): Promise<string> {
  const items = vms.map(
    (vm) => `<SourcedItem><Source name="${vm}" href="${template}"/></SourcedItem>`,
  )
  const made = await client.ask('POST', `${vdc}/action/composeVApp`, {
    body: `<ComposeVAppParams name="${name}" powerOn="${vms.length > 0}">${items.join('')}</ComposeVAppParams>`,
  })
  assert.equal(made.status, 201, made.text)
  const ended = await client.ended(taskOf(made.root), RUN_MS)
  assert.equal(attribute(ended, 'status'), 'success')
  return attribute(made.root, 'href') ?? ''
}

export const idIn = (href: string): string => href.split('/').at(-1) ?? ''

export async function bootGuests({ cloud, lab }: Place): Promise<Guests> {
  const [[tenant], [host]] = [cloud.tenants, lab.hosts]
  assert.ok(tenant && host)
  const client = await clientOf(cloud, tenant)
  const vapp = await compose(client, tenant, 'guests', ['a', 'b'])
  const vms = async () => {
    const [children] = childrenByLocalName(await client.get(vapp), 'Children')
    return childrenByLocalName(children, 'Vm')
  }
  return {
    vapp: idIn(vapp),
    vms,
    async boots() {
      const pids = (await vms()).map(async (vm) => {
        const name = `cloud-${(attribute(vm, 'href') ?? '').slice(-36)}`
        const { stdout } = await host.run(['cat', `/run/libvirt/qemu/${name}.pid`])
        return stdout.trim()
      })
      return Promise.all(pids)
    },
  }
}
