// The issuers of a cloud and their certificates, valid since yesterday: a process whose clock is an hour behind accepts them too.
import { randomBytes } from 'node:crypto'

import { epochUri, machineUri, type MachineRole } from '@skerry/host-api'
import {
  issueCertificate,
  makeIssuer,
  makeKey,
  publicKeyOf,
  type KeyAndCert,
} from '@skerry/service'

export const CLOUD = 'lab'
const DAY_MS = 24 * 60 * 60 * 1000

export interface Authority {
  readonly control: string
  readonly hosts: string
  readonly site: string
  /** A machine of this role: hosts by one issuer, all others by the other. */
  machine(role: MachineRole, id: string): Promise<KeyAndCert>
  /** The server certificate for browsers at these addresses. */
  server(...addresses: readonly string[]): Promise<KeyAndCert>
}

export async function makeAuthority(): Promise<Authority> {
  const span = {
    notBefore: new Date(Date.now() - DAY_MS),
    notAfter: new Date(Date.now() + 2 * DAY_MS),
  }
  const serial = () => `01${randomBytes(15).toString('hex')}`
  const issuer = async (subject: string) =>
    makeIssuer({ key: await makeKey(), subject, serial: serial(), ...span })
  const [control, hosts, site] = await Promise.all(['control', 'hosts', 'site'].map(issuer))
  if (!control || !hosts || !site) throw new Error('three issuers were asked for')
  const issue = async (
    by: typeof control,
    names: { readonly uris?: readonly string[]; readonly hosts?: readonly string[] },
  ): Promise<KeyAndCert> => {
    const key = await makeKey()
    const made = { publicKey: publicKeyOf(key), serial: serial(), subject: 'lab', ...span }
    return { key, cert: await issueCertificate(by, { ...made, ...names }) }
  }
  return {
    control: control.cert,
    hosts: hosts.cert,
    site: site.cert,
    machine: (role, id) =>
      issue(role === 'host' ? hosts : control, {
        uris: [
          machineUri({ cloud: CLOUD, role, id }),
          ...(role === 'host' ? [] : [epochUri(CLOUD, 0)]),
        ],
      }),
    server: (...addresses) => issue(site, { hosts: addresses }),
  }
}
