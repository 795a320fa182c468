import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { request, type IncomingMessage } from 'node:http'
import { json } from 'node:stream/consumers'

import { Fault } from '@skerry/fault'

import type { VmdConfig } from './config.ts'
import type { StoppedGuests } from './guests/autostart.ts'

/** Asks the running vmd to stop its guests, and reports those that it could not stop. */
export async function askToStop(config: VmdConfig): Promise<string> {
  const { port, tokenFile, stopGuests } = config
  const headers =
    tokenFile === undefined
      ? {}
      : { authorization: `Bearer ${(await readFile(tokenFile, 'utf8')).trim()}` }
  const url = `http://127.0.0.1:${port}/api/guests/stop`
  const answer = await post(url, headers, stopGuests ?? 'suspend').catch((cause: unknown) => {
    const hint = 'running guests are left as they are'
    throw new Fault('unavailable', `no vmd answers at port ${port}`, { cause, hint })
  })
  const body = (await json(answer)) as StoppedGuests & { readonly message?: string }
  if (answer.statusCode !== 200) {
    throw new Fault('unavailable', body.message ?? `vmd answered ${answer.statusCode}`)
  }
  const left = body.left.map(({ vm, reason }) => `VM ${vm} still runs: ${reason}\n`)
  return `${left.join('')}${body.stopped.length} stopped, ${left.length} left\n`
}

/** Without a timeout: fetch would give up after five minutes, and saving memory may take longer. */
async function post(
  url: string,
  headers: Readonly<Record<string, string>>,
  body: string,
): Promise<IncomingMessage> {
  const requested = request(url, { method: 'POST', headers }).end(body)
  const [answer] = (await once(requested, 'response')) as [IncomingMessage]
  return answer
}
