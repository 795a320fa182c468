import { readFile } from 'node:fs/promises'

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
  const asked = { method: 'POST', headers, body: stopGuests ?? 'suspend' }
  const answer = await fetch(url, asked).catch((cause: unknown) => {
    const hint = 'guests that run without it are left as they are'
    throw new Fault('unavailable', `no vmd answers at port ${port}`, { cause, hint })
  })
  const body = (await answer.json()) as Stopped & { readonly message?: string }
  if (!answer.ok) throw new Fault('unavailable', body.message ?? `vmd answered ${answer.status}`)
  const left = body.left.map(({ vm, reason }) => `VM ${vm} runs on: ${reason}\n`)
  return `${left.join('')}${body.stopped.length} stopped, ${left.length} left\n`
}
