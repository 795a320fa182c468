// The CLI in the process of the test: its output is captured, and its clock advances when it waits.
import assert from 'node:assert/strict'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

import { findCommand, whyNotOf } from '@skerry/command-line'

import { commands } from '../src/commands.ts'
import { outputs } from '../src/help/outputs.ts'
import { noProfiles, type Profiles, type ProfileStore } from '../src/profiles/profiles.ts'
import { runCommand, type LocalMachine } from '../src/run-command.ts'

export interface Ran {
  readonly code: number
  readonly out: string
  readonly err: string
  /** Programs that were started, with their arguments. */
  readonly programs: readonly (readonly string[])[]
  /** What was drawn on the terminal. */
  readonly drawn: string
}

/** Runs `skerry` with these arguments against a vmd. */
export async function skerry(
  url: string,
  words: readonly string[],
  more: Partial<LocalMachine> & { readonly terminal?: boolean } = {},
): Promise<Ran> {
  const kept = { out: '', err: '', drawn: '' }
  const programs: string[][] = []
  let clock = 0
  const code = await runCommand(
    {
      url,
      token: undefined,
      profile: undefined,
      profiles: keptProfiles(),
      machineName: 'my-laptop',
      readSecret: async () => '',
      print: (text) => void (kept.out += `${text}\n`),
      write: (text) => void (kept.out += text),
      complain: (text) => void (kept.err += `${text}\n`),
      screen: more.terminal
        ? { columns: 80, write: (text) => void (kept.drawn += text) }
        : undefined,
      colours: false,
      now: () => clock,
      wait: async (ms) => {
        clock += ms
        await new Promise((resolve) => setImmediate(resolve))
      },
      onInterrupt: () => () => undefined,
      runProgram: async (command, args) => {
        programs.push([command, ...args])
        return 7
      },
      runQuietly: async (command) => Promise.reject(new Error(`${command} was run`)),
      listens: async () => true,
      browser: undefined,
      workflows: { server: undefined, user: undefined, password: undefined, ca: undefined },
      readInput: async () => '',
      uid: 1000,
      today: () => new Date('2026-11-15'),
      path: '',
      cache: '/nowhere',
      secret: () => 'secret',
      confirm: async () => false,
      interrupted: async () => undefined,
      ...more,
    },
    commands,
    words,
  )
  if (code === 0) holdToShape(words, kept.out)
  return { code, programs, ...kept }
}

/** Checks all JSON output of a test against its schema. */
function holdToShape(words: readonly string[], out: string): void {
  const requested = words.slice(0, words.includes('--') ? words.indexOf('--') : undefined)
  if (!requested.includes('--json') || requested.includes('--help')) return
  const { name } = findCommand(commands, words)[0]
  const shape = outputs[name]
  if (!shape) return
  // Events are printed one per line.
  const answers = name === 'event follow' ? out.trim().split('\n') : [out]
  for (const each of answers) {
    assert.equal(whyNotOf(shape, JSON.parse(each), `the answer of skerry ${name}`), undefined, each)
  }
}

/** Profiles in memory. */
export function keptProfiles(profiles: Profiles = noProfiles): ProfileStore {
  let kept = profiles
  return {
    file: '/home/me/.config/skerry/profiles.json',
    read: async () => kept,
    write: async (next) => void (kept = next),
  }
}

export interface Daemon extends AsyncDisposable {
  readonly url: string
  /** `METHOD /path body`, in the order they came. */
  readonly requested: readonly string[]
  readonly headers: readonly IncomingMessage['headers'][]
}

export type Script = (requested: string, reply: ServerResponse) => void

/** A server that returns what a real vmd returns only in trouble: timeouts, rejections, unfinished operations. */
export async function startDaemon(script: Script): Promise<Daemon> {
  const requested: string[] = []
  const headers: IncomingMessage['headers'][] = []
  const server = createServer((request, reply) => {
    let body = ''
    request.on('data', (chunk: Buffer) => (body += chunk.toString()))
    request.on('end', () => {
      const line = `${request.method} ${request.url} ${body}`.trim()
      requested.push(line)
      headers.push(request.headers)
      script(line, reply)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    requested,
    headers,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

export function answer(reply: ServerResponse, status: number, body?: unknown, headers = {}): void {
  reply.writeHead(status, { 'content-type': 'application/json; charset=utf-8', ...headers })
  reply.end(body === undefined ? undefined : JSON.stringify(body))
}
