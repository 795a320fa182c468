import { Fault } from '@skerry/fault'
import type { Peer } from '@skerry/host-api'
import { readRequest } from '@skerry/service'

import { hostOfConsole } from '../identity/console-machines.ts'
import { issueControl, issueHost, issueSite, type Issuers } from '../identity/issuers.ts'
import { readCloud, recordKey } from '../identity/machines.ts'
import { hostOfWorkflow } from '../identity/workflow-machines.ts'
import type { MachineContext } from './context.ts'

/** Issues a certificate with the same name for a new key, authenticated by the old one. Revoked machines were rejected before. */
export async function renew(context: MachineContext, peer: Peer, body: unknown) {
  const { csr, site } = (body ?? {}) as { csr?: unknown; site?: unknown }
  if (typeof csr !== 'string') throw new Fault('invalid', 'invalid request for a certificate')
  const { trusted, issuers } = context.identity()
  if (!issuers)
    throw new Fault('unavailable', 'this cell may not issue certificates: use another cell')
  const publicKey = await readRequest(csr)
  if (peer.role !== 'host') {
    const { epoch } = await readCloud(context.db)
    const certificate = await issueControl(issuers, { ...peer, epoch }, publicKey, context.issuing)
    const issued = { certificate, issuers: trusted.control, hosts: trusted.hosts }
    const hostOf = hostsOfSites[peer.role]
    if (!hostOf || typeof site !== 'string') return issued
    const host = await hostOf(context.db, peer.id)
    return { ...issued, site: await renewSite(context, issuers, { peer, host, csr: site }) }
  }
  if (!(await recordKey(context.db, peer.id, publicKey))) {
    throw new Fault('forbidden', `host ${peer.id} was revoked`)
  }
  const certificate = await issueHost(issuers, peer, publicKey, context.issuing)
  return { certificate, issuers: trusted.control }
}

/** Machines that have their own site for clients. */
const hostsOfSites: Readonly<
  Partial<
    Record<Peer['role'], (db: MachineContext['db'], id: string) => Promise<string | undefined>>
  >
> = { console: hostOfConsole, workflow: hostOfWorkflow }

/** The certificate for clients: for the host name that the machine was created with, regardless of the request. */
async function renewSite(
  { issuing }: MachineContext,
  issuers: Issuers,
  { peer, host, csr }: { readonly peer: Peer; readonly host: string | undefined; csr: string },
): Promise<string> {
  if (host === undefined) {
    throw new Fault('forbidden', `no ${peer.role} ${peer.id} was created in this cloud`, {
      hint: `create one with skerry admin ${peer.role}-server create`,
    })
  }
  return issueSite(issuers, [host], await readRequest(csr), issuing)
}
