import { command, type World } from '../command.ts'
import { Failure } from '../failure.ts'
import { wholeNumber } from '../number.ts'
import { showProgress } from '../progress.ts'
import { waitForAddress, WAIT_SECONDS } from './ip.ts'

const SSH_PORT = 22
const POLL_MS = 500

/** Words that no shell would take apart need no quotes. */
const quoted = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`

export const ssh = command({
  name: 'ssh',
  usage: 'VM [COMMAND...]',
  summary: 'a shell in the guest, by the system’s ssh',
  examples: [
    'skerry ssh web',
    'skerry ssh web --user debian --identity ~/.ssh/work -- uname -a',
    'skerry ssh web --print',
  ],
  next: 'skerry logs VM, where the guest does not answer',
  exits: 'the exit code of ssh, once it ran: that of the command in the guest, or 255',
  options: {
    user: { type: 'string', value: 'NAME', doc: 'who to log in as; root unless told' },
    identity: { type: 'string', value: 'FILE', doc: 'the private key to use' },
    print: { type: 'boolean', doc: 'print the command instead of running it' },
    timeout: { type: 'string', value: 'SECONDS', doc: 'how long to wait for the guest' },
  },
  async run(world, { words: [id = '', ...rest], options }) {
    const seconds = wholeNumber('--timeout', options.timeout) ?? WAIT_SECONDS
    const { address, id: alias } = await waitForAddress(world, id, seconds)
    const args = [
      // Addresses are used again by other VMs, so what is remembered is remembered for the VM's own name.
      ...['-o', `HostKeyAlias=skerry-${alias}`, '-o', 'StrictHostKeyChecking=accept-new'],
      ...(options.identity === undefined ? [] : ['-i', options.identity]),
      `${options.user ?? 'root'}@${address}`,
      ...(rest.length === 0 ? [] : ['--', ...rest]),
    ]
    if (options.print === true) return world.print(['ssh', ...args].map(quoted).join(' '))
    await waitForServer(world, id, address, seconds)
    return world.runProgram('ssh', args)
  },
})

/** A guest that starts has an address long before its SSH server answers. */
async function waitForServer(world: World, id: string, address: string, seconds: number) {
  const until = world.now() + seconds * 1000
  await showProgress(world, `waiting for the SSH server of ${id}`, async () => {
    while (!(await world.listens(address, SSH_PORT))) {
      if (world.now() >= until) {
        throw new Failure(
          'timedOut',
          `nothing answers at ${address}, port ${SSH_PORT}, after ${seconds} s`,
          {
            hint: `see how far the guest is: skerry console ${id}, or skerry logs ${id} on this machine`,
          },
        )
      }
      await world.wait(POLL_MS)
    }
  })
}
