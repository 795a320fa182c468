// Administrator commands on the machine of a cell: the product's own commands, in the network of its servers.
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

import { inNetworkNamed } from '../network/netns.ts'

const PROGRAM = join(import.meta.dirname, 'administer-main.ts')

export interface Administer {
  /** Executes a command of `skerry admin` for a cell and returns its JSON output. */
  (words: readonly string[], input?: string): Promise<unknown>
}

export interface AdministerRequest {
  readonly id: number
  readonly words: readonly string[]
  /** Standard input of the command. */
  readonly input: string
}

export interface AdministerAnswer {
  readonly id: number
  readonly printed?: string
  /** Why the command failed. */
  readonly refused?: string
}

type Send = (words: readonly string[], input: string) => Promise<AdministerAnswer>

/** Commands for a cell. Their process starts with the first command and ends with this program. */
export function administering(netns: string, config: string): Administer {
  let send: Send | undefined
  return async (words, input = '') => {
    send ??= startProcess(netns, () => (send = undefined))
    const { printed = '', refused } = await send([...words, '--config', config, '--json'], input)
    if (refused !== undefined) throw new Error(`skerry admin ${words.join(' ')}: ${refused}`)
    return printed.trim() === '' ? undefined : JSON.parse(printed)
  }
}

function startProcess(netns: string, onEnd: () => void): Send {
  const [program = '', ...args] = inNetworkNamed(netns, [process.execPath, PROGRAM])
  const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'inherit'] })
  const { stdin, stdout } = child
  const waiting = new Map<number, PromiseWithResolvers<AdministerAnswer>>()
  let last = 0
  /** The waiting process does not keep this program alive, except while a command runs. */
  const holdOpen = () => {
    const hold = waiting.size > 0 ? ('ref' as const) : ('unref' as const)
    for (const each of [child, stdin, stdout]) (each as NodeJS.ReadStream)[hold]()
  }
  createInterface({ input: stdout }).on('line', (line) => {
    const answer = JSON.parse(line) as AdministerAnswer
    waiting.get(answer.id)?.resolve(answer)
    waiting.delete(answer.id)
    holdOpen()
  })
  const end = (why: string) => {
    onEnd()
    for (const each of waiting.values()) each.reject(new Error(why))
    waiting.clear()
  }
  child.on('error', (error) => end(`cannot start skerry admin: ${error.message}`))
  child.on('exit', (code, signal) => end(`skerry admin ended with ${code ?? signal}`))
  stdin.on('error', () => undefined)
  return async (words, input) => {
    last += 1
    const answer = Promise.withResolvers<AdministerAnswer>()
    waiting.set(last, answer)
    holdOpen()
    const request: AdministerRequest = { id: last, words, input }
    stdin.write(`${JSON.stringify(request)}\n`)
    return answer.promise
  }
}
