import { Fault } from '@skerry/fault'
import type { Peer } from '@skerry/host-api'
import { readRequest } from '@skerry/service'

import { issueControl, issueHost, issueSite, type Issuers } from '../identity/issuers.ts'
import { hostOfConsole } from '../store/console-machines.ts'
import { readCloud, recordKey } from '../store/machines.ts'
import type { MachineWorld } from './server.ts'

/** The same name for a new key, over the old certificate. Whoever was revoked did not get so far. */
export async function renew(world: MachineWorld, peer: Peer, body: unknown) {
  const { csr, site } = (body ?? {}) as { csr?: unknown; site?: unknown }
  if (typeof csr !== 'string') throw new Fault('invalid', 'this is no request for a certificate')
  const { trusted, issuers } = world.identity()
  if (!issuers) throw new Fault('unavailable', 'this cell may not issue: ask another')
  const publicKey = await readRequest(csr)
  if (peer.role !== 'host') {
    const { epoch } = await readCloud(world.db)
    const certificate = await issueControl(issuers, { ...peer, epoch }, publicKey, world.issuing)
    const issued = { certificate, issuers: trusted.control, hosts: trusted.hosts }
    if (peer.role !== 'console' || typeof site !== 'string') return issued
    return { ...issued, site: await renewSite(world, issuers, peer, site) }
  }
  if (!(await recordKey(world.db, peer.id, publicKey))) {
    throw new Fault('forbidden', `host ${peer.id} was revoked`)
  }
  const certificate = await issueHost(issuers, peer, publicKey, world.issuing)
  return { certificate, issuers: trusted.control }
}

/** For browsers: of the host that the console was made for, whatever it would rather be called. */
async function renewSite(
  { db, issuing }: MachineWorld,
  issuers: Issuers,
  { id }: Peer,
  csr: string,
): Promise<string> {
  const host = await hostOfConsole(db, id)
  if (host === undefined) {
    throw new Fault('forbidden', `no console ${id} was made here`, {
      hint: 'skerry cloud console makes one',
    })
  }
  return issueSite(issuers, [host], await readRequest(csr), issuing)
}
