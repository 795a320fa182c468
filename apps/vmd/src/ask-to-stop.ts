import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { request, type IncomingMessage } from 'node:http'
import { json } from 'node:stream/consumers'

import { Fault } from '@skerry/fault'

import type { Stopped } from './autostart.ts'
import type { Config } from './config.ts'

/** Asks the vmd that runs here to stop its guests, and says which it could not. */
export async function askToStop(config: Config): Promise<string> {
  const { port, tokenFile, stopGuests } = config
  const headers =
    tokenFile === undefined
      ? {}
      : { authorization: `Bearer ${(await readFile(tokenFile, 'utf8')).trim()}` }
  const url = `http://127.0.0.1:${port}/api/guests/stop`
  const answer = await post(url, headers, stopGuests ?? 'suspend').catch((cause: unknown) => {
    const hint = 'guests that run without it are left as they are'
    throw new Fault('unavailable', `no vmd answers at port ${port}`, { cause, hint })
  })
  const body = (await json(answer)) as Stopped & { readonly message?: string }
  if (answer.statusCode !== 200) {
    throw new Fault('unavailable', body.message ?? `vmd answered ${answer.statusCode}`)
  }
  const left = body.left.map(({ vm, reason }) => `VM ${vm} runs on: ${reason}\n`)
  return `${left.join('')}${body.stopped.length} stopped, ${left.length} left\n`
}

/** Waits as long as it takes: fetch would give up after five minutes, and memory may take longer to write. */
async function post(
  url: string,
  headers: Readonly<Record<string, string>>,
  body: string,
): Promise<IncomingMessage> {
  const asked = request(url, { method: 'POST', headers }).end(body)
  const [answer] = (await once(asked, 'response')) as [IncomingMessage]
  return answer
}
