// Calls a guest's agent directly, without our code.
import { until, type LabHost } from '@skerry/lab'

/** Generous: a guest that is still booting is emulated, beside others, on few cores. */
const BOOT_MS = 180_000
const SCRIPT_MS = 120_000
/** Each look is a process of virsh: more of them would take the processor from the guest that is awaited. */
const LOOK_MS = 200

interface AgentAnswer {
  readonly pid?: number
  readonly exited?: boolean
  readonly 'out-data'?: string
}

/** The output of a script in the guest of the local VM with this id. */
export const inGuest = (
  host: LabHost,
  id: string,
  script: string,
  timeoutMs?: number,
): Promise<string> => inDomain(host, `local-${id}`, script, timeoutMs)

/** The output of a script in the guest of this domain. */
export async function inDomain(
  host: LabHost,
  domain: string,
  script: string,
  timeoutMs = SCRIPT_MS,
): Promise<string> {
  const agent = async (command: object) => {
    const words = ['virsh', '-q', 'qemu-agent-command', domain, JSON.stringify(command)]
    const { stdout } = await host.run(words)
    return (JSON.parse(stdout || '{}') as { return?: AgentAnswer }).return
  }
  const started = await until(
    'the agent accepts the script',
    () =>
      agent({
        execute: 'guest-exec',
        arguments: { path: '/bin/sh', arg: ['-c', script], 'capture-output': true },
      }),
    BOOT_MS,
    LOOK_MS,
  )
  const done = await until(
    'the script has ended',
    async () => {
      const status = await agent({ execute: 'guest-exec-status', arguments: { pid: started.pid } })
      return status?.exited === true && status
    },
    timeoutMs,
  )
  return Buffer.from(done['out-data'] ?? '', 'base64').toString()
}
