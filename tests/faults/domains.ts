import type { LabHost } from '@skerry/lab'
import * as libvirt from '@skerry/libvirt'
import { attribute, find, readXml } from '@skerry/xml'

/** A domain as libvirt itself reports it. */
export interface DomainSeen {
  readonly name: string
  readonly id: string
  /** The active layer according to its definition. */
  readonly disk: string
  readonly isRunning: boolean
  /** Its memory is in a file, complete or not. */
  readonly isSaved: boolean
  readonly snapshots: readonly string[]
}

export async function readDomains(host: LabHost): Promise<DomainSeen[]> {
  await using connection = await libvirt.Connection.open({
    socket: host.libvirt.socket,
    uri: 'qemu:///system',
  })
  const all = { needResults: 1, flags: 0 }
  const { domains } = await connection.call(libvirt.connectListAllDomains, all)
  return await Promise.all(
    domains.map(async (dom) => {
      const { state } = await connection.call(libvirt.domainGetState, { dom, flags: 0 })
      const { result } = await connection.call(libvirt.domainHasManagedSaveImage, { dom, flags: 0 })
      const { snapshots } = await connection.call(libvirt.domainListAllSnapshots, { dom, ...all })
      const isRunning = state !== libvirt.DomainState.shutoff
      return {
        name: dom.name,
        id: dom.name.replace(/^local-/, ''),
        disk: await diskOf(connection, dom),
        isRunning,
        isSaved: result === 1 && !isRunning,
        snapshots: snapshots.map(({ name }) => name),
      }
    }),
  )
}

async function diskOf(connection: libvirt.Connection, dom: libvirt.Domain): Promise<string> {
  const flags = libvirt.DomainXMLFlags.inactive
  const { xml } = await connection.call(libvirt.domainGetXmlDesc, { dom, flags })
  const domain = readXml(xml, { bytesMax: 1024 ** 2 })
  return attribute(find(domain, 'devices', 'disk', 'source'), 'file') ?? ''
}
