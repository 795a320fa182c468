import { Fault } from '@skerry/fault'
import type { Peer } from '@skerry/host-api'
import { readRequest } from '@skerry/service'

import { issueControl, issueHost, issueSite, type Issuers } from '../identity/issuers.ts'
import { hostOfConsole } from '../store/console-machines.ts'
import { readCloud, recordKey } from '../store/machines.ts'
import { hostOfWorkflow } from '../store/workflow-machines.ts'
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
    const hostOf = hostsOfSites[peer.role]
    if (!hostOf || typeof site !== 'string') return issued
    const host = await hostOf(world.db, peer.id)
    return { ...issued, site: await renewSite(world, issuers, { peer, host, csr: site }) }
  }
  if (!(await recordKey(world.db, peer.id, publicKey))) {
    throw new Fault('forbidden', `host ${peer.id} was revoked`)
  }
  const certificate = await issueHost(issuers, peer, publicKey, world.issuing)
  return { certificate, issuers: trusted.control }
}

/** Machines that clients reach by a site of their own. */
const hostsOfSites: Readonly<
  Partial<Record<Peer['role'], (db: MachineWorld['db'], id: string) => Promise<string | undefined>>>
> = { console: hostOfConsole, workflow: hostOfWorkflow }

/** For clients: of the host that the machine was made for, whatever it would rather be called. */
async function renewSite(
  { issuing }: MachineWorld,
  issuers: Issuers,
  { peer, host, csr }: { readonly peer: Peer; readonly host: string | undefined; csr: string },
): Promise<string> {
  if (host === undefined) {
    throw new Fault('forbidden', `no ${peer.role} ${peer.id} was made here`, {
      hint: `skerry cloud ${peer.role} makes one`,
    })
  }
  return issueSite(issuers, [host], await readRequest(csr), issuing)
}
