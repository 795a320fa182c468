// A cell with an organisation `blue`, and what its administrators and users ask of it.
import { mkdtempDisposable, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import type { OrgId } from '@skerry/vm'

import type { Profile, ProfileStore } from '../../../apps/cli/src/profiles/profiles.ts'
import { skerry, type Ran } from '../../../apps/cli/test/terminal.ts'
import { startLoneCell, type LoneCell } from '../../attack/lone-cell.ts'
import { NOWHERE } from './device-login.ts'
import { insist } from './insist.ts'

export interface ProvedCell extends AsyncDisposable {
  readonly cell: LoneCell
  readonly url: string
  readonly org: OrgId
  /** A file in a directory that ends with the cell. */
  file(name: string, content: string): Promise<string>
  /** `skerry` as a system administrator, who types this secret. */
  rule(secret: string, ...words: readonly string[]): Promise<Ran>
  /** The status of the session of a token. */
  statusOf(token: string): Promise<number>
  roleOf(name: string): Promise<string | undefined>
}

export async function startProvedCell(): Promise<ProvedCell> {
  await using stack = new AsyncDisposableStack()
  const cell = stack.use(await startLoneCell())
  const dir = stack.use(await mkdtempDisposable(join(tmpdir(), 'prove-identity-')))
  const org = await cell.addOrg('blue')
  const url = `https://127.0.0.1:${cell.port}`
  const token = await cell.enter(await cell.addOrg('System'), 'system administrator')
  const profile: Profile = { url, user: 'ruler@System', token, ca: cell.ca }
  const all = stack.move()
  return {
    cell,
    url,
    org,
    async file(name, content) {
      const path = join(dir.path, name)
      await writeFile(path, content)
      return path
    },
    rule: (secret, ...words) => insist(profile, secret, words),
    async statusOf(of) {
      const headers = { 'x-cloud-authorization': of }
      return (await cell.ask('/api/session', { headers })).status
    },
    async roleOf(name) {
      const row = await cell.db
        .selectFrom('account')
        .select('role')
        .where('org', '=', org)
        .where('name', '=', name)
        .executeTakeFirst()
      return row?.role
    },
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  }
}

/** The exit code of a command that every user may run. */
export const listVms = async (profiles: ProfileStore): Promise<number> =>
  (await skerry(NOWHERE, ['vm', 'list'], { profiles })).code
