// A cell in its own process, for its tickets: it does not need Temporal for that, which is down.
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'

import { freePorts } from '@skerry/lab'
import type { VmId } from '@skerry/vm'

import { hashToken } from '../../apps/cloud/src/auth/access-token.ts'
import { prepareLogins } from '../../apps/cloud/src/command-line/prepare-tables.ts'
import type { CloudConfig } from '../../apps/cloud/src/config.ts'
import { cellLogins } from '../../apps/cloud/src/database/acting-as.ts'
import type { User } from '../../apps/cloud/test/console-database.ts'
import { moved } from './console-process.ts'
import type { SmallConsole } from './small-console.ts'

const PROGRAM = join(import.meta.dirname, '../../apps/cloud/test/cell-process.ts')

export interface TicketCell extends AsyncDisposable {
  /** A ticket by `acquireTicket`, for this user; and its document. */
  ticket(vm: VmId, user: User): Promise<{ readonly ticket: string; readonly expires: string }>
  /** Its own clock, in milliseconds. */
  readonly now: number
  kill(): Promise<void>
}

export async function startTicketCell(
  { it, authority, url: page }: SmallConsole,
  { name = 'cell-1', clock }: { readonly name?: string; readonly clock?: string } = {},
): Promise<TicketCell> {
  const dir = await mkdtemp(join(tmpdir(), 'skerry-cell-'))
  const port = await freePorts()
  const base = `https://127.0.0.1:${port}`
  const config: CloudConfig = {
    base,
    cell: name,
    database: it.cloud.url,
    console: new URL(page).host,
    listen: { address: '127.0.0.1', port },
    machines: { address: '127.0.0.1', port: 1 },
    temporal: { address: '127.0.0.1:1', namespace: 'nowhere' },
    identity: dir,
    images: dir,
  }
  const machine = { ...(await authority.machine('cell', name)), ca: authority.hosts }
  const tls = await authority.server('127.0.0.1')
  const sealKey = randomBytes(32).toString('base64')
  await prepareLogins({ ...config, logins: cellLogins(config, sealKey) })
  await writeFile(join(dir, 'config'), JSON.stringify(config))
  await writeFile(join(dir, 'identity'), JSON.stringify({ machine, tls, sealKey }))
  const child = spawn(process.execPath, [PROGRAM, join(dir, 'config'), join(dir, 'identity')], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...(clock !== undefined && moved(clock)) },
  })
  const log = join(dir, 'log')
  child.stderr.pipe(createWriteStream(log))
  const dead = once(child, 'exit').then(async () => {
    throw new Error(`the cell did not start: ${await readFile(log, 'utf8')}`)
  })
  dead.catch(() => undefined)
  await Promise.race([once(child.stdout, 'data'), dead])
  const tokens = new Map<string, string>()
  const enter = async ({ org, account }: User): Promise<string> => {
    const token = randomBytes(32).toString('base64url')
    await it.cloud.db
      .insertInto('session')
      .values({ token_hash: hashToken(token), org, account })
      .execute()
    tokens.set(account, token)
    return token
  }
  let now = 0
  const kill = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    const gone = once(child, 'exit')
    child.kill('SIGKILL')
    await gone
  }
  return {
    get now() {
      return now
    },
    kill,
    async ticket(vm, user) {
      const token = tokens.get(user.account) ?? (await enter(user))
      const requested = request(`${base}/api/vApp/vm-${vm}/screen/action/acquireTicket`, {
        method: 'POST',
        ca: authority.site,
        headers: {
          accept: 'application/*+xml;version=5.1',
          'x-cloud-authorization': token,
        },
      })
      requested.end()
      const [response] = (await once(requested, 'response')) as [IncomingMessage]
      now = Date.parse(response.headers.date ?? '')
      const said = await text(response)
      const ticket = /\?ticket=([^&<"]+)</.exec(said)?.[1]
      if (ticket === undefined) {
        throw new Error(`no ticket: ${response.statusCode} ${said}\n${await readFile(log, 'utf8')}`)
      }
      return {
        ticket: decodeURIComponent(ticket),
        expires: /expires="([^"]+)"/.exec(said)?.[1] ?? '',
      }
    },
    async [Symbol.asyncDispose]() {
      await kill()
      await rm(dir, { recursive: true, force: true })
    },
  }
}
