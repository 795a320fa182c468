import { Fault } from '@skerry/fault'
import { keepLogins, openDatabase, scramVerifier, urlFor } from '@skerry/postgres'

import type { CloudTables } from '../database/tables.ts'
import type { CommandContext } from './command.ts'

/** Creates a database login of a role with a random password and returns its URL. `at`: the database as its machine reaches it. */
export async function makeLogin(
  { secret, salt }: CommandContext,
  {
    url: own,
    login: { name, role },
    at,
  }: {
    readonly url: string
    readonly login: { readonly name: string; readonly role: string }
    readonly at: string | undefined
  },
): Promise<string> {
  const password = secret()
  const url = URL.parse(at ?? own)
  if (!url || !/^postgres(ql)?:$/.test(url.protocol)) {
    throw new Fault(
      'invalid',
      `--database must be like postgres://db.example:5432/cloud, not ${at}`,
    )
  }
  const owner = openDatabase<CloudTables>({ url: own, applicationName: 'skerry admin', size: 1 })
  try {
    await keepLogins(owner, [{ name, role, verifier: scramVerifier(password, salt()) }])
  } finally {
    await owner.destroy()
  }
  return urlFor(url.href, name, password)
}
