import { command, type World } from '../command.ts'
import { Failure } from '../failure.ts'
import { path } from '../local-client.ts'
import { wholeNumber } from '../number.ts'
import { showProgress } from '../progress.ts'

export const WAIT_SECONDS = 120
/** A single question is kept short, so that no proxy or HTTP library loses patience before we do. */
const ASK_SECONDS = 30

interface Said {
  readonly code: number
  readonly message: string
}

export const ip = command({
  name: 'ip',
  usage: 'VM',
  summary: 'the address of a VM',
  examples: ['skerry ip web', 'skerry ip web --wait --timeout 60'],
  next: 'skerry ssh VM logs in there',
  options: {
    wait: { type: 'boolean', doc: 'wait until it has one' },
    timeout: {
      type: 'string',
      value: 'SECONDS',
      doc: `how long to wait; ${WAIT_SECONDS} unless told`,
    },
  },
  async run(world, { words: [id = ''], options: { wait, timeout }, json }) {
    const seconds = wholeNumber('--timeout', timeout) ?? WAIT_SECONDS
    const said =
      wait === true
        ? await waitForAddress(world, id, seconds)
        : (await world.api.ask<Said>('GET', path('vms', id, 'ipaddress'))).body
    world.print(json ? JSON.stringify(said, null, 2) : said.message)
  },
})

/** Asks until the guest has an address; of a VM that is off the daemon says at once that it never will. */
export async function waitForAddress(world: World, id: string, seconds: number): Promise<Said> {
  const until = world.now() + seconds * 1000
  return showProgress(world, `waiting for the address of ${id}`, async () => {
    for (;;) {
      const left = Math.max(1, Math.ceil((until - world.now()) / 1000))
      const where = `${path('vms', id, 'ipaddress')}?wait=${Math.min(ASK_SECONDS, left)}`
      try {
        return (await world.api.ask<Said>('GET', where)).body
      } catch (error) {
        if (!(error instanceof Failure) || error.reason !== 'timedOut') throw error
        if (world.now() < until) continue
        throw new Failure('timedOut', `${id} has no address after ${seconds} s`, {
          cause: error,
          body: error.body,
          hint: `see what the guest says: skerry logs ${id}`,
        })
      }
    }
  })
}
