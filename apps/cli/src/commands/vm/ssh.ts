import { command, type CliContext } from '../../command.ts'
import { Failure } from '../../terminal/failure.ts'
import { wholeNumber } from '../../terminal/number.ts'
import { showProgress } from '../../terminal/progress.ts'
import type { ReachableAddress } from '../../vms/vm-backend.ts'
import { WAIT_SECONDS } from './address.ts'

const SSH_PORT = 22
const POLL_MS = 500

/** Quotes a word for a shell, where it needs quotes. */
const quoted = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`

export const ssh = command({
  name: 'ssh',
  usage: 'VM [COMMAND...]',
  summary: 'open a shell or run a command in the guest, with the system’s ssh',
  examples: [
    'skerry ssh web',
    'skerry ssh web --user debian --identity ~/.ssh/work -- uname -a',
    'skerry ssh web --print',
  ],
  next: 'skerry logs VM if the guest does not respond',
  exits: 'the exit code of ssh, if it ran: that of the command in the guest, or 255',
  options: {
    user: { type: 'string', value: 'NAME', doc: 'user in the guest (default: root)' },
    identity: { type: 'string', value: 'FILE', doc: 'private key file' },
    print: { type: 'boolean', doc: 'print the command instead of running it' },
    timeout: {
      type: 'string',
      value: 'SECONDS',
      doc: `how long to wait for the guest (default: ${WAIT_SECONDS})`,
    },
  },
  async run(context, { words: [id = '', ...rest], options }) {
    const seconds = wholeNumber('--timeout', options.timeout) ?? WAIT_SECONDS
    const found = await showProgress(context, `waiting for the address of ${id}`, async () =>
      context.verbs.reach(id, SSH_PORT, seconds),
    )
    const { address, port, id: alias } = found
    const args = [
      // Addresses are reused by other VMs, so ssh stores the host key under the VM's id.
      '-o',
      `HostKeyAlias=skerry-${alias}`,
      '-o',
      'StrictHostKeyChecking=accept-new',
      ...(port === SSH_PORT ? [] : ['-p', String(port)]),
      ...(options.identity === undefined ? [] : ['-i', options.identity]),
      `${options.user ?? 'root'}@${address}`,
      ...(rest.length === 0 ? [] : ['--', ...rest]),
    ]
    if (options.print === true) return context.print(['ssh', ...args].map(quoted).join(' '))
    await requireReachable(context, id, found)
    await waitForServer(context, id, found, seconds)
    return context.runProgram('ssh', args)
  },
})

/** No one outside reaches an address of a network of a cloud, but the user may be on that network. */
async function requireReachable(
  { listens }: CliContext,
  id: string,
  { address, port, within }: ReachableAddress,
): Promise<void> {
  if (within === undefined || (await listens(address, port))) return
  throw new Failure(
    'refused',
    `${address}, the address of ${id} on network ${within}, cannot be reached from here`,
    { hint: `skerry publish ${id} --port ${SSH_PORT}` },
  )
}

/** A booting guest has an address long before its SSH server listens. */
async function waitForServer(
  context: CliContext,
  id: string,
  { address, port }: ReachableAddress,
  seconds: number,
) {
  const until = context.now() + seconds * 1000
  await showProgress(context, `waiting for the SSH server of ${id}`, async () => {
    while (!(await context.listens(address, port))) {
      if (context.now() >= until) {
        throw new Failure(
          'timedOut',
          `no SSH server at ${address}, port ${port}, after ${seconds} s`,
          {
            hint: `check the boot of the guest: skerry console ${id}, or skerry logs ${id} on this machine`,
          },
        )
      }
      await context.wait(POLL_MS)
    }
  })
}
