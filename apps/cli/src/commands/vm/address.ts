import { command, type CliContext } from '../../command.ts'
import { wholeNumber } from '../../terminal/number.ts'
import { showProgress } from '../../terminal/progress.ts'
import type { VmAddress } from '../../vms/vm-backend.ts'

export const WAIT_SECONDS = 120

export const address = command({
  name: 'address',
  usage: 'VM',
  summary: 'print the IP address of a VM (of one named list, take or release: by its id)',
  examples: ['skerry address web', 'skerry address web --wait --timeout 60'],
  next: 'skerry ssh VM logs in; skerry address list lists external addresses of a cloud',
  options: {
    wait: { type: 'boolean', doc: 'wait until it has an address' },
    timeout: {
      type: 'string',
      value: 'SECONDS',
      doc: `time limit of --wait (default: ${WAIT_SECONDS})`,
    },
  },
  async run(context, { words: [vm = ''], options: { wait, timeout }, json }) {
    const seconds = wholeNumber('--timeout', timeout) ?? WAIT_SECONDS
    const { address: found, body } =
      wait === true ? await waitForAddress(context, vm, seconds) : await context.verbs.address(vm)
    context.print(json ? JSON.stringify(body, null, 2) : found)
  },
})

/** Waits until the guest has an address. */
const waitForAddress = (context: CliContext, vm: string, seconds: number): Promise<VmAddress> =>
  showProgress(context, `waiting for the address of ${vm}`, async () =>
    context.verbs.waitForAddress(vm, seconds),
  )
