// Creates a vApp with one VM of the same name. Sizes that differ from the template are set by a second request: a cloud runs the
// tasks of a VM in order. `skerry create` does the same.
import { request } from '../../api/client.ts'
import {
  linkOf,
  type TaskDocument,
  type VAppDocument,
  type VmDocument,
} from '../../api/documents.ts'
import type { TemplateRecord } from '../../api/query.ts'
import { rememberTask } from '../../data/own-tasks.ts'
import { taskOfDocument } from '../../model/task.ts'
import { resourceType } from '../../model/vm.ts'

export interface NewVmRequest {
  readonly name: string
  readonly template: TemplateRecord
  readonly cpus: number
  readonly memoryMiB: number
  readonly sshKeys: readonly string[]
  /** One for each card; none: the network called default. */
  readonly networks: readonly string[]
  readonly start: boolean
}

const isResized = ({ template, cpus, memoryMiB }: NewVmRequest): boolean =>
  template.numberOfCpus !== cpus || template.memoryMB !== memoryMiB

export const composeBody = (wanted: NewVmRequest) => ({
  name: wanted.name,
  powerOn: wanted.start && !isResized(wanted),
  sourcedItem: [
    {
      source: { href: wanted.template.href, name: wanted.name },
      ...(wanted.networks.length > 0 && {
        instantiationParams: {
          networkConnectionSection: {
            networkConnection: wanted.networks.map((network, networkConnectionIndex) => ({
              network,
              networkConnectionIndex,
              // It fits every network: on a direct one the site gives the address.
              ipAddressAllocationMode: 'DHCP',
            })),
          },
        },
      }),
      ...(wanted.sshKeys.length > 0 && {
        guestCustomizationSection: { sshKey: wanted.sshKeys },
      }),
    },
  ],
})

/** Returns the href of the new VM. */
export async function createVm(composeHref: string, wanted: NewVmRequest): Promise<string> {
  const vapp = await request<VAppDocument>(composeHref, {
    method: 'POST',
    body: composeBody(wanted),
  })
  for (const task of vapp.tasks?.task ?? []) rememberTask(taskOfDocument(task))
  const href = vapp.children?.vm?.[0]?.href
  if (href === undefined) throw new Error('the cloud created a vApp without a VM')
  if (!isResized(wanted)) return href
  await act(href, 'reconfigureVm', {
    virtualHardwareSection: {
      item: [
        { resourceType: resourceType.processor, virtualQuantity: wanted.cpus },
        { resourceType: resourceType.memory, virtualQuantity: wanted.memoryMiB },
      ],
    },
  })
  if (wanted.start) await act(href, 'power:powerOn')
  return href
}

async function act(vmHref: string, rel: string, body?: unknown): Promise<void> {
  const href = linkOf(await request<VmDocument>(vmHref), rel)
  if (href === undefined) throw new Error(`the VM is created, but does not offer ${rel}`)
  const task = await request<TaskDocument>(href, {
    method: 'POST',
    ...(body !== undefined && { body }),
  })
  rememberTask(taskOfDocument(task))
}
