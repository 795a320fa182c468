import { Fault } from '@skerry/fault'

import { MachineLink, readText, type MachineIdentity } from './ask.ts'
import { reviveFault } from './wire.ts'

/** The response of a cell to a machine of the control issuer. All values are PEM. */
export interface Renewed {
  readonly certificate: string
  /** The trusted issuers from now on: of cells and consoles, and of hosts. */
  readonly issuers: string
  readonly hosts: string
  /** The certificate for browsers, if a console requested it too. */
  readonly site?: string
}

/** Renews the certificate: the same name for a new key, authenticated with the current certificate, by the first cell that answers. */
export async function askToRenew(
  cells: readonly { readonly address: string; readonly port: number }[],
  identity: MachineIdentity,
  csr: string,
  /** A console's second request: for its browser certificate. */
  site?: string,
): Promise<Renewed> {
  let last: unknown = new Fault(
    'unavailable',
    'this machine has no issuer keys and knows no cell that has',
    { hint: 'set one in `renewFrom` of its configuration' },
  )
  const body = { csr, ...(site !== undefined && { site }) }
  for (const cell of cells) {
    try {
      using link = new MachineLink(cell, identity, { role: 'cell' })
      const requested = { method: 'POST', path: '/machine/v1/renew', body } as const
      const answer = await link.ask(requested)
      const text = await readText(answer)
      if (answer.statusCode !== 200) throw reviveFault(text)
      return JSON.parse(text) as Renewed
    } catch (error) {
      last = error
    }
  }
  throw last
}
