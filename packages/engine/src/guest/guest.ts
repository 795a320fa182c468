import { isIPv4 } from 'node:net'

import { Fault } from '@skerry/fault'
import * as libvirt from '@skerry/libvirt'

import { findVm } from '../domain/find-domain.ts'
import { askMonitor } from '../domain/monitor.ts'
import { AgentAway, mayAnswerLater } from '../host/agent-lines.ts'
import { fieldsOf } from '../host/agent.ts'
import type { Host } from '../host/host.ts'
import type { Owner } from '../host/owner.ts'
import { saysLibvirt } from '../host/to-fault.ts'

const EXEC_TIMEOUT_MS = 30_000
/** A guest may claim any number; the rest is ignored. */
const CARDS_MAX = 64
const CLAIMS_MAX = 64

export interface GuestCommand {
  readonly path: string
  readonly args?: readonly string[]
  readonly input?: string
  readonly timeoutMs?: number
}

export interface CommandOutcome {
  readonly exitCode: number
  readonly stdout: string
  readonly stderr: string
}

/** Runs a program in the guest through its agent. */
export async function execInGuest(
  host: Host,
  id: string,
  command: GuestCommand,
  owner?: Owner,
): Promise<CommandOutcome> {
  const { dom } = await findVm(host, id, owner)
  return execInDomain(host, dom, command)
}

/** Whether the guest agent answers now. */
export async function pingGuest(host: Host, id: string, owner?: Owner): Promise<boolean> {
  const { dom } = await findVm(host, id, owner)
  return agentAnswers(host, dom)
}

export async function agentAnswers(host: Host, dom: libvirt.Domain): Promise<boolean> {
  try {
    await host.agents.ask(dom, 'guest-ping')
    return true
  } catch (error) {
    if (error instanceof Fault) return false
    throw error
  }
}

/** How long the agent of a resumed guest may take until it answers. */
const AWAKE_MS = 60_000
/** How late a guest's clock may be, and how often it is set: one try takes about a second in a guest that works. */
const CLOCK_LATE_MS = 1000
const CLOCK_TRIES = 10

/**
 * Sets a guest's clock, which stood still while the guest was stopped. Waits for the agent, and
 * gives up if there is none or the link to libvirt is lost.
 */
export async function setClock(host: Host, dom: libvirt.Domain): Promise<void> {
  const answer = await host.changes.until(dom.name, AWAKE_MS, async () => {
    if (!host.link.isOpen) return 'lost'
    return (await agentAnswers(host, dom)) ? 'awake' : undefined
  })
  if (answer !== 'awake') return
  await setTime(host, dom)
  // As libvirt does: missed ticks must not be injected in addition.
  await askMonitor(host, dom, 'rtc-reset-reinjection')
}

/** The call may wait for others of this agent, which makes the clock late by as long: it is set again until it is right. */
async function setTime(host: Host, dom: libvirt.Domain): Promise<void> {
  for (let left = CLOCK_TRIES; left > 0; left -= 1) {
    // In nanoseconds; a JSON number is precise to less than a microsecond here.
    const time = host.clock.now().getTime() * 1_000_000
    const guestTime = await orLater(async () => {
      await host.agents.ask(dom, 'guest-set-time', { time })
      return host.agents.ask(dom, 'guest-get-time')
    })
    const lateMs = host.clock.now().getTime() - Number(guestTime ?? 0) / 1_000_000
    if (lateMs < CLOCK_LATE_MS) return
  }
  throw new Fault('timed-out', `the clock of ${dom.name} is late: its agent is slow`)
}

/** Undefined if the agent may only have been slow. */
async function orLater(ask: () => Promise<unknown>): Promise<unknown> {
  const began = performance.now()
  try {
    return await ask()
  } catch (error) {
    if (!mayAnswerLater(error, began)) throw error
    return undefined
  }
}

/**
 * Asks the guest to shut down or reboot by itself. A guest that obeys does not answer: its agent
 * disappears, and libvirt reports that at once. A guest that stays and is silent did not obey.
 */
export async function askToGo(
  host: Host,
  dom: libvirt.Domain,
  mode: 'powerdown' | 'reboot',
): Promise<void> {
  await host.agents.ask(dom, 'guest-ping')
  const began = performance.now()
  try {
    await host.agents.ask(dom, 'guest-shutdown', { mode })
  } catch (error) {
    if (!(error instanceof AgentAway) || mayAnswerLater(error, began)) throw error
  }
}

/**
 * The IPv4 addresses that the guest claims, those on the card with this MAC first: it may have
 * networks of its own inside. Undefined if its agent does not answer. The result is not trustworthy.
 */
export async function claimedAddresses(
  host: Host,
  dom: libvirt.Domain,
  mac: string,
): Promise<string[] | undefined> {
  try {
    return readClaims(await host.agents.ask(dom, 'guest-network-get-interfaces'), mac)
  } catch (error) {
    if (error instanceof Fault) return undefined
    throw error
  }
}

export function readClaims(reported: unknown, mac: string): string[] {
  const isOwn = (card: unknown) => fieldsOf(card)['hardware-address'] === mac
  return listOf(reported)
    .slice(0, CARDS_MAX)
    .sort((a, b) => Number(isOwn(b)) - Number(isOwn(a)))
    .flatMap((card) => listOf(fieldsOf(card)['ip-addresses']).slice(0, CLAIMS_MAX))
    .map((each) => fieldsOf(each)['ip-address'])
    .filter((address) => typeof address === 'string')
    .filter((address) => isIPv4(address))
    .slice(0, CLAIMS_MAX)
}

const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? [...value] : [])

export async function execInDomain(
  host: Host,
  dom: libvirt.Domain,
  { path, args = [], input, timeoutMs = EXEC_TIMEOUT_MS }: GuestCommand,
): Promise<CommandOutcome> {
  const pid = await startProgram(host, dom, { path, args, ...(input !== undefined && { input }) })
  const deadline = performance.now() + timeoutMs
  // The agent reports a program's exit only when polled.
  for (let pause = 5; ; pause = Math.min(pause * 2, 250)) {
    // An agent that is slow now is asked again: the program goes on, and its result can still be read.
    const ask = () => host.agents.ask(dom, 'guest-exec-status', { pid })
    const status = fieldsOf(await orLater(ask))
    if (status['exited'] === true) {
      return {
        exitCode: wholeOf(status['exitcode']) ?? 128 + (wholeOf(status['signal']) ?? 0),
        stdout: decoded(status['out-data']),
        stderr: decoded(status['err-data']),
      }
    }
    if (performance.now() > deadline) {
      throw new Fault('timed-out', `${path} did not exit in the guest within ${timeoutMs / 1000} s`)
    }
    await new Promise((resolve) => setTimeout(resolve, pause))
  }
}

async function startProgram(
  host: Host,
  dom: libvirt.Domain,
  { path, args, input }: GuestCommand,
): Promise<number> {
  try {
    const started = await host.agents.ask(dom, 'guest-exec', {
      path,
      arg: args,
      'capture-output': true,
      ...(input !== undefined && { 'input-data': Buffer.from(input).toString('base64') }),
    })
    const pid = wholeOf(fieldsOf(started)['pid'])
    if (pid !== undefined) return pid
    throw new Fault('unavailable', 'the guest agent returned no process id')
  } catch (error) {
    // libvirt reports the agent's own errors with this code.
    if (!saysLibvirt(error, libvirt.ErrorCode.internalError)) throw error
    throw new Fault('invalid', `${path} cannot be started in the guest`, {
      cause: error,
      hint: 'give the full path of an existing program, or /bin/sh with args',
    })
  }
}

const wholeOf = (value: unknown): number | undefined =>
  Number.isSafeInteger(value) ? (value as number) : undefined

const decoded = (data: unknown): string =>
  typeof data === 'string' ? Buffer.from(data, 'base64').toString('utf8') : ''
