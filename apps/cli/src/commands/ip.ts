import { command, type World } from '../command.ts'
import { wholeNumber } from '../number.ts'
import { showProgress } from '../progress.ts'
import type { Address } from '../verbs.ts'

export const WAIT_SECONDS = 120

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
  async run(world, { words: [vm = ''], options: { wait, timeout }, json }) {
    const seconds = wholeNumber('--timeout', timeout) ?? WAIT_SECONDS
    const { address, body } =
      wait === true ? await waitForAddress(world, vm, seconds) : await world.verbs.address(vm)
    world.print(json ? JSON.stringify(body, null, 2) : address)
  },
})

/** Waits until the guest has an address, as its verbs know how. */
export const waitForAddress = (world: World, vm: string, seconds: number): Promise<Address> =>
  showProgress(world, `waiting for the address of ${vm}`, async () =>
    world.verbs.waitForAddress(vm, seconds),
  )
