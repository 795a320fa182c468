import { Fault } from '@skerry/fault'
import * as libvirt from '@skerry/libvirt'

import { findVm } from './find-domain.ts'
import type { Host } from './host.ts'
import type { Owner } from './record.ts'
import { saysLibvirt } from './to-fault.ts'

const ANSWER_SECONDS = 5
const EXEC_TIMEOUT_MS = 30_000

export interface Command {
  readonly path: string
  readonly args?: readonly string[]
  readonly input?: string
  readonly timeoutMs?: number
}

export interface Outcome {
  readonly exitCode: number
  readonly stdout: string
  readonly stderr: string
}

/** Runs a program in the guest through its agent. */
export async function execInGuest(
  host: Host,
  id: string,
  command: Command,
  owner?: Owner,
): Promise<Outcome> {
  const { dom } = await findVm(host, id, owner)
  return execInDomain(host, dom, command)
}

/** Whether the guest's agent answers now. */
export async function pingGuest(host: Host, id: string, owner?: Owner): Promise<boolean> {
  const { dom } = await findVm(host, id, owner)
  return agentAnswers(host, dom)
}

export async function agentAnswers(host: Host, dom: libvirt.Domain): Promise<boolean> {
  try {
    await askAgent(host, dom, 'guest-ping')
    return true
  } catch (error) {
    if (error instanceof Fault) return false
    throw error
  }
}

/** How long a guest that was asleep may take until its agent answers. */
const AWAKE_MS = 60_000

/**
 * Tells a guest what time it is: its clock stood still as long as it did. Waits for the agent, and
 * gives up where there is none or the link to libvirt is lost.
 */
export async function setClock(host: Host, dom: libvirt.Domain): Promise<void> {
  const answer = await host.changes.until(dom.name, AWAKE_MS, async () => {
    if (!host.link.isOpen) return 'lost'
    return (await agentAnswers(host, dom)) ? 'awake' : undefined
  })
  if (answer !== 'awake') return
  const now = host.clock.now().getTime()
  await host.link.call(libvirt.domainSetTime, {
    dom,
    seconds: BigInt(Math.floor(now / 1000)),
    nseconds: (now % 1000) * 1_000_000,
    flags: 0,
  })
}

export async function execInDomain(
  host: Host,
  dom: libvirt.Domain,
  { path, args = [], input, timeoutMs = EXEC_TIMEOUT_MS }: Command,
): Promise<Outcome> {
  const pid = await startProgram(host, dom, { path, args, ...(input !== undefined && { input }) })
  const deadline = performance.now() + timeoutMs
  // The agent tells the end of a program only to those who ask.
  for (let pause = 5; ; pause = Math.min(pause * 2, 250)) {
    const status = (await askAgent(host, dom, 'guest-exec-status', { pid })) as ExecStatus
    if (status.exited) {
      return {
        exitCode: status.exitcode ?? 128 + (status.signal ?? 0),
        stdout: decoded(status['out-data']),
        stderr: decoded(status['err-data']),
      }
    }
    if (performance.now() > deadline) {
      throw new Fault('timed-out', `${path} did not end in the guest within ${timeoutMs / 1000} s`)
    }
    await new Promise((resolve) => setTimeout(resolve, pause))
  }
}

async function startProgram(
  host: Host,
  dom: libvirt.Domain,
  { path, args, input }: Command,
): Promise<number> {
  try {
    const started = await askAgent(host, dom, 'guest-exec', {
      path,
      arg: args,
      'capture-output': true,
      ...(input !== undefined && { 'input-data': Buffer.from(input).toString('base64') }),
    })
    return (started as { pid: number }).pid
  } catch (error) {
    // So libvirt hands on what the agent itself refused.
    if (!saysLibvirt(error, libvirt.ErrorCode.internalError)) throw error
    throw new Fault('invalid', `${path} cannot be started in the guest`, {
      cause: error,
      hint: 'give the full path of a program that is there, or /bin/sh with args',
    })
  }
}

interface ExecStatus {
  readonly exited: boolean
  readonly exitcode?: number
  readonly signal?: number
  readonly 'out-data'?: string
  readonly 'err-data'?: string
}

const decoded = (data = ''): string => Buffer.from(data, 'base64').toString('utf8')

async function askAgent(
  { link }: Host,
  dom: libvirt.Domain,
  execute: string,
  args?: Readonly<Record<string, unknown>>,
): Promise<unknown> {
  try {
    const { result } = await link.call(libvirt.qemuDomainAgentCommand, {
      dom,
      cmd: JSON.stringify({ execute, ...(args && { arguments: args }) }),
      timeout: ANSWER_SECONDS,
      flags: 0,
    })
    return (JSON.parse(result ?? '{}') as { return?: unknown }).return
  } catch (error) {
    if (!saysLibvirt(error, libvirt.ErrorCode.agentUnresponsive)) throw error
    throw new Fault('unavailable', 'the guest agent does not answer', {
      cause: error,
      hint: 'wait until the guest has started, and see that qemu-guest-agent runs in it',
    })
  }
}
