import { Fault } from '@skerry/fault'
import * as libvirt from '@skerry/libvirt'

import { AGENT_MS, AgentAway, AgentLines } from './agent-lines.ts'
import { LibvirtLink } from './link.ts'
import { saysLibvirt } from './to-fault.ts'

/** libvirt's limit for one agent answer, and for the handshake before it. */
export const ANSWER_SECONDS = AGENT_MS / 1000
/** libvirt ends each call after a handshake and an answer; this bound frees the line if the daemon itself hangs. */
const CALL_MS = 3 * AGENT_MS

/**
 * Access to the guest agents of a host. It has its own connection to libvirt, because libvirtd
 * reads only a few requests at once from one connection and a guest can make each of them wait.
 */
export class Agents implements AsyncDisposable {
  readonly #link: LibvirtLink
  readonly #lines = new AgentLines()

  constructor(where: { readonly socket: string; readonly uri: string }) {
    this.#link = new LibvirtLink(where)
  }

  /** The agent's return value, which is under the guest's control. Waits at most 5 s in total. */
  ask(
    dom: libvirt.Domain,
    execute: string,
    args?: Readonly<Record<string, unknown>>,
  ): Promise<unknown> {
    return this.#lines.run(dom.name, async () => {
      const cmd = JSON.stringify({ execute, ...(args && { arguments: args }) })
      const requested = { dom, cmd, timeout: ANSWER_SECONDS, flags: 0 }
      const options = { timeoutMs: CALL_MS }
      try {
        const { result } = await this.#link.call(libvirt.qemuDomainAgentCommand, requested, options)
        return returnValue(result ?? '{}')
      } catch (error) {
        if (!saysLibvirt(error, libvirt.ErrorCode.agentUnresponsive)) throw error
        throw new AgentAway(error)
      }
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#link[Symbol.asyncDispose]()
  }
}

/** libvirt has already parsed it as JSON; its content is the guest's choice. */
function returnValue(result: string): unknown {
  try {
    const answer: unknown = JSON.parse(result)
    return fieldsOf(answer)['return']
  } catch (cause) {
    throw new Fault('unavailable', 'the guest agent answered with invalid JSON', { cause })
  }
}

/** The fields of an object that a guest sent; empty if it sent anything else. */
export const fieldsOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
