import { Fault } from '@skerry/fault'

import { MachineLink, readText, type Identity } from './ask.ts'
import { reviveFault } from './wire.ts'

/** What a cell gives to a machine of the control issuer. PEM, all of it. */
export interface Renewed {
  readonly certificate: string
  /** Whom to believe from now on: issuers of cells and consoles, and of hosts. */
  readonly issuers: string
  readonly hosts: string
  /** What browsers are shown, where a console asked for it too. */
  readonly site?: string
}

/** The same name for a new key, over the certificate that counts until now, by whichever of these cells answers. */
export async function askToRenew(
  cells: readonly { readonly address: string; readonly port: number }[],
  identity: Identity,
  csr: string,
  /** A console's second request: for the certificate that browsers are shown. */
  site?: string,
): Promise<Renewed> {
  let last: unknown = new Fault(
    'unavailable',
    'this machine may not issue certificates and knows of no cell that may',
    { hint: 'name one in `renewFrom` of its configuration' },
  )
  const body = { csr, ...(site !== undefined && { site }) }
  for (const cell of cells) {
    try {
      using link = new MachineLink(cell, identity, { role: 'cell' })
      const asked = { method: 'POST', path: '/machine/v1/renew', body } as const
      const answer = await link.ask(asked)
      const text = await readText(answer)
      if (answer.statusCode !== 200) throw reviveFault(text)
      return JSON.parse(text) as Renewed
    } catch (error) {
      last = error
    }
  }
  throw last
}
